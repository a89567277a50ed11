"""Replay on a clock that is made up: when which tuples come, and never tuple by tuple."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.sources.virtual import VirtualWaiter

from australis.algebra.schema import parse_schema
from australis.engine.sources import FileSource, Options, Rate, Speed, parse_rate, parse_replay, parse_speed
from australis.engine.sources.pacing import SLICE_SECONDS, Pacer
from australis.errors import EngineError


def numbers(count: int) -> pa.Table:
    return pa.table({"n": pa.array(range(count), pa.int64())})


def timed(replay: Rate | Speed, table: pa.Table, rows_max: int = 10**6, ends: float = 1e9) -> list[object]:
    """When which slice of a table came."""
    waiter = VirtualWaiter(ends=ends)
    return [(round(waiter.now(), 6), *cut) for cut in Pacer(replay, waiter, rows_max).cuts(table)]


def test_a_rate_comes_in_slices() -> None:
    assert timed(Rate(100), numbers(7)) == [
        (0.0, 0, 1),
        (0.02, 1, 3),
        (0.04, 3, 5),
        (0.06, 5, 7),
    ]
    assert timed(Rate(2), numbers(3)) == [(0.0, 0, 1), (0.5, 1, 2), (1.0, 2, 3)]
    assert timed(Rate(1000), numbers(50), rows_max=15) == [
        (0.0, 0, 1),
        (0.02, 1, 16),
        (0.04, 16, 31),
        (0.06, 31, 46),
        (0.08, 46, 50),
    ]


@pytest.mark.parametrize(
    ("type_name", "moments"),
    [
        ("timestamp", [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=s) for s in (0, 10, 20, 60)]),
        ("long", [1000, 1010, 1020, 1060]),
        ("double", [0.5, 10.5, 20.5, 60.5]),
        ("decimal(10,2)", [Decimal("7.25"), Decimal("17.25"), Decimal("27.25"), Decimal("67.25")]),
    ],
)
def test_a_speed_is_that_of_the_data(type_name: str, moments: list[object]) -> None:
    schema = parse_schema(f"t {type_name}")
    table = pa.table([pa.array(moments, schema["t"].type.arrow)], schema.arrow)
    assert timed(Speed(20, "t"), table) == [(0.0, 0, 1), (0.5, 1, 2), (1.0, 2, 3), (3.0, 3, 4)]


def test_tuples_out_of_order_or_without_a_time_come_with_those_before() -> None:
    times = pa.table({"t": pa.array([None, 5.0, 7.0, 6.0, None, float("nan"), float("inf"), 9.0])})
    assert timed(Speed(1, "t"), times) == [(0.0, 0, 2), (2.0, 2, 7), (4.0, 7, 8)]


def test_one_who_came_late_gets_all_that_is_due() -> None:
    waiter = VirtualWaiter()
    cuts = Pacer(Rate(10), waiter, 10**6).cuts(numbers(30))
    first = next(cuts)
    waiter.until(2.05)  # the node was busy
    assert [first, next(cuts), next(cuts)] == [(0, 1), (1, 21), (21, 22)]


def test_a_replay_that_is_ended_brings_no_more() -> None:
    assert timed(Rate(10), numbers(100), ends=0.25)[-1] == (0.2, 2, 3)


@given(st.floats(0.5, 1e5), st.integers(1, 400), st.integers(1, 100))
def test_a_rate_is_never_ahead_and_no_slice_is_too_early(rate: float, count: int, rows_max: int) -> None:
    waiter = VirtualWaiter()
    before, taken = -SLICE_SECONDS, 0
    for begin, end in Pacer(Rate(rate), waiter, rows_max).cuts(numbers(count)):
        assert begin == taken
        assert end - 1 <= waiter.now() * rate + 1e-6
        assert waiter.now() - before >= SLICE_SECONDS - 1e-9
        before, taken = waiter.now(), end
    assert taken == count


def test_a_replay_goes_over_the_blocks_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t\n" + "".join(f"{row}\n" for row in range(100)))
    waiter = VirtualWaiter()
    options = Options(replay=Speed(10, "t"), batch=7)
    seen = [
        (round(waiter.now(), 6), row)
        for delivery in FileSource("x", str(path), parse_schema("t int"), options)
        .start(lambda source: None, waiter)
        .deliveries()
        for row in delivery.content["t"].to_pylist()  # type: ignore[index]
    ]
    assert seen == [(round(row / 10, 6), row) for row in range(100)]


@pytest.mark.parametrize(
    ("text", "rate"),
    [("5000/s", 5000), ("5k/s", 5000), ("0.5 M / sec", 500_000), ("300/min", 5), ("7200/h", 2), ("1/s", 1)],
)
def test_texts_of_rates(text: str, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "5000", "k/s", "5/fortnight", "-5/s", "1e3/s", "5//s", "nan/s"])
def test_texts_that_are_no_rates(text: str) -> None:
    with pytest.raises(EngineError, match=f"rate: '{text}' is no rate; expected tuples per time, such as"):
        parse_rate(text)


def test_texts_of_speeds() -> None:
    assert [parse_speed(text) for text in ("20x", "0.25 X", "3")] == [20, 0.25, 3]
    for text, what in (("fast", "is no speed"), ("0x", "no time would pass"), ("-1x", "is no speed")):
        with pytest.raises(EngineError, match=f"speed: .*{what}"):
            parse_speed(text)
    with pytest.raises(EngineError, match="rate: '0/s' would bring no tuple, ever"):
        parse_rate("0/s")


def test_options_of_a_replay() -> None:
    assert parse_replay() is None
    assert parse_replay("5/s") == Rate(5)
    assert parse_replay(None, "2x", "time") == Speed(2, "time")
    with pytest.raises(EngineError, match=r"both a rate, 5/s, and a speed, 2x, are given"):
        parse_replay("5/s", "2x")
    with pytest.raises(EngineError, match="no attribute is given for the time"):
        parse_replay(None, "2x")
