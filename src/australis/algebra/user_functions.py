"""User-defined Python functions, registered by name in the running program; networks can only name them.

A network names a function as `module:function`; the program that runs the network must have registered it. A
row function gets Arrow arrays and returns one; an aggregate is the paper's `Agg(init, incr, final)` (Aurora,
footnote 6) with an optional `combine`, without which its box cannot be split.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from australis.algebra.guards import guard
from australis.algebra.order import names
from australis.algebra.spans import microseconds
from australis.algebra.types import DataType, parse_type
from australis.errors import AlgebraError, KernelError, Problem

Found = TypeVar("Found", bound="RowFunction | UserAggregate")
_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class CallOverran(BaseException):
    """A call of a function took longer than it may, and was interrupted.

    No `Exception`, so that a function that handles its own errors does not take it for one of them.
    """


TimeLimit = Callable[[int], AbstractContextManager[None]]
"""Interrupts what runs inside after some microseconds: raises `CallOverran` in the midst of it."""


def _no_limit(limit_us: int) -> AbstractContextManager[None]:
    """Interrupt nothing: there is no clock here, unless somebody brings one."""
    del limit_us
    return nullcontext()


_time_limit: list[TimeLimit] = [_no_limit]
_FAILURES = (Exception, SystemExit)
"""What a function may raise when it fails; `sys.exit()` in it would end a worker, or the whole run."""


def limit_calls(time_limit: TimeLimit) -> None:
    """Let calls of functions that have a limit be interrupted by it, in this process from now on."""
    _time_limit[0] = time_limit


@dataclass(frozen=True)
class RowFunction:
    """A function of some attributes of a tuple, over Arrow arrays of equal length."""

    name: str
    call: Callable[..., pa.Array]
    takes: tuple[DataType, ...]
    returns: DataType
    limit_us: int | None = None
    """How long a call may take."""

    def apply(self, arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        """The function's result for some rows; an error names a function that breaks its contract."""
        try:
            with _limited(self.limit_us):
                result = self.call(*arrays)
        except CallOverran as error:
            assert self.limit_us is not None, "a call without a limit is not interrupted"
            raise KernelError(
                Problem("", f"`{self.name}` took longer than {self.limit_us / 1e6:g} s")
            ) from error
        except _FAILURES as error:
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
        try:
            result.validate(full=True)
        except pa.ArrowInvalid as error:
            raise _broken(self.name, f"returned a damaged array: {error}", "values of its type") from error


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
        except _FAILURES as error:
            raise _failed(self.name, error) from error

    def add(self, state: Any, values: Iterable[Any]) -> Any:
        """The state after one more tuple."""
        try:
            return self.incr(state, *values)
        except _FAILURES as error:
            raise _failed(self.name, error) from error

    def results(self, states: Iterable[Any]) -> pa.Array:
        """The results of windows with these states."""
        try:
            found = [self.final(state) for state in states]
        except _FAILURES as error:
            raise _failed(self.name, error) from error
        try:
            return pa.array(found, self.returns.arrow)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            expected = f"a {self.returns} or None from every final()"
            raise _broken(self.name, f"returned a bad result: {error}", expected) from error


_row_functions: dict[str, RowFunction] = {}
_aggregates: dict[str, UserAggregate] = {}


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


def _limit_us(limit: str | None) -> int | None:
    if limit is None:
        return None
    try:
        return microseconds(limit)
    except AlgebraError as error:
        raise error.under("limit") from None


def _limited(limit_us: int | None) -> AbstractContextManager[None]:
    return nullcontext() if limit_us is None else _time_limit[0](limit_us)


def _failed(name: str, error: BaseException) -> Exception:
    """The error of a function that raised; that there is no memory left is no fault of its tuples."""
    if isinstance(error, MemoryError):
        return MemoryError(f"`{name}`: {error}")
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
