"""Registered aggregates, `Agg(init, incr, final)` of Aurora, footnote 6: the only Python run per tuple."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from australis.algebra.expr import Value, WindowCall
from australis.algebra.user_functions import user_aggregate
from australis.errors import KernelError, Problem
from australis.kernels.arrays import Indexes
from australis.kernels.functions.accumulator import Accumulator


class UserAccumulator(Accumulator):
    """The states of a registered aggregate; the state of the kernel stores them as JSON texts."""

    states: list[Any]

    def __init__(self, call: WindowCall, args: Sequence[pa.Array]) -> None:
        super().__init__(call, args)
        self._aggregate = user_aggregate(call.function)
        self._columns = [plain(array) for array in args]

    @staticmethod
    def stored_types(call: WindowCall) -> tuple[pa.DataType, ...]:
        return (pa.string(),)

    def load(self, stored: Sequence[pa.Array]) -> None:
        self.states = [json.loads(text) for text in stored[0].to_pylist()]

    def add(self, slots: Indexes, rows: Indexes, count: int) -> None:
        self.states += [self._aggregate.begin() for _ in range(count - len(self.states))]
        for slot, row in zip(slots.tolist(), rows.tolist(), strict=True):
            values = [column[row] for column in self._columns]
            self.states[slot] = self._aggregate.add(self.states[slot], values)

    def finish(self, slots: Indexes) -> pa.Array:
        return self._aggregate.results(self.states[slot] for slot in slots.tolist())

    def keep(self, slots: Indexes) -> None:
        self.states = [self.states[slot] for slot in slots.tolist()]

    def stored(self) -> list[pa.Array]:
        try:
            return [pa.array([_as_json(state) for state in self.states], pa.string())]
        except (TypeError, ValueError) as error:
            expected = "a state of JSON values, which can be stored and moved"
            raise KernelError(
                Problem("", f"`{self.call.function}` made a bad state: {error}", expected)
            ) from error


def _as_json(state: Any) -> str:
    """A state as JSON; raises TypeError for keys that would come back as other ones.

    >>> _as_json({"seen": [1, 2]})
    '{"seen": [1, 2]}'
    >>> _as_json({1: 0})
    Traceback (most recent call last):
    TypeError: the key 1 of a dictionary is not a text
    """
    _check_keys(state)
    return json.dumps(state)


def _check_keys(value: Any) -> None:
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} of a dictionary is not a text")
            _check_keys(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_keys(each)


def plain(array: pa.Array) -> list[Value]:
    """The values of an array in plain Python: timestamps are microseconds, decimals are `Decimal`s."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.view(pa.int64())
    values: list[Value] = array.to_pylist()
    return values
