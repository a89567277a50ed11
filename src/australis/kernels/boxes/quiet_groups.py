"""Groups that are forgotten when no tuple of theirs has come for some local time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Numbered,
    column,
    encode,
    first_times,
    grown,
    numbers,
    without_keys,
)
from australis.kernels.kernel import Due, State

LAST_ARRIVED = "#last_arrived"


@dataclass(frozen=True)
class QuietGroups:
    """The table `groups` of a state and those that follow it; without `forget_us`, none is ever forgotten."""

    forget_us: int | None
    names: tuple[str, ...]
    followers: Mapping[str, str]

    @property
    def fields(self) -> list[pa.Field]:
        """The columns that the table of the groups has in addition."""
        return [] if self.forget_us is None else [pa.field(LAST_ARRIVED, pa.int64())]

    def columns(self, groups: pa.Table, found: GroupCodes, times: Indexes) -> list[pa.Array]:
        """These columns after the tuples of some groups have arrived at ascending local times."""
        if self.forget_us is None:
            return []
        arrived = np.array(grown(numbers(column(groups, LAST_ARRIVED)), found.count))
        arrived[found.codes] = times
        return [pa.array(arrived)]

    def without(self, state: State, batch: pa.Table, times: Indexes) -> State:
        """A state without the groups that are forgotten before the tuples of a batch come."""
        if self.forget_us is None:
            return state
        groups, began = state["groups"], times[:1]
        if times[-1] > times[0]:
            codes = encode(groups.select(list(self.names)), groups.num_rows, batch).codes
            began = np.maximum(first_times(codes, times, groups.num_rows), began)
        gone = numbers(column(groups, LAST_ARRIVED)) < began - self.forget_us
        return without_keys(state, Numbered("groups", self.names, self.names, self.followers), gone)

    def due(self, state: State) -> Due | None:
        """When each group is forgotten."""
        if self.forget_us is None:
            return None
        times = numbers(column(state["groups"], LAST_ARRIVED)) + self.forget_us + 1
        return Due(np.full(len(times), np.inf), times, np.ones(len(times), np.bool_))
