"""Boxes of two streams that take batches of both ports at once, however their causes interleave."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Mask, Numbered, PortKeys
from australis.kernels.kernel import Kernel, LocalTimes, State, Step
from australis.kernels.marks import Marks
from australis.kernels.ordering import Side
from australis.kernels.pairing import KEYS, SIDES, Encounter, Encounters, Keys

FORGET_FROM = 0.1
"""The share of kept tuples that must be out of reach before they are dropped, if they are more than a few."""
FEW = 4096


class TwoStreamsKernel(Kernel):
    """A kernel whose results do not depend on where its steps are cut, on either port."""

    @abstractmethod
    def together(self, state: State, left: pa.Table, right: pa.Table) -> tuple[Step, Step]:
        """Take batches of both ports, interleaved by their causes; the outputs carry these causes.

        The steps are those of the left and of the right port; what is emitted belongs to the second one.
        """


class KeyedKernel(TwoStreamsKernel):
    """A kernel that keeps tuples of both sides by the key that its predicate equates."""

    _sides: tuple[Side, Side]
    _keys: Keys

    @property
    def separated_by(self) -> PortKeys:
        return self._keys.separating(self._sides)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        pairs = zip(self._sides, keys, strict=True)
        groups = (side.kept_by(names) for side, names in pairs if not side.order.by_progress)
        return (self._keys.kept_by(KEYS, keys, *SIDES), *groups)

    @property
    def _drops_keys_at_once(self) -> bool:
        """Whether unused keys may not wait to be dropped: by progress nothing would look for them later."""
        return bool(self.progress_on)


class EncounterKernel(KeyedKernel):
    """A kernel that makes its results of encounters, whether they are of one port, of both, or with marks."""

    _encounters: Encounters

    @abstractmethod
    def _results(self, meeting: Encounter) -> tuple[State, pa.Table]:
        """The state after an encounter, and what it makes the box emit."""

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        meeting = self._encounters.of_one(state, port, batch)
        after, result = self._results(meeting)
        came = meeting.arrived[port]
        return came.step(after, (result,))

    def together(self, state: State, left: pa.Table, right: pa.Table) -> tuple[Step, Step]:
        return self._steps(self._encounters.of_both(state, left, right))

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        left, right = self._steps(self._encounters.of_event(state, batches, marks))
        return ((0, left), (1, right))

    def awaits_marks(self, state: State) -> bool:
        """Whether a left tuple waits until the right side has passed it."""
        return bool(self.progress_on) and state[SIDES[0]].num_rows > 0

    def _steps(self, meeting: Encounter) -> tuple[Step, Step]:
        """The steps of both ports of an encounter."""
        after, result = self._results(meeting)
        left, right = meeting.arrived
        first = left.step(after, self.nothing())
        return first, right.step(after, (result,))


def pays(useful: Mask) -> bool:
    """Whether to drop what is useless; a small share can wait, since dropping copies the rest."""
    useless = len(useful) - np.count_nonzero(useful)
    return bool(useless > (len(useful) * FORGET_FROM if len(useful) > FEW else 0))
