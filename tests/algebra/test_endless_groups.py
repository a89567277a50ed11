"""`check` warns of boxes that remember groups by an attribute that only rises."""

from __future__ import annotations

import pytest

from australis.algebra.boxes import Aggregate, Box, Changes, Number, Slide, Top
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network.marks import endless_groups
from australis.algebra.order import Order
from australis.algebra.progress import Progress

COUNT = {"n": "count(*)"}
MINUTES = Order("at", group_by=("minute",), by="progress")


@pytest.mark.parametrize(
    ("box", "warns"),
    [
        (Number("n", ("minute",)), True),
        (Number("n", ("minute",), forget="1 h"), False),
        (Number("n", ("k",)), False),
        (Number("n"), False),
        (Changes(("k",), ("minute",)), True),
        (Aggregate(COUNT, MINUTES, "1 min"), True),
        (Aggregate(COUNT, MINUTES, "1 min", forget="1 h"), False),
        (Aggregate(COUNT, MINUTES, "1 min", align=True), False),
        (Aggregate(COUNT, MINUTES, "1 min", align=True, empty=True), True),
        (Aggregate(COUNT, MINUTES, session="1 min"), False),
        (Aggregate(COUNT, Order("at", group_by=("minute",)), "1 min", align=True), True),
        (Slide(COUNT, 3, order=Order("Tup#", group_by=("minute",))), True),
        (Top(1, ["k"], MINUTES, "1 min"), True),
    ],
)
def test_groups_by_what_rises(box: Box, warns: bool) -> None:
    net = NetworkBuilder("n")
    source = net.input("s", "k long, at timestamp, minute timestamp", progress=Progress("at"))
    marked = source.map({"k": "k", "at": "at", "minute": "at + interval 1 minute"})
    net.add(box, marked, as_="box").output("out")
    network = net.build()
    found = [str(each) for each in endless_groups(network)]
    assert [text.startswith("box.forget: groups by 'minute'") for text in found] == [True] * warns
    assert any("remembers ever more groups" in str(each) for each in network.warnings()) is warns
