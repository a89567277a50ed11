"""Aurora 5.3: the two queries over soldiers' position reports.

The pictures of Figures 13, 15 and 17 are lost; the traces here are built to the text.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.golden.engines import Engine, Trace

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.schema import TUP
from australis.algebra.spans import microseconds
from australis.algebra.user_functions import register_aggregate

SCHEMA = "Sid int, Time int, Pos int"
BORDER = 30  # k
SOLDIERS = 3  # m


@pytest.fixture(autouse=True)
def window_functions() -> None:
    """The user-defined window functions of Figures 14 and 16, in the form Agg(init, incr, final)."""
    register_aggregate(
        "queries:same_time",  # the Time, if all tuples of the window have it
        init=list,
        incr=lambda times, time: [*times, time],
        final=lambda times: times[0] if len(times) == SOLDIERS and len(set(times)) == 1 else None,
        takes=("int",),
        returns="int",
    )
    register_aggregate(
        "queries:newest_if_new",  # the newest Time, if it differs from the oldest
        init=list,
        incr=lambda times, time: [*times, time],
        final=lambda times: times[-1] if times[-1] != times[0] else None,
        takes=("int",),
        returns="int",
    )
    register_aggregate(
        "queries:center_of_mass",
        init=lambda: [0, 0],
        incr=lambda state, pos: [state[0] + pos, state[1] + 1],
        final=lambda state: state[0] / state[1],
        takes=("int",),
        returns="double",
    )
    register_aggregate(
        "queries:differs",  # whether the last center of mass differs from the previous one by 100 or more
        init=list,
        incr=lambda centers, center: [*centers, center],
        final=lambda centers: len(centers) == 2 and abs(centers[1] - centers[0]) >= 100,
        takes=("double",),
        returns="boolean",
    )


def across(*times: int) -> list[dict[str, Any]]:
    """Reports at some times by different soldiers across the border, between reports of one who is not."""
    rows = []
    for sid, time in enumerate(times, 1):
        rows += [{"Sid": 99, "Time": time, "Pos": BORDER - 1}, {"Sid": sid, "Time": time, "Pos": BORDER}]
    return rows


# --- query 1: an output whenever m soldiers are across the border k at the same time


def query_1() -> Network:
    """Figure 12."""
    net = NetworkBuilder("query1")
    crossed = net.input("reports", SCHEMA).filter(f"Pos >= {BORDER}")
    counted = crossed.aggregate({"Count": "count(*)"}, Order("Time", slack=1), size=1, advance=1)
    counted.filter(f"Count >= {SOLDIERS}").output("alarm")
    return net.build()


def caused(trace: Trace, *times: int) -> list[Any]:
    """What each of the tuples that reach the Aggregate causes."""
    return [
        trace.push("reports", Sid=99, Time=time, Pos=BORDER - 1)
        + trace.push("reports", Sid=sid, Time=time, Pos=BORDER)
        for sid, time in enumerate(times, 1)
    ]


def test_the_count_is_output_when_its_window_is_closed(engine: Engine) -> None:
    """The fifth tuple to Aggregate tells of three soldiers at Time 2; this is output with the seventh."""
    emitted = caused(engine(query_1()), 1, 1, 2, 2, 2, 3, 3)

    assert emitted == [[], [], [], [], [], [], [{"Time": 2, "Count": 3}]]


def test_a_slack_of_1_counts_the_soldier_who_is_late_by_one(engine: Engine) -> None:
    emitted = caused(engine(query_1()), 2, 2, 3, 2, 2, 2, 3)

    assert emitted == [[], [], [], [], [], [], [{"Time": 2, "Count": 5}]]


# --- query 1, streamlined


def same_time() -> tuple[NetworkBuilder, Stream]:
    """Figure 14: a window of exactly m tuples, all with one Time."""
    net = NetworkBuilder("query1b")
    crossed = net.input("reports", SCHEMA).filter(f"Pos >= {BORDER}")
    sorted_reports = crossed.bsort(Order("Time", slack=1))
    windows = sorted_reports.aggregate(
        {"Time": "`queries:same_time`(Time)"}, Order(TUP), size=SOLDIERS, advance=1
    )
    return net, windows.filter("Time IS NOT NULL")


def query_1_streamlined() -> Network:
    net, alarms = same_time()
    alarms.output("alarm")
    return net.build()


def query_1_once_per_time() -> Network:
    """With the additional Aggregate of two tuples, which removes what was told before."""
    net, alarms = same_time()
    newest = alarms.aggregate({"Time": "`queries:newest_if_new`(Time)"}, Order(TUP), size=2, advance=1)
    newest.filter("Time IS NOT NULL").output("alarm")
    return net.build()


def test_the_streamlined_query_waits_for_no_window_to_close(engine: Engine) -> None:
    emitted = caused(engine(query_1_streamlined()), 1, 1, 2, 2, 2, 3, 3)

    # The third report of Time 2 leaves BSort with the sixth tuple; Figure 12 needs the seventh.
    assert emitted == [[], [], [], [], [], [{"Time": 2}], []]


def test_five_soldiers_across_the_border_give_three_tuples(engine: Engine) -> None:
    trace = engine(query_1_streamlined())

    emitted = trace.push_all("reports", across(1, 1, 2, 2, 3, 2, 2, 2, 3))

    assert emitted == [{"Time": 2}] * 3


def test_an_additional_aggregate_of_two_tuples_removes_the_others(engine: Engine) -> None:
    trace = engine(query_1_once_per_time())

    # Three soldiers at Time 1, five at Time 2, four at Time 3. The first alarm of all has none before it.
    emitted = trace.push_all("reports", across(1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4))

    assert emitted == [{"Time": 2}, {"Time": 3}]


# --- query 2: alert when the center of mass differs from the previous one by 100


def query_2() -> Network:
    """Figure 16, with n (slack) = 2 and t = 5 s."""
    net = NetworkBuilder("query2")
    centers = net.input("reports", SCHEMA).aggregate(
        {"Center": "`queries:center_of_mass`(Pos)"},
        Order("Time", slack=2),
        size=1,
        advance=1,
        timeout="5 s",
        as_="center",
    )
    pairs = centers.aggregate(
        {"Time": "last(Time)", "Center": "last(Center)", "Diff": "`queries:differs`(Center)"},
        Order(TUP),
        size=2,
        advance=1,
        as_="compare",
    )
    centers.output("centers")
    pairs.filter("Diff").map({"Time": "Time", "Center": "Center"}).output("alert")
    return net.build()


def center(time: int, value: float) -> dict[str, Any]:
    return {"Time": time, "Center": value}


def test_alert_when_the_center_of_mass_moves(engine: Engine) -> None:
    trace = engine(query_2())
    reports = [(1, 0), (1, 20), (2, 100), (1, 40), (2, 120), (3, 100), (2, 140), (3, 120), (4, 0), (4, 0)]

    caused_by = [trace.push("reports", Sid=1, Time=time, Pos=pos) for time, pos in reports]

    assert caused_by == [
        *([[]] * 5),
        [center(1, 20.0)],  # the sixth report releases the first one of Time 2
        [],
        [],
        [center(2, 120.0), center(2, 120.0)],  # a center, and an alert: it differs from 20 by 100
        [],
    ]
    assert trace.flush() == [center(3, 110.0), center(4, 0.0), center(4, 0.0)]


def test_it_is_not_worth_waiting_longer_than_the_timeout(engine: Engine) -> None:
    trace = engine(query_2())
    second = microseconds("1 s")
    trace.push("reports", now=0, Sid=1, Time=1, Pos=10)
    trace.push("reports", now=2 * second, Sid=2, Time=1, Pos=30)

    assert trace.tick(now=5 * second) == []  # not yet more than t after the first report
    assert trace.tick(now=5 * second + 1) == [center(1, 20.0)]  # although both wait for their slack
    # The third soldier's report comes too late: it is ignored, and the center is not output again.
    assert trace.push("reports", now=6 * second, Sid=3, Time=1, Pos=999) == []
    assert trace.flush() == []
