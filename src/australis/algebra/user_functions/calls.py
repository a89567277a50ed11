"""How functions of users are called: limits of time, failures that name the function, results that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pyarrow as pa

from australis.algebra.guards import shown
from australis.algebra.types import DataType
from australis.errors import EngineError, KernelError, Problem


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
FAILURES = (Exception, SystemExit)
"""What a function may raise when it fails; `sys.exit()` in it would end a worker, or the whole run."""


def limit_calls(time_limit: TimeLimit) -> None:
    """Let calls of functions that have a limit be interrupted by it, in this process from now on."""
    _time_limit[0] = time_limit


def limited(limit_us: int | None) -> AbstractContextManager[None]:
    """Interrupts what runs inside after some microseconds, if there is a limit."""
    return nullcontext() if limit_us is None else _time_limit[0](limit_us)


class ValueFailed(Exception):
    """A function of Python values raised an error for some arguments; its text is the error and these."""

    def __init__(self, error: BaseException, values: Sequence[Any]) -> None:
        super().__init__(f"{type(error).__name__}: {error}{given(values)}")


def failed(name: str, error: BaseException, values: Sequence[Any] | None = None) -> Exception:
    """The error of a function that raised one, with the arguments of the row if they are known.

    Missing memory and missing modules are no fault of the tuples.
    """
    if isinstance(error, MemoryError):
        return MemoryError(f"`{name}`: {error}")
    if isinstance(error, ImportError):
        what = f"`{name}` failed: {type(error).__name__}: {error}"
        expected = (
            "a module that workers can import: install it for them, or put its code beside the function"
        )
        return EngineError(Problem("", what, expected))
    text = str(error) if isinstance(error, ValueFailed) else f"{type(error).__name__}: {error}"
    return KernelError(Problem("", f"`{name}` failed: {text}{'' if values is None else given(values)}"))


def given(values: Sequence[Any]) -> str:
    """The arguments of a call as a message ends with them.

    >>> given([3, None, "x"])
    ", given (3, NULL, 'x')"
    """
    return f", given ({', '.join('NULL' if value is None else shown(value) for value in values)})"


def first_row(arrays: Sequence[pa.Array], rows: int) -> list[Any] | None:
    """The arguments of the only row of a call; None if there are more."""
    return [plain(array)[0] for array in arrays] if rows == 1 else None


def broken(name: str, what: str, expected: str) -> KernelError:
    """The error of a function that does not keep to what it was registered as."""
    return KernelError(Problem("", f"`{name}` {what}", expected))


def checked_array(name: str, result: object, kind: pa.DataType, rows: int, part: str = "") -> pa.Array:
    """What a function returned, if it is an array of a type with as many values as there are rows."""
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    if not isinstance(result, pa.Array):
        raise broken(name, f"returned {type(result).__name__}{part}", "a pyarrow.Array")
    if result.type != kind:
        raise broken(name, f"returned values of {result.type}{part}", str(kind))
    if len(result) != rows:
        raise broken(name, f"returned {len(result)} values for {rows} rows{part}", "as many as rows")
    try:
        result.validate(full=True)
    except pa.ArrowInvalid as error:
        raise broken(name, f"returned a damaged array{part}: {error}", "values of its type") from error
    return result


def array_of(name: str, values: list[Any], returns: DataType, expected: str) -> pa.Array:
    """Python values that a function returned, as an array of its type."""
    try:
        return pa.array(values, returns.arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise broken(name, f"returned a bad result: {error}", expected) from error


def plain(array: pa.Array) -> list[Any]:
    """The values of an array in plain Python: timestamps are microseconds, decimals are `Decimal`s."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.view(pa.int64())
    values: list[Any] = array.to_pylist()
    return values
