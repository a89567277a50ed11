"""The functions of users that are registered in this program, by name; networks can only name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from australis.algebra.guards import guard
from australis.algebra.order import names
from australis.algebra.spans import microseconds
from australis.algebra.types import DataType, parse_type
from australis.algebra.user_functions.aggregates import ArrowAggregate, UserAggregate
from australis.algebra.user_functions.rows import PerValue, RowFunction
from australis.errors import AlgebraError, Problem

UserFunction = RowFunction | UserAggregate | ArrowAggregate
Found = TypeVar("Found", bound=UserFunction)
_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


_row_functions: dict[str, RowFunction] = {}
_aggregates: dict[str, UserAggregate | ArrowAggregate] = {}


def register_function(
    name: str,
    call: Callable[..., pa.Array],
    *,
    takes: tuple[str, ...],
    returns: str,
    limit: str | None = None,
) -> RowFunction:
    """Make a Python function over Arrow arrays callable from expressions as `` `module:function`(a, b) ``.

    With a `limit` such as "2 s", a call that takes longer in a worker of a node is interrupted, and fails.
    """
    _check_calls(call=call)
    function = RowFunction(_checked(name), call, _types(takes), parse_type(returns), _limit_us(limit))
    _row_functions[name] = function
    return function


def register_scalar(
    name: str,
    call: Callable[..., Any],
    *,
    takes: tuple[str, ...],
    returns: str,
    sees_nulls: bool = False,
    limit: str | None = None,
) -> RowFunction:
    """Make a function of Python values callable from expressions; it is called once for each tuple.

    A NULL among its arguments gives NULL without a call, unless it `sees_nulls` as None.

    >>> initials = register_scalar("doc:initials", lambda name: name[:2], takes=("string",), returns="string")
    >>> initials.apply([pa.array(["Ada", None])], 2).to_pylist()
    ['Ad', None]
    """
    _check_calls(call=call)
    guard(sees_nulls, bool, "sees_nulls", "True or False")
    if not takes:
        raise AlgebraError(Problem("takes", "is empty", "at least one argument"))
    made = PerValue(_checked(name), call, parse_type(returns), sees_nulls)
    return register_function(name, made, takes=takes, returns=returns, limit=limit)


def register_aggregate(
    name: str,
    *,
    init: Callable[[], Any],
    incr: Callable[..., Any],
    final: Callable[[Any], Any],
    takes: tuple[str, ...],
    returns: str,
    combine: Callable[[Any, Any], Any] | None = None,
    state: pa.DataType | None = None,
) -> UserAggregate:
    """Make an `Agg(init, incr, final)` callable from Aggregate, Tumble and Resample boxes.

    Its states are JSON values, or values of an Arrow type `state`.
    """
    _check_calls(init=init, incr=incr, final=final, **({} if combine is None else {"combine": combine}))
    if state is not None:
        guard(state, pa.DataType, "state", "a pyarrow.DataType")
    aggregate = UserAggregate(
        _checked(name), init, incr, final, _types(takes), parse_type(returns), combine, state
    )
    _aggregates[name] = aggregate
    return aggregate


def register_arrow_aggregate(
    name: str,
    *,
    state: Mapping[str, pa.DataType],
    init: Mapping[str, Any],
    update: Callable[..., Mapping[str, Any]],
    finish: Callable[[pa.RecordBatch], pa.Array],
    takes: tuple[str, ...],
    returns: str,
    combine: Callable[[pa.RecordBatch, pa.RecordBatch], Mapping[str, Any]] | None = None,
) -> ArrowAggregate:
    """Make a window function over Arrow arrays callable from Aggregate, Tumble and Resample boxes.

    `state` has the types of the state's fields, `init` their values in a window without tuples (NULL if not
    named).
    """
    _check_calls(update=update, finish=finish, **({} if combine is None else {"combine": combine}))
    aggregate = ArrowAggregate(
        _checked(name),
        _state_schema(state),
        _initial(init, state),
        update,
        finish,
        _types(takes),
        parse_type(returns),
        combine,
    )
    _aggregates[name] = aggregate
    return aggregate


def _state_schema(state: Mapping[str, pa.DataType]) -> pa.Schema:
    expected = "a mapping from names to pyarrow types, with at least one"
    guard(state, Mapping, "state", expected)
    for field, kind in state.items():
        guard(field, str, "state", "texts as names")
        guard(kind, pa.DataType, f"state.{field}", "a pyarrow.DataType")
    if not state:
        raise AlgebraError(Problem("state", "is empty", expected))
    return pa.schema(list(state.items()))


def _initial(init: Mapping[str, Any], state: Mapping[str, pa.DataType]) -> dict[str, Any]:
    guard(init, Mapping, "init", "a mapping from fields of the state to their first values")
    for field, value in init.items():
        if field not in state:
            raise AlgebraError(Problem(f"init.{field}", "is no field of the state", ", ".join(state)))
        try:
            pa.array([value], state[field])
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise AlgebraError(Problem(f"init.{field}", str(error), f"a {state[field]}")) from error
    return dict(init)


def row_function(name: str) -> RowFunction:
    """The row function registered under a name."""
    return _found(_row_functions, name, "function")


def user_aggregate(name: str) -> UserAggregate | ArrowAggregate:
    """The aggregate registered under a name."""
    return _found(_aggregates, name, "aggregate")


def registered() -> tuple[UserFunction, ...]:
    """All functions and aggregates that are registered, to be sent to another process."""
    return (*_row_functions.values(), *_aggregates.values())


def register_all(functions: Iterable[UserFunction]) -> None:
    """Register what `registered` returned in another process."""
    for each in functions:
        if isinstance(each, RowFunction):
            _row_functions[each.name] = each
        else:
            _aggregates[each.name] = each


def _types(takes: tuple[str, ...]) -> tuple[DataType, ...]:
    return tuple(map(parse_type, names(takes, "takes")))


def _check_calls(**calls: object) -> None:
    for path, call in calls.items():
        guard(call, Callable, path, "a function")  # type: ignore[arg-type]


def _limit_us(limit: str | None) -> int | None:
    if limit is None:
        return None
    try:
        return microseconds(limit)
    except AlgebraError as error:
        raise error.under("limit") from None


def _checked(name: str) -> str:
    guard(name, str, "name", "'module:function'")
    if not _NAME.fullmatch(name):
        raise AlgebraError(Problem("", f"{name!r} is not a valid function name", "'module:function'"))
    return name


def _found(registry: Mapping[str, Found], name: str, kind: str) -> Found:
    if name not in registry:
        known = ", ".join(sorted(registry)) or "none"
        hint = "register it in the program that runs the network, or give its file to --functions"
        what = f"no {kind} {name!r} is registered"
        raise AlgebraError(Problem("", what, f"a registered one ({known}); {hint}"))
    return registry[name]
