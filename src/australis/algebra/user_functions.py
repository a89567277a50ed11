"""User-defined Python functions, registered by name in the running program; networks can only name them.

A network names a function as `module:function`; the program that runs the network must have registered it. A
row function gets Arrow arrays and returns one; an aggregate is the paper's `Agg(init, incr, final)` (Aurora,
footnote 6) with an optional `combine`, without which its box cannot be split.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from australis.algebra.guards import guard
from australis.algebra.order import names
from australis.algebra.types import DataType, parse_type
from australis.errors import AlgebraError, KernelError, Problem

Found = TypeVar("Found", bound="RowFunction | UserAggregate")
_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class RowFunction:
    """A function of some attributes of a tuple, over Arrow arrays of equal length."""

    name: str
    call: Callable[..., pa.Array]
    takes: tuple[DataType, ...]
    returns: DataType

    def apply(self, arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        """The function's result for some rows; an error names a function that breaks its contract."""
        try:
            result = self.call(*arrays)
        except Exception as error:
            raise _failed(self.name, error) from error
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        self._check(result, rows)
        return result

    def _check(self, result: object, rows: int) -> None:
        if not isinstance(result, pa.Array):
            raise _broken(self.name, f"returned {type(result).__name__}", "a pyarrow.Array")
        if result.type != self.returns.arrow:
            raise _broken(self.name, f"returned values of {result.type}", str(self.returns.arrow))
        if len(result) != rows:
            raise _broken(self.name, f"returned {len(result)} values for {rows} rows", "as many as rows")


@dataclass(frozen=True)
class UserAggregate:
    """A window function `Agg(init, incr, final)` with a state of JSON values, which can be stored and moved.

    `init()` makes a state when a window opens, `incr(state, *values)` returns the state after one more tuple,
    `final(state)` the result, and `combine(state, state)` the state of two parts of one window.
    """

    name: str
    init: Callable[[], Any]
    incr: Callable[..., Any]
    final: Callable[[Any], Any]
    takes: tuple[DataType, ...]
    returns: DataType
    combine: Callable[[Any, Any], Any] | None = None

    def begin(self) -> Any:
        """The state of a new window; like the next two, it names an aggregate that raises."""
        try:
            return self.init()
        except Exception as error:
            raise _failed(self.name, error) from error

    def add(self, state: Any, values: Iterable[Any]) -> Any:
        """The state after one more tuple."""
        try:
            return self.incr(state, *values)
        except Exception as error:
            raise _failed(self.name, error) from error

    def results(self, states: Iterable[Any]) -> pa.Array:
        """The results of windows with these states."""
        try:
            found = [self.final(state) for state in states]
        except Exception as error:
            raise _failed(self.name, error) from error
        try:
            return pa.array(found, self.returns.arrow)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            expected = f"a {self.returns} or None from every final()"
            raise _broken(self.name, f"returned a bad result: {error}", expected) from error


_row_functions: dict[str, RowFunction] = {}
_aggregates: dict[str, UserAggregate] = {}


def register_function(
    name: str, call: Callable[..., pa.Array], *, takes: tuple[str, ...], returns: str
) -> RowFunction:
    """Make a Python function over Arrow arrays callable from expressions as `` `module:function`(a, b) ``."""
    _check_calls(call=call)
    function = RowFunction(_checked(name), call, _types(takes), parse_type(returns))
    _row_functions[name] = function
    return function


def register_aggregate(
    name: str,
    *,
    init: Callable[[], Any],
    incr: Callable[..., Any],
    final: Callable[[Any], Any],
    takes: tuple[str, ...],
    returns: str,
    combine: Callable[[Any, Any], Any] | None = None,
) -> UserAggregate:
    """Make an `Agg(init, incr, final)` callable from Aggregate, Tumble and Resample boxes."""
    _check_calls(init=init, incr=incr, final=final, **({} if combine is None else {"combine": combine}))
    aggregate = UserAggregate(_checked(name), init, incr, final, _types(takes), parse_type(returns), combine)
    _aggregates[name] = aggregate
    return aggregate


def row_function(name: str) -> RowFunction:
    """The row function registered under a name."""
    return _found(_row_functions, name, "function")


def user_aggregate(name: str) -> UserAggregate:
    """The aggregate registered under a name."""
    return _found(_aggregates, name, "aggregate")


def registered() -> tuple[RowFunction | UserAggregate, ...]:
    """All functions and aggregates that are registered, to be sent to another process."""
    return (*_row_functions.values(), *_aggregates.values())


def register_all(functions: Iterable[RowFunction | UserAggregate]) -> None:
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


def _failed(name: str, error: Exception) -> KernelError:
    return KernelError(Problem("", f"`{name}` failed: {type(error).__name__}: {error}"))


def _broken(name: str, what: str, expected: str) -> KernelError:
    return KernelError(Problem("", f"`{name}` {what}", expected))


def _checked(name: str) -> str:
    guard(name, str, "name", "'module:function'")
    if not _NAME.fullmatch(name):
        raise AlgebraError(Problem("", f"{name!r} is not a valid function name", "'module:function'"))
    return name


def _found(registry: Mapping[str, Found], name: str, kind: str) -> Found:
    if name not in registry:
        known = ", ".join(sorted(registry)) or "none"
        raise AlgebraError(
            Problem(
                "",
                f"no {kind} {name!r} is registered",
                f"a registered one ({known}); register it in the program that runs the network",
            )
        )
    return registry[name]
