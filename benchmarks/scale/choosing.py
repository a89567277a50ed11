"""A choice among 1,000 outputs with graphs: from the queues to the waybill of the next train.

Three cases: after a train, when little has changed; after a push, when tuples wait for everybody; and when it
is time to look at all outputs, and to decide what is shed.
"""

from __future__ import annotations

import tempfile
import time
from statistics import median
from typing import NamedTuple

import pyarrow as pa
from benchmarks.scale.here import Here
from benchmarks.scale.networks import fan, pairs

from australis import Network, Node
from australis.engine.steer.situations import Seen

OUTPUTS, CHOICES = 1_000, 41
BATCH = pa.table({"k": [10**6, 10**6 + 1], "v": [1.0, 2.0]})


def measure() -> dict[str, float]:
    """The milliseconds of CPU time of a choice, as medians."""
    many, shared, fewer = (_choices_ms(each) for each in (fan(OUTPUTS), pairs(OUTPUTS), fan(OUTPUTS // 10)))
    return {
        "choose_ms": many.after_train,
        "choose_after_push_ms": many.after_push,
        "choose_and_shed_ms": many.with_look,
        "choose_shared_ms": shared.after_train,
        "choose_100_ms": fewer.after_train,
    }


class Choices(NamedTuple):
    """The medians of the three cases."""

    after_train: float
    after_push: float
    with_look: float


def _choices_ms(network: Network) -> Choices:
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as folder, Node(folder, runner=Here()) as node:
        node.deploy(network)
        node.pause()
        node.push("x", BATCH)
        node.step()
        after_train, after_push, with_look = [], [], []
        for _ in range(CHOICES):
            node.step()
            after_train.append(_choice_ms(node))
        for _ in range(CHOICES):
            node.push("x", BATCH)
            after_push.append(_choice_ms(node))
            with_look.append(_choice_ms(node, look=True))
        node.stop(now=True)
    return Choices(median(after_train), median(after_push), median(with_look))


def _choice_ms(node: Node, *, look: bool = False) -> float:
    """The CPU time of one choice, which is not carried out; with a look at all outputs, or without."""
    loop, ledger = node._deployed.loop, node._ledger
    steering = loop._steering
    steering._seen = Seen(0 if look else node._clock(), steering._seen.recent)
    with ledger.reading() as queues:
        began = time.thread_time()
        chosen = loop._choose(queues, -1, stepping=False)
        took = time.thread_time() - began
    assert chosen is not None
    return took * 1000
