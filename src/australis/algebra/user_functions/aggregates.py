"""Window functions of users: `Agg(init, incr, final)`, which runs per tuple, and one over Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.guards import shown
from australis.algebra.types import DataType
from australis.algebra.user_functions.calls import (
    FAILURES,
    ValueFailed,
    array_of,
    broken,
    checked_array,
    failed,
    first_row,
)

_MISFITS = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class UserAggregate:
    """A window function `Agg(init, incr, final)` over Python values, called for every tuple (footnote 6).

    `init()` makes a state when a window opens, `incr(state, *values)` returns the state after one more tuple,
    `final(state)` the result, and `combine(state, state)` the state of two parts of one window. States are
    stored and moved as JSON, or as values of the Arrow type `state`.
    """

    name: str
    init: Callable[[], Any]
    incr: Callable[..., Any]
    final: Callable[[Any], Any]
    takes: tuple[DataType, ...]
    returns: DataType
    combine: Callable[[Any, Any], Any] | None = None
    state: pa.DataType | None = None

    @property
    def calls(self) -> Iterator[Callable[..., Any]]:
        """The user's own code."""
        return (each for each in (self.init, self.incr, self.final, self.combine) if each is not None)

    def begin(self) -> Any:
        """The state of a new window; like the next ones, it names an aggregate that raises."""
        try:
            return self.init()
        except FAILURES as error:
            raise failed(self.name, error) from error

    def add(self, state: Any, values: Sequence[Any]) -> Any:
        """The state after one more tuple."""
        try:
            return self.incr(state, *values)
        except FAILURES as error:
            raise failed(self.name, error, values) from error

    def joined(self, state: Any, following: Any) -> Any:
        """The state of two parts of a window, of an aggregate that has `combine`."""
        assert self.combine is not None, "asked only then"
        try:
            return self.combine(state, following)
        except FAILURES as error:
            raise failed(self.name, error) from error

    def results(self, states: Iterable[Any]) -> pa.Array:
        """The results of windows with these states."""
        found = [self._result(state) for state in states]
        return array_of(self.name, found, self.returns, f"a {self.returns} or None from every final()")

    def _result(self, state: Any) -> Any:
        try:
            return self.final(state)
        except (MemoryError, ImportError) as error:
            raise failed(self.name, error) from error
        except FAILURES as error:
            raise failed(self.name, ValueFailed(error, (_State(state),))) from error


class _State:
    """A state, as a message shows it."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def __repr__(self) -> str:
        return f"the state {shown(self._state)}"


@dataclass(frozen=True)
class ArrowAggregate:
    """A window function over Arrow arrays, called for many windows and tuples at once.

    Its states are a batch with one row for each window. `update(states, windows, *values)` returns the
    columns of the states after some tuples, of which each belongs to a row of the states; `finish(states)`
    returns the results, and `combine(states, states)` the states of windows of two parts each. Dividing the
    tuples among several updates, or parts, must not change the states.
    """

    name: str
    state: pa.Schema
    init: Mapping[str, Any]
    """The state of a window without tuples, by field."""
    update: Callable[..., Mapping[str, Any]]
    finish: Callable[[pa.RecordBatch], pa.Array]
    takes: tuple[DataType, ...]
    returns: DataType
    combine: Callable[[pa.RecordBatch, pa.RecordBatch], Mapping[str, Any]] | None = None

    @property
    def calls(self) -> Iterator[Callable[..., Any]]:
        """The user's own code."""
        return (each for each in (self.update, self.finish, self.combine) if each is not None)

    @cached_property
    def _blank(self) -> pa.RecordBatch:
        arrays = [pa.array([self.init.get(field.name)], field.type) for field in self.state]
        return pa.RecordBatch.from_arrays(arrays, schema=self.state)

    def begin(self, count: int) -> pa.RecordBatch:
        """The states of windows without tuples."""
        return self._blank.take(pa.array(np.zeros(count, np.int64)))

    def add(self, states: pa.RecordBatch, windows: pa.Array, values: Sequence[pa.Array]) -> pa.RecordBatch:
        """The states after some tuples; `windows` says to which row of the states each tuple belongs."""
        try:
            found = self.update(states, windows, *values)
        except FAILURES as error:
            raise failed(self.name, error, first_row(values, len(windows))) from error
        return self._states(found, states.num_rows, "update()")

    def joined(self, states: pa.RecordBatch, following: pa.RecordBatch) -> pa.RecordBatch:
        """The states of windows of two parts each, of an aggregate that has `combine`."""
        assert self.combine is not None, "asked only then"
        try:
            found = self.combine(states, following)
        except FAILURES as error:
            raise failed(self.name, error) from error
        return self._states(found, states.num_rows, "combine()")

    def _states(self, found: Any, rows: int, call: str) -> pa.RecordBatch:
        """The states that a call returned."""
        arrays = [self._column(found, field, rows, call) for field in self.state]
        return pa.RecordBatch.from_arrays(arrays, schema=self.state)

    def _column(self, found: Any, field: pa.Field, rows: int, call: str) -> pa.Array:
        """A column of the states that a call returned."""
        expected = f"a mapping with {', '.join(self.state.names)} from every {call}"
        if not isinstance(found, Mapping | pa.RecordBatch):
            raise broken(self.name, f"returned {type(found).__name__}", expected)
        names = found.schema.names if isinstance(found, pa.RecordBatch) else list(found)
        if set(names) != set(self.state.names):
            raise broken(self.name, f"returned the fields {', '.join(map(str, names))}", expected)
        column, part = found[field.name], f" as the state {field.name!r}"
        if isinstance(column, np.ndarray):
            try:
                column = pa.array(column, field.type)
            except _MISFITS as error:
                raise broken(self.name, f"returned bad values{part}: {error}", str(field.type)) from error
        return checked_array(self.name, column, field.type, rows, part)

    def results(self, states: pa.RecordBatch) -> pa.Array:
        """The results of windows with these states."""
        try:
            found = self.finish(states)
        except FAILURES as error:
            given = states.to_pylist() if states.num_rows == 1 else None
            raise failed(self.name, error, given and [_State(given[0])]) from error
        return checked_array(self.name, found, self.returns.arrow, states.num_rows)
