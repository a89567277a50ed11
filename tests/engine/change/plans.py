"""What the tests of takeovers and differences share: plans of one small network in many forms."""

from __future__ import annotations

from collections.abc import Mapping

from tests.engine.ledger.held import check_mirror, segment

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.ledger import Head, Ledger
from australis.engine.store import Segment
from australis.plan.superboxes import Discipline, plan

BY_KEY, OUTPUTS = Order("t", group_by=("k",)), {"kept": "some", "n": "count"}


def network(
    outputs: Mapping[str, str] = OUTPUTS,
    *,
    least: int = 0,
    size: int = 10,
    twice: str = "2 * t",
    importance: float | None = None,
) -> Network:
    """A filter, and a count and a map after it; `outputs` name what is delivered, the map may be a view."""
    net = NetworkBuilder("n")
    some = net.input("s", "k long, t long").filter(f"k >= {least}", as_="some")
    streams = {
        "some": some,
        "count": some.aggregate({"n": "count(*)"}, BY_KEY, size=size, as_="count"),
        "twice": some.map({"k": "k", "t": twice}, as_="twice"),
    }
    for output, box in outputs.items():
        streams[box].output(output)
    if importance is not None:
        streams["twice"].view("seen", importance=importance)
    return net.build()


def without_count() -> Network:
    net = NetworkBuilder("n")
    net.input("s", "k long, t long").filter("k >= 0", as_="some").output("kept")
    return net.build()


def cut(made: Network, partitions: int = 2) -> Cut:
    return Cut(plan(made, Discipline.TRAIN), partitions)


OLD = cut(network())
"""What ran before."""


def stand(ledger: Ledger, **heads: Head) -> None:
    """Superboxes have come so far."""
    with ledger.change() as change:
        for name, head in heads.items():
            change.set_head(name, head)


def emit(ledger: Ledger, arc: str) -> Segment:
    """A superbox has written the tuples 1 to 3."""
    made = segment(ledger, arc, 1)
    with ledger.change() as change:
        change.add_segments([made])
    return made


def take_over(ledger: Ledger, takeover: Takeover, begin: int = 4) -> None:
    states, outdated = takeover.write_states(ledger.root, ledger.catalog), takeover.outdated
    with ledger.change() as change:
        takeover.write(change, states, {each.id: begin for each in takeover.fresh}, outdated)
    check_mirror(ledger)
