"""Aurora 5.2.2.2, Figure 9: the hourly average price of each stock."""

from __future__ import annotations

from typing import Any

import pytest
from tests.golden.engines import Engine, Trace, clock

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order


def quote(sid: str, time: str, price: int) -> dict[str, Any]:
    return {"Sid": sid, "Time": clock(time), "Price": price}


QUOTES = {
    1: quote("MSF", "1:00", 20),
    2: quote("INT", "1:00", 16),
    3: quote("IBM", "1:00", 24),
    4: quote("IBM", "1:15", 20),
    5: quote("IBM", "1:30", 23),
    6: quote("MSF", "1:30", 24),
    7: quote("INT", "1:30", 12),
    8: quote("IBM", "1:45", 13),
    9: quote("IBM", "2:00", 17),
    10: quote("INT", "2:00", 16),
    11: quote("MSF", "2:00", 22),
}
ORDERED = tuple(range(1, 12))
DISORDERED = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 8)


def average(sid: str, time: str, price: float) -> dict[str, Any]:
    return {"Time": clock(time), "Sid": sid, "AvgPrice": price}


FIRST_HOUR = [average("MSF", "1:00", 22.0), average("INT", "1:00", 14.0), average("IBM", "1:00", 20.0)]


def hourly_average(slack: int = 0) -> Network:
    net = NetworkBuilder("figure9")
    net.input("quotes", "Sid string, Time timestamp, Price int").aggregate(
        {"AvgPrice": "avg(Price)"},
        Order("Time", slack=slack, group_by=("Sid",)),
        size="1 hour",
        advance="1 hour",
        as_="average",
    ).output("averages")
    return net.build()


def run(trace: Trace, numbers: tuple[int, ...]) -> dict[int, list[Any]]:
    """What each tuple causes, by its number; those that cause nothing are left out."""
    emitted = {number: trace.push("quotes", **QUOTES[number]) for number in numbers}
    return {number: rows for number, rows in emitted.items() if rows}


def test_ordered_quotes(engine: Engine) -> None:
    trace = engine(hourly_average())

    assert run(trace, ORDERED) == {
        9: [average("IBM", "1:00", 20.0)],
        10: [average("INT", "1:00", 14.0)],
        11: [average("MSF", "1:00", 22.0)],
    }


def test_a_late_quote_is_ignored_without_slack(engine: Engine) -> None:
    trace = engine(hourly_average(slack=0))

    assert run(trace, DISORDERED)[9] == [average("IBM", "1:00", pytest.approx((24 + 20 + 23) / 3))]


def test_a_late_quote_counts_with_a_slack_of_1(engine: Engine) -> None:
    """There is only one tuple of IBM whose Time exceeds that of the out-of-order tuple."""
    trace = engine(hourly_average(slack=1))

    assert run(trace, DISORDERED) == {}  # nothing is behind 1:59 by more than the slack yet
    assert trace.push("quotes", **quote("IBM", "2:15", 18)) == [average("IBM", "1:00", 20.0)]
    assert trace.push("quotes", **quote("INT", "2:15", 16)) == [average("INT", "1:00", 14.0)]
    assert trace.push("quotes", **quote("MSF", "2:15", 22)) == [average("MSF", "1:00", 22.0)]


@pytest.mark.parametrize("slack", [1, 2, 3])
@pytest.mark.parametrize("numbers", [ORDERED, DISORDERED])
def test_any_slack_of_1_or_more_gives_the_output_of_figure_9(
    engine: Engine, slack: int, numbers: tuple[int, ...]
) -> None:
    trace = engine(hourly_average(slack))

    emitted = [row for rows in run(trace, numbers).values() for row in rows] + trace.flush()

    assert sorted(emitted, key=str)[:3] == sorted(FIRST_HOUR, key=str)
    assert len(emitted) == 6  # and the second hour, which the end of the stream has closed


@pytest.mark.parametrize("slack", [0, 1, 2])
def test_aggregate_with_slack_is_aggregate_without_after_bsort(engine: Engine, slack: int) -> None:
    """The identity of section 5.2.2.2."""
    net = NetworkBuilder("identity")
    quotes = net.input("quotes", "Sid string, Time timestamp, Price int")
    sorted_quotes = quotes.bsort(Order("Time", slack=slack, group_by=("Sid",)))
    sorted_quotes.aggregate({"AvgPrice": "avg(Price)"}, Order("Time", group_by=("Sid",)), "1 hour").output(
        "out"
    )
    composed, direct = engine(net.build()), engine(hourly_average(slack))

    assert run(composed, DISORDERED) == run(direct, DISORDERED)
    assert sorted(composed.flush(), key=str) == sorted(direct.flush(), key=str)
