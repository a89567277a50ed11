"""What the tests of the monitor share: a network with graphs, and a ledger in which trains are noted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.quality import Quality, ValueGraph
from australis.engine.ledger.counts.delays import bucket
from australis.engine.ledger.counts.recent_counts import Recent, note_recent
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import LogEvent
from australis.engine.ledger.open_root import OpenRoot
from australis.engine.ledger.queues import Queues
from australis.engine.store.root import Root
from australis.engine.store.segments import Segment
from australis.plan.superboxes import Discipline, Plan, plan

SECOND = 1_000_000
NOW = 1_000 * SECOND
DELAY = ((1.0, 1.0), (4.0, 0.0))
LOSS = ((0.0, 0.0), (1.0, 1.0))
LEVELS = ValueGraph("v", points=((0, 0), (80, 1)))
KINDS = ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.25)))


def forked() -> Network:
    """A shared filter, and behind it an output that may lose tuples, and one that may not."""
    net = NetworkBuilder("forked")
    some = net.input("s", "k long, v double, kind string").filter("v >= 0", as_="some")
    some.map({"v": "v"}, as_="levels").output("tolerant", Quality(delay=DELAY, loss=LOSS, value=LEVELS))
    some.map({"kind": "kind"}, as_="kinds").output("kinds", Quality(value=KINDS, weight=2))
    some.map({"k": "k"}, as_="keys").output("strict", Quality(delay=DELAY, weight=5))
    return net.build()


def branches(network: Network) -> Plan:
    return plan(network, Discipline.BRANCH)


def delays(**seconds: dict[float, int]) -> dict[str, dict[int, int]]:
    """The delays of outputs by bucket, from seconds and tuples."""
    return {
        output: {bucket(round(each * SECOND)): tuples for each, tuples in found.items()}
        for output, found in seconds.items()
    }


@contextmanager
def opened(folder: Path, network: Network | None = None) -> Iterator[Ledger]:
    """The ledger of a root on which a network runs in branches."""
    place = OpenRoot(Root.of(folder))
    try:
        place.ledger.load_plan(branches(network or forked()))
        yield place.ledger
    finally:
        place.close()


def note(ledger: Ledger, now: int, seen: Recent) -> None:
    """What a train that is committed at a time notes down."""
    with ledger.change() as change:
        for output, buckets in seen.delays.items():
            change.count_delays(output, buckets)
        note_recent(change, now, seen)
        change.note_train(("some", 0, 1, 1, 1, 1, now, 1_000, 0))


def arrived(ledger: Ledger, at: int, tuples: int = 100, size: int = 1_000) -> Queues:
    """The queues behind a push of some tuples at a time."""
    base = ledger.queues.log_end
    end = base + tuples + 1
    segment = Segment("s", f"segments/{base}", base + 1, end, tuples, size, 0, base + 1, at, newest=at)
    with ledger.change() as change:
        change.log(LogEvent(base, end, "push", "s", tuples, at))
        change.add_segments([segment])
    return ledger.queues
