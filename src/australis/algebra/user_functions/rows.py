"""Functions of some attributes of a tuple: over Arrow arrays, or over Python values, one tuple at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from australis.algebra.types import DataType
from australis.algebra.user_functions.calls import (
    FAILURES,
    CallOverran,
    ValueFailed,
    array_of,
    broken,
    checked_array,
    failed,
    first_row,
    given,
    limited,
    plain,
)
from australis.errors import KernelError, Problem


@dataclass(frozen=True)
class RowFunction:
    """A function of some attributes of a tuple, over Arrow arrays of equal length."""

    name: str
    call: Callable[..., pa.Array]
    takes: tuple[DataType, ...]
    returns: DataType
    limit_us: int | None = None
    """How long a call may take."""

    @property
    def calls(self) -> Iterator[Callable[..., Any]]:
        """The user's own code."""
        yield self.call.call if isinstance(self.call, PerValue) else self.call

    def apply(self, arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        """The function's result for some rows; an error names a function that breaks its contract."""
        try:
            with limited(self.limit_us):
                result = self.call(*arrays)
        except CallOverran as error:
            assert self.limit_us is not None, "a call without a limit is not interrupted"
            raise KernelError(
                Problem("", f"`{self.name}` took longer than {self.limit_us / 1e6:g} s")
            ) from error
        except (KernelError, ValueFailed) as error:
            raise error if isinstance(error, KernelError) else failed(self.name, error) from error
        except FAILURES as error:
            raise failed(self.name, error, first_row(arrays, rows)) from error
        return checked_array(self.name, result, self.returns.arrow, rows)


@dataclass(frozen=True)
class PerValue:
    """A function of Python values as one over arrays: called once for each row, which is slow."""

    name: str
    call: Callable[..., Any]
    returns: DataType
    sees_nulls: bool

    def __call__(self, *arrays: pa.Array) -> pa.Array:
        rows = list(zip(*map(plain, arrays), strict=True))
        expected = f"a {self.returns} or None from every call"
        found = [self._value(row) for row in rows]
        try:
            return array_of(self.name, found, self.returns, expected)
        except KernelError:
            for row, value in zip(rows, found, strict=True):
                self._check(row, value, expected)
            raise

    def _value(self, row: tuple[Any, ...]) -> Any:
        if not self.sees_nulls and None in row:
            return None
        try:
            return self.call(*row)
        except (MemoryError, ImportError):
            raise
        except FAILURES as error:
            raise ValueFailed(error, row) from error

    def _check(self, row: tuple[Any, ...], value: Any, expected: str) -> None:
        """Refuse a value that is not of the type of results, and name the arguments that gave it."""
        try:
            array_of(self.name, [value], self.returns, expected)
        except KernelError as error:
            raise broken(
                self.name, f"returned a bad result: {error.__cause__}{given(row)}", expected
            ) from error
