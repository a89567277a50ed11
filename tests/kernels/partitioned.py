"""A box run in partitions by key, and the same box run whole: both must emit the same."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from tests.kernels.running import rows_of

from australis.algebra.boxes import Box
from australis.algebra.schema import Schema
from australis.kernels.arrays.columns import rows_of as taken
from australis.kernels.arrays.hashing import partitions
from australis.kernels.arrays.numbered_rows import PortKeys
from australis.kernels.kernel import CAUSE, REASON, Kernel, State, Step
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition
from australis.kernels.state import pack, unpack


class Partitions:
    """The partitions of a box, and all that they have emitted, rejected and dropped."""

    def __init__(self, box: Box, schemas: tuple[Schema, ...], keys: PortKeys, count: int) -> None:
        self.kernel: Kernel = kernel_for(box, schemas)
        self.states: tuple[State, ...] = (self.kernel.start(),) * count
        self.keys = keys
        self.emitted: list[tuple[Any, ...]] = []
        self.others: list[str] = []
        self.late = self.ignored = 0

    def push(self, port: int, batch: pa.Table, now: int) -> None:
        """Each partition takes its share of a batch, or all of it where there are no keys."""
        owners = partitions(batch, self.keys[port], len(self.states))
        steps = []
        for part, state in enumerate(self.states):
            share = taken(batch, np.flatnonzero(owners == part)) if self.keys[port] else batch
            steps.append(self.kernel.step(unpack(pack(state)), port, share, now))
        self._after(steps)

    def tick(self, now: int) -> None:
        self._after([self.kernel.tick(state, now) for state in self.states])

    def flush(self, now: int) -> None:
        self._after([self.kernel.flush(state, now) for state in self.states])

    def repartition(self, count: int) -> None:
        self.states = repartition(self.kernel, self.states, self.keys, count)
        for state in self.states:
            for table in state.values():
                table.validate(full=True)

    def deadline(self) -> int | None:
        """The earliest deadline of any partition."""
        due = [self.kernel.deadline(state) for state in self.states]
        return min((each for each in due if each is not None), default=None)

    def by_group(self, names: tuple[str, ...]) -> dict[tuple[str, ...], list[str]]:
        """What was emitted for each group, in sequence; both zeros are one group."""
        columns = [self.kernel.output_schemas[0].names.index(name) for name in names]
        found = defaultdict(list)
        for row in self.emitted:
            group = tuple(repr(row[at] + 0.0 if isinstance(row[at], float) else row[at]) for at in columns)
            found[group].append(repr(row))
        return dict(found)

    def _after(self, steps: list[Step]) -> None:
        self.states = tuple(step.state for step in steps)
        for step in steps:
            self.emitted += rows_of(step.outputs[0].drop_columns([CAUSE]))
            if step.rejected is not None:
                self.others += map(repr, step.rejected[REASON].to_pylist())
            self.late += step.late
            self.ignored += step.ignored
