"""Delay graphs that no result of a window can satisfy: what is warned of, and what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from australis import NetworkBuilder, Order, Quality, Stream

SHORT = Quality(delay=((0.5, 1), (2, 0)))
BY_TIME = Order("t")


def held(follow: Callable[[Stream], Stream], quality: Quality = SHORT) -> list[str]:
    """The warnings about the only output of a network, whose boxes follow an input."""
    net = NetworkBuilder("n")
    follow(net.input("s", "t timestamp, k long, v double")).output("out", quality)
    found = [warning for warning in net.build().warnings() if warning.path.startswith("n.outputs")]
    assert {each.path for each in found} <= {"n.outputs.out.quality.delay"}
    return [each.what for each in found]


def test_the_warning_says_where_tuples_are_held_and_what_to_write() -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "t timestamp, v double")
    stream.aggregate({"a": "avg(v)"}, BY_TIME, "1 min", as_="minutes").output("out", SHORT)
    assert [str(each) for each in net.build().warnings()] == [
        "n.outputs.out.quality.delay: is 0 from 2 s on, but the oldest tuple of a full window is held for "
        "60 s (minutes: 60 s): its result is worth nothing; expected delay: {since: trigger, points: ...}, "
        "or a graph above 0 beyond 60 s"
    ]


@pytest.mark.parametrize(
    ("follow", "where"),
    [
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "2 s", as_="x"), "2 s (x: 2 s)"),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 h", timeout="9 s", as_="x"), "9 s (x: 9 s)"),
        (
            lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 h", advance="1 s", as_="x"),
            "3600 s (x: 3600 s)",
        ),
        (lambda s: s.aggregate({"a": "avg(v)"}, Order("t", "1 s"), "1 s", as_="x"), "2 s (x: 2 s)"),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, session="3 s", as_="x"), "3 s (x: 3 s)"),
        (lambda s: s.bsort(Order("t", "9 s"), as_="x"), "9 s (x: 9 s)"),
        (lambda s: s.wsort("t", timeout="5 s", as_="x").filter("v > 0"), "5 s (x: 5 s)"),
        (lambda s: s.xsection({"a": "avg(v)"}, "t", size="4 s", as_="x"), "4 s (x: 4 s)"),
        (
            lambda s: s.aggregate({"v": "avg(v)"}, BY_TIME, "1 s", as_="x").aggregate(
                {"v": "max(v)"}, BY_TIME, "1 s", as_="y"
            ),
            "2 s (x: 1 s, y: 1 s)",
        ),
        (
            lambda s: s.aggregate({"v": "avg(v)"}, BY_TIME, "5 s", as_="x").join(
                s, "true", size="1 s", left=BY_TIME, right=BY_TIME
            ),
            "5 s (x: 5 s)",
        ),
        (
            lambda s: s.resample(s, {"v": "avg(v)"}, size="3 s", left=BY_TIME, right=BY_TIME, as_="x"),
            "3 s (x: 3 s)",
        ),
    ],
)
def test_boxes_that_hold_tuples_are_added_up(follow: Callable[[Stream], Stream], where: str) -> None:
    (what,) = held(follow)
    assert f"is held for {where}" in what


@pytest.mark.parametrize(
    ("follow", "quality"),
    [
        (lambda s: s.filter("v > 0"), SHORT),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1900 ms"), SHORT),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 min"), Quality(delay=((9, 1), (61, 0)))),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 min"), Quality(delay=((1, 1), (2, 0.1)))),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 min"), Quality(SHORT.delay, since="trigger")),
        (lambda s: s.aggregate({"a": "avg(v)"}, BY_TIME, "1 min"), Quality(loss=((0, 0), (1, 1)))),
        (lambda s: s.aggregate({"a": "avg(v)"}, Order("k"), 60), SHORT),
        (lambda s: s.tumble({"a": "avg(v)"}, ["k"], timeout="1 min"), SHORT),
        (lambda s: s.wsort("t", timeout="5 s").union(s), SHORT),
    ],
)
def test_what_may_be_in_time_is_without_warning(follow: Callable[[Stream], Stream], quality: Quality) -> None:
    assert held(follow, quality) == []
