"""How a box takes what an event has put on its ports: by cause, then by port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from australis.kernels.boxes import Stateless, TwoStreamsKernel
from australis.kernels.causes import caused, runs
from australis.kernels.kernel import CAUSE, Kernel, LocalTimes, State, Step, causes_of
from australis.kernels.marks import Marks


@dataclass(frozen=True)
class Taken:
    """A step of a box: how many tuples it took, and from which port. Its outputs name causes in the event."""

    step: Step
    port: int = 0
    received: int = 0


def take(
    kernel: Kernel,
    state: State,
    batches: Mapping[int, pa.Table],
    now: LocalTimes,
    marks: Mapping[int, Marks] = MappingProxyType({}),
) -> Iterator[Taken]:
    """The steps in which a kernel takes the batches of an event, by port, none of them empty.

    A stateless box takes each port at once, since what it emits can be ordered later. A Join or as-of join
    takes both ports together, since what it finds does not depend on the interleaving. A box by progress also
    takes the `marks` of its orders, each after the tuples with the same cause.
    """
    if kernel.progress_on:
        for port, step in kernel.advance(state, batches, now, marks):
            yield Taken(step, port, batches[port].num_rows if port in batches else 0)
        return
    if isinstance(kernel, TwoStreamsKernel) and len(batches) == 2:
        left, right = kernel.together(state, batches[0], batches[1])
        yield Taken(left, 0, batches[0].num_rows)
        yield Taken(right, 1, batches[1].num_rows)
        return
    whole = len(batches) < 2 or isinstance(kernel, Stateless)
    for port, batch in batches.items() if whole else runs(batches):
        causes, tuples = causes_of(batch), batch.drop_columns([CAUSE])
        if now.is_one:
            step = kernel.step(state, port, tuples, now.first)
        else:
            step = kernel.step_at(state, port, tuples, now.of(causes))
        state = step.state
        yield Taken(caused(step, causes), port, batch.num_rows)
