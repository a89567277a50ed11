"""Aligned windows by the clocks of a time zone: kernel and reference agree around all changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.events import Batch, kernels, reference
from tests.conformance.random_networks import Event
from tests.conformance.test_networks import agree as networks_agree
from tests.conformance.test_networks import one_by_one
from tests.conformance.test_order_boxes import agree, row_of, schema_with

from australis import NetworkBuilder
from australis.algebra.boxes import Aggregate
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.reference.local_clock import LocalClock, changes

MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US
ZONES = {
    "Europe/Berlin": "an hour at 2:00 and 3:00",
    "America/Havana": "midnight comes twice",
    "Asia/Beirut": "midnight is skipped",
    "Australia/Lord_Howe": "half an hour",
    "Pacific/Apia": "a whole day is skipped",
    "Africa/Monrovia": "44 minutes and 30 seconds",
    "Asia/Kolkata": "half an hour off, without changes today",
}
SHAPES = [
    ("1 day", None),
    ("1 hour", None),
    ("15 min", None),
    ("6 h", None),
    ("3 h", None),
    ("2 h", None),
    ("40 min", None),
    ("1 day", "6 h"),
    ("2 h", "40 min"),
    ("1 h", "1 d"),
    ("7 d", "1 d"),
    ("90 min", "25 min"),
]
OFFSETS = [None, "0 s", "10 min", "6 h", "150 min"]
CHOSEN = {"n": "count(*)", "last": "last(at)", "total": "sum(n)"}


def near_changes(zone: str) -> list[int]:
    """Instants a few hours before the last changes of a zone, in microseconds."""
    return [at - 6 * HOUR_US for at, _ in changes(zone)[-900:][:60]] or [0]


@st.composite
def histories(draw: st.DrawFn, begin: int) -> list[Batch]:
    """Tuples some minutes apart, from an instant on."""
    batches, clock, at = [], 0, 0
    for _ in range(draw(st.integers(1, 4))):
        rows = []
        for choices in draw(st.lists(st.integers(0, 2**40), max_size=14)):
            at, row = row_of("long", at, choices, 1000)
            row["at"] = begin + row["at"] * draw(st.sampled_from([10, 10, 30])) * MINUTE_US
            rows.append((row, clock))
        clock += draw(st.sampled_from([0, 1, 3]))
        batches.append(Batch(tuple(rows), clock))
    return batches


@given(st.data())
def test_windows_by_local_clocks(data: st.DataObject) -> None:
    zone = data.draw(st.sampled_from(sorted(ZONES)))
    begin = data.draw(st.sampled_from(near_changes(zone)))
    size, advance = data.draw(st.sampled_from(SHAPES))
    step = {"1 day": 1440, "1 hour": 60, "6 h": 360}.get(advance or size, 0)
    offset = data.draw(st.sampled_from([each for each in OFFSETS if step == 1440 or each in (None, "0 s")]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(st.sampled_from([(), ("g",)])))
    timeout = data.draw(st.sampled_from([None, None, "2 us"]))
    empty = data.draw(st.booleans())
    box = Aggregate(CHOSEN, order, size, advance, timeout=timeout, align=True, offset=offset, empty=empty)
    agree(data, box, schema_with("timestamp"), data.draw(histories(begin)), zone)


@given(st.data())
def test_marks_close_local_windows_and_pass_on(data: st.DataObject) -> None:
    zone = data.draw(st.sampled_from(sorted(ZONES)))
    begin = data.draw(st.sampled_from(near_changes(zone)))
    size, advance = data.draw(st.sampled_from(SHAPES))
    net = NetworkBuilder("local", timezone=zone)
    source = net.input("s", schema_with("timestamp"), progress=Progress("at", "40 min"))
    group_by = data.draw(st.sampled_from([(), ("g",)]))
    windows = source.aggregate(
        CHOSEN,
        Order("at", group_by=group_by, by="progress"),
        size,
        advance=advance,
        align=True,
        empty=data.draw(st.booleans()),
        forget=data.draw(st.sampled_from([None, size, "8 d"])) if group_by else None,
    )
    windows.output("windows").bsort(Order("at", by="progress")).output("sorted")
    sessions = source.aggregate(CHOSEN, Order("at", group_by=group_by, by="progress"), session=size)
    sessions.output("sessions").bsort(Order("last", by="progress")).output("ends")
    batches = data.draw(histories(begin))
    events = [Event(batch.now, "s", batch.rows) for batch in batches]
    network, events = net.build(), [*events, Event(events[-1].now, ending=True)]
    found = networks_agree(network, [], events)
    assert found == networks_agree(network, [], one_by_one(events))
    assert sorted(found["windows"]) == sorted(found["sorted"])
    assert sorted(found["sessions"]) == sorted(found["ends"])


def starts(zone: str, size: str, first: str, tuples: int, step_min: int = 30, **shape: Any) -> list[str]:
    """The starts in UTC of the windows with tuples, one tuple every so many minutes."""
    begin = round(datetime.fromisoformat(first).replace(tzinfo=UTC).timestamp()) * 1_000_000
    _, row = row_of("long", 0, 0, 1000)
    rows = tuple(({**row, "at": begin + i * step_min * MINUTE_US}, 0) for i in range(tuples))
    box = Aggregate({"n": "count(*)"}, Order("at"), size, align=True, **shape)
    found, _ = kernels(box, schema_with("timestamp"), [Batch(rows, 0)], 0, zone)
    assert found == reference(box, schema_with("timestamp"), [Batch(rows, 0)], 0, zone)
    return [_shown(text) for text in found.emitted]


def _shown(text: str) -> str:
    values = dict(eval(text)[1])
    at = datetime.fromtimestamp(values["at"] // 1_000_000, UTC)
    return f"{at:%d %H:%M} {values['n']}"


@pytest.mark.parametrize(
    ("zone", "shape", "first", "expected"),
    [
        ("Europe/Berlin", {"size": "1 day"}, "2024-03-30 23:00", ["30 23:00 46", "31 22:00 48"]),
        ("Europe/Berlin", {"size": "1 day"}, "2024-10-26 22:00", ["26 22:00 50", "27 23:00 44"]),
        ("Europe/Berlin", {"size": "6 h"}, "2024-10-26 22:00", ["26 22:00 14", "27 05:00 12"]),
        ("Europe/Berlin", {"size": "6 h"}, "2024-03-30 23:00", ["30 23:00 10", "31 04:00 12"]),
        # A window ends at the very time at which clocks change: they go back at 3:00, and skip 2:00.
        ("Europe/Berlin", {"size": "3 h"}, "2024-10-26 22:00", ["26 22:00 8", "27 02:00 6"]),
        ("Europe/Berlin", {"size": "2 h"}, "2024-03-30 23:00", ["30 23:00 4", "31 01:00 2", "31 02:00 4"]),
        (
            "Europe/Berlin",
            {"size": "1 day", "offset": "6 h"},
            "2024-10-26 04:00",
            ["26 04:00 50", "27 05:00 44"],
        ),
        ("America/Havana", {"size": "1 day"}, "2024-11-03 04:00", ["03 04:00 50", "04 05:00 44"]),
        ("Asia/Beirut", {"size": "1 day"}, "2024-03-30 22:00", ["30 22:00 46", "31 21:00 48"]),
        ("Pacific/Apia", {"size": "1 day"}, "2011-12-29 10:00", ["29 10:00 48", "30 10:00 46"]),
        ("Asia/Kolkata", {"size": "1 hour"}, "2024-01-01 00:30", ["01 00:30 2", "01 01:30 2"]),
        (
            "Europe/Berlin",
            {"size": "1 hour"},
            "2024-10-27 00:00",
            ["27 00:00 2", "27 01:00 2", "27 02:00 2"],
        ),
    ],
)
def test_days_have_23_to_25_hours_and_hours_have_one(
    zone: str, shape: dict[str, Any], first: str, expected: list[str]
) -> None:
    tuples = sum(int(text.split()[-1]) for text in expected)
    assert starts(zone, first=first, tuples=tuples, **shape) == expected


@given(st.data())
def test_a_reading_is_reached_first_at_its_instant(data: st.DataObject) -> None:
    zone = data.draw(st.sampled_from(sorted(ZONES)))
    clock = LocalClock(zone, data.draw(st.sampled_from([24, 6, 1])) * HOUR_US)
    at = data.draw(st.sampled_from(near_changes(zone))) + data.draw(st.integers(0, 24 * 60)) * MINUTE_US
    first = clock.instant(clock.reading(at))
    assert first <= at
    assert clock.reading(first) == clock.reading(at)
    assert clock.reading(first - 1) < clock.reading(at)
