"""Linear Road: the network of examples/linear_road finds what its definitions say, by hand and in SQL."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from benchmarks.linear_road.drive import NETWORK, OUTPUTS, Arrivals
from benchmarks.linear_road.expected import COLUMNS, Expected
from benchmarks.linear_road.traffic import (
    COLUMNS as ATTRIBUTES,
)
from benchmarks.linear_road.traffic import (
    EXIT,
    EXPENDITURE,
    MILE_FT,
    PERIOD_S,
    SCHEMA,
    Shape,
    Traffic,
    history,
    write_history,
)

import australis
from australis.kernels import PipelineRun
from australis.reference.network import ReferenceRun

Found = Mapping[str, pa.Table]
Row = dict[str, int]
CAR, PROBE = 1, 1_000
CROWDED = Shape(
    expressways=2,
    seed=3,
    reports_per_s=450,
    accident_every_s=90,
    crowd=50,
    breakdowns=1e-3,
    duration_s=8 * 60,
)
NO_HISTORY = history(np.zeros(0, np.int32), 1)


@pytest.fixture(scope="module")
def network() -> australis.Network:
    return australis.load(NETWORK)


def generated(shape: Shape) -> pa.Table:
    return pa.concat_tables(list(Traffic(shape).rounds())).combine_chunks()


def asked(traffic: pa.Table, expressways: int) -> pa.Table:
    """The table of earlier days for the cars of some traffic that ask."""
    asking = traffic.filter(pa.compute.equal(traffic["type"], EXPENDITURE))
    return history(asking["vid"].to_numpy(), expressways)


def on_kernels(network: australis.Network, traffic: pa.Table, past: pa.Table, batch: int = 5_000) -> Found:
    run = PipelineRun(network)
    run.load("history", past)
    starts = range(0, len(traffic), batch)
    emitted = [run.push("traffic", traffic.slice(start, batch), start) for start in starts]
    emitted.append(run.flush(len(traffic)))
    assert sum(counted.late for counted in run.counters().values()) == 0
    return {
        name: pa.concat_tables([each[name] for each in emitted]).select(COLUMNS[name]) for name in OUTPUTS
    }


def on_reference(network: australis.Network, traffic: pa.Table, past: pa.Table) -> Found:
    """By the meaning, a tuple at a time."""
    run = ReferenceRun(network)
    run.load("history", past.to_pylist())
    emitted = run.push_batch("traffic", [(row, 0) for row in traffic.to_pylist()], 0)
    rows = [*emitted, *run.flush(0)]
    return {
        name: pa.Table.from_pylist(
            [dict(each.values) for each in rows if each.output == name], network.output_schema(name).arrow
        )
        for name in OUTPUTS
    }


@pytest.fixture(scope="module")
def crowded() -> tuple[pa.Table, pa.Table, Expected]:
    """Two small expressways with jams, accidents and breakdowns, and what SQL finds there."""
    traffic = generated(CROWDED)
    past = asked(traffic, CROWDED.expressways)
    return traffic, past, Expected(traffic, past)


def test_the_traffic_of_the_tests_has_all_that_matters(crowded: tuple[pa.Table, pa.Table, Expected]) -> None:
    _, _, expected = crowded
    counted = (
        "SELECT count(*) FILTER (toll > 0), count(*) FILTER (accident IS NOT NULL), count(*) FROM entries"
    )
    ((tolls, alerts, entries),) = expected.database.execute(counted).fetchall()
    assert 0.01 < tolls / entries < 0.9
    assert 0.01 < alerts / entries < 0.9
    assert pa.compute.sum(pa.compute.greater(expected.rows("balances")["balance"], 0)).as_py() > 20
    assert len(expected.rows("expenditures")) > 20


@pytest.mark.parametrize("batch", [2_000, 50_000])
def test_kernels_find_what_sql_finds(
    network: australis.Network, crowded: tuple[pa.Table, pa.Table, Expected], batch: int
) -> None:
    traffic, past, expected = crowded
    assert expected.wrong(on_kernels(network, traffic, past, batch)) == dict.fromkeys(OUTPUTS, 0)


def test_a_node_finds_what_sql_finds(tmp_path: Path, crowded: tuple[pa.Table, pa.Table, Expected]) -> None:
    """In light processes, box by box, by trains that are cut where they happen to be."""
    traffic, past, expected = crowded
    write_history(tmp_path, past)
    with australis.Node(runner="light", train=40_000, discipline="train") as node:
        node.deploy(australis.load(shutil.copy(NETWORK, tmp_path)))
        for start in range(0, len(traffic), 30_000):
            node.push("traffic", traffic.slice(start, 30_000))
        node.flush()
        node.drain()
        found = {name: node.read(name) for name in OUTPUTS}
    assert expected.wrong(found) == dict.fromkeys(OUTPUTS, 0)


def test_the_comparison_sees_what_differs(crowded: tuple[pa.Table, pa.Table, Expected]) -> None:
    _, _, expected = crowded
    for name in OUTPUTS:
        right = expected.rows(name)
        (*_, last) = COLUMNS[name]
        other = pa.compute.add(right[last].slice(0, 1), 1).cast(right[last].type)
        column = pa.chunked_array([*other.chunks, *right[last].slice(1).chunks])
        changed = right.set_column(right.column_names.index(last), last, column)
        assert expected.differing(name, right) == 0
        assert expected.differing(name, right.slice(1)) == 1
        assert expected.differing(name, pa.concat_tables([right, right.slice(0, 1)])) == 1
        assert expected.differing(name, changed) == 2


# --- by hand


def row(time: int, vid: int, **given: int) -> Row:
    """A report from the middle of segment 10, eastbound, lane 2; -1 for what a report does not have."""
    seg = given.get("seg", 10)
    usual = {"type": 0, "spd": 20, "xway": 0, "lane": 2, "dir": 0, "seg": seg, "pos": seg * MILE_FT + 100}
    return {**dict.fromkeys(ATTRIBUTES, -1), **usual, "time": time, "vid": vid, **given}


def crowd(cars: int, minute: int, **given: int) -> Iterator[Row]:
    """Cars that report twice in a minute from places of their own."""
    for number in range(cars):
        for half in (0, 30):
            time, moved = 60 * (minute - 1) + half, MILE_FT * given.get("seg", 10) + 8 * number + half
            yield row(time, CAR + number, pos=moved, **given)


def standing(vid: int, first_s: int, reports: int, **given: int) -> Iterator[Row]:
    """A car that reports from one place so many times."""
    for number in range(reports):
        yield row(first_s + PERIOD_S * number, vid, spd=0, **given)


def arriving(rows: list[Row]) -> pa.Table:
    """Rows in order of time, requests after reports."""
    inorder = sorted(rows, key=lambda each: (each["time"], each["type"]))
    return pa.Table.from_pylist(inorder, SCHEMA)


@pytest.fixture(params=["reference", "kernels", "sql"])
def say(request: pytest.FixtureRequest, network: australis.Network) -> Callable[[str, list[Row]], list[Any]]:
    """What an output says for some rows, as tuples in order, by each way to compute it."""

    def answer(name: str, rows: list[Row], past: pa.Table = NO_HISTORY) -> list[Any]:
        traffic = arriving(rows)
        if request.param == "sql":
            found = Expected(traffic, past).rows(name)
        else:
            engine = on_reference if request.param == "reference" else on_kernels
            found = engine(network, traffic, past)[name]
        return sorted(tuple(each.values()) for each in found.select(COLUMNS[name]).to_pylist())

    return answer


Say = Callable[..., list[Any]]


def test_a_toll_follows_from_the_cars_and_speeds_of_the_minutes_before(say: Say) -> None:
    probe = [row(60, PROBE, seg=9), row(90, PROBE), row(120, PROBE, seg=11)]
    rows = [*crowd(61, minute=1), *probe]
    assert [each for each in say("tolls", rows) if each[0] == PROBE] == [
        (PROBE, 60, 0, 0),
        (PROBE, 90, 20, 2 * 11**2),
        (PROBE, 120, 0, 0),
    ]


@pytest.mark.parametrize(
    ("cars", "given", "toll"),
    [
        (50, {}, 0),
        (51, {}, 2),
        (61, {"spd": 40}, 0),
        (61, {"spd": 39}, 242),
        (61, {"dir": 1}, 0),
        (61, {"xway": 1}, 0),
        (61, {"seg": 11}, 0),
    ],
)
def test_a_toll_needs_more_than_50_slow_cars_on_the_same_road(
    say: Say, cars: int, given: dict[str, int], toll: int
) -> None:
    rows = [*crowd(cars, minute=1, **given), row(90, PROBE)]
    (own,) = [each for each in say("tolls", rows) if each[0] == PROBE]
    assert own[3] == toll


def test_cars_count_in_the_minute_before_only_but_speeds_for_five(say: Say) -> None:
    probes = [row(60 * minute, PROBE + minute) for minute in range(8)]
    rows = [*crowd(61, minute=1), *probes]
    own = [(time, lav, toll) for vid, time, lav, toll in say("tolls", rows) if vid >= PROBE]
    # From the second minute on the probes themselves are cars of 20 mph.
    assert own == [(0, 0, 0), (60, 20, 288), *((60 * minute, 20, 0) for minute in range(2, 8))]


def test_the_velocity_is_an_average_of_averages_rounded_down(say: Say) -> None:
    first = [row(0, CAR, spd=10), row(30, CAR, spd=30, pos=53_000), row(10, CAR + 1, spd=51)]
    second = [row(70, CAR + 2, spd=10)]
    probes = [row(60, PROBE, spd=80), row(130, PROBE + 1)]
    found = {vid: lav for vid, _, lav, _ in say("tolls", [*first, *second, *probes]) if vid >= PROBE}
    assert found == {PROBE: (20 + 51) // 2, PROBE + 1: int(((20 + 51) / 2 + (10 + 80) / 2) / 2)}


def test_a_car_that_leaves_by_the_exit_is_told_no_toll(say: Say) -> None:
    rows = [*crowd(61, minute=1), row(60, PROBE, seg=9), row(90, PROBE, lane=EXIT)]
    assert [time for vid, time, *_ in say("tolls", rows) if vid == PROBE] == [60]


def alerts(say: Say, rows: list[Row], direction: int = 0) -> set[tuple[int, int, int]]:
    """Minute and segment of probes that are alerted, and the segment they are told of."""
    probes = [
        row(60 * minute + 3, PROBE + 100 * minute + seg, seg=seg, lane=1, dir=direction)
        for minute in range(7)
        for seg in range(40, 61)
    ]
    found = say("accidents", [*rows, *probes])
    return {(time // 60 + 1, (vid - PROBE) % 100, seg) for vid, time, _, _, seg in found if vid >= PROBE}


def near(minutes: list[int], direction: int = 0) -> set[tuple[int, int, int]]:
    segments = range(46, 51) if direction == 0 else range(50, 55)
    return {(minute, seg, 50) for minute in minutes for seg in segments}


@pytest.mark.parametrize("direction", [0, 1])
def test_an_accident_is_two_cars_with_four_reports_from_one_place(say: Say, direction: int) -> None:
    """Both stand from 95 until 120, in the second minute; cars of the third one are alerted."""
    both = [*standing(1, 0, 4, seg=50, dir=direction), *standing(2, 5, 4, seg=50, dir=direction)]
    assert alerts(say, both, direction) == near([3], direction)


def test_an_accident_lasts_until_a_car_reports_another_place(say: Say) -> None:
    """Both stand from 115 until 140: in the second and the third minute."""
    both = [*standing(1, 20, 4, seg=50), *standing(2, 25, 4, seg=50)]
    assert alerts(say, both) == near([3, 4])
    longer = [*standing(1, 20, 6, seg=50), *standing(2, 25, 9, seg=50), row(200, 1, seg=50, pos=50 * MILE_FT)]
    assert alerts(say, longer) == near([3, 4, 5])


@pytest.mark.parametrize(
    "rows",
    [
        [*standing(1, 0, 4, seg=50), *standing(2, 5, 3, seg=50)],
        [*standing(1, 0, 4, seg=50), *standing(2, 5, 4, seg=50, lane=3)],
        [*standing(1, 0, 4, seg=50), *standing(2, 5, 4, seg=50, pos=50 * MILE_FT + 101)],
        [*standing(1, 0, 4, seg=50), *standing(2, 5, 4, seg=50, dir=1)],
        [*standing(1, 0, 4, seg=50), *standing(2, 5, 4, seg=50, xway=1)],
        [*standing(1, 0, 4, seg=50), *standing(2, 120, 4, seg=50)],
        [*standing(1, 0, 4, seg=50), row(120, 1, seg=50, pos=51 * MILE_FT - 1), *standing(2, 30, 4, seg=50)],
        [*standing(1, 0, 3, seg=50), *standing(1, 150, 2, seg=50), *standing(2, 85, 4, seg=50)],
        [row(0, 1, spd=0, seg=50, lane=3), *standing(1, 30, 3, seg=50), *standing(2, 5, 4, seg=50)],
        [*standing(1, 0, 9, seg=50)],
        [*standing(1, 0, 4, seg=50, lane=0), *standing(2, 5, 4, seg=50, lane=0)],
    ],
    ids=[
        "three reports",
        "lanes",
        "places",
        "directions",
        "expressways",
        "in turn",
        "just apart",
        "two trips",
        "changed lane",
        "alone",
        "ramp",
    ],
)
def test_these_are_no_accidents(say: Say, rows: list[Row]) -> None:
    assert alerts(say, rows) == set()


def test_an_accident_waives_the_toll(say: Say) -> None:
    crash = [*standing(501, 0, 4, seg=12), *standing(502, 5, 4, seg=12)]
    rows = [*crowd(61, minute=2), *crash, row(125, PROBE), row(185, PROBE + 1)]
    assert [each for each in say("tolls", rows) if each[0] == PROBE] == [(PROBE, 125, 20, 0)]
    assert [
        each[3] for each in say("tolls", [*crowd(61, minute=2), row(125, PROBE)]) if each[0] == PROBE
    ] == [242]


def test_a_toll_is_charged_when_the_next_segment_is_entered(say: Say) -> None:
    trip = [row(60, PROBE, seg=9), row(90, PROBE), row(120, PROBE, seg=11, lane=EXIT)]
    asks = [row(time, PROBE, type=2, qid=time) for time in (60, 90, 120, 121, 150)]
    rows = [*crowd(61, minute=1), *trip, *asks]
    expected = [(60, 0), (90, 0), (120, 0), (121, 242), (150, 242)]
    assert [(qid, balance) for qid, _, _, balance in say("balances", rows)] == expected


def test_the_toll_of_the_segment_in_which_a_car_leaves_is_not_charged(say: Say) -> None:
    trip = [row(60, PROBE, seg=9), row(90, PROBE), row(120, PROBE, pos=11 * MILE_FT - 1, lane=EXIT)]
    again = [row(240, PROBE, seg=30), row(270, PROBE, seg=31)]
    asks = [row(time, PROBE, type=2, qid=time) for time in (121, 271)]
    rows = [*crowd(61, minute=1), *trip, *again, *asks]
    assert [(qid, balance) for qid, _, _, balance in say("balances", rows)] == [(121, 0), (271, 0)]


def test_an_expenditure_is_looked_up_by_car_day_and_expressway(say: Say) -> None:
    past = pa.table(
        {"vid": [7, 7, 8], "day": [3, 4, 3], "xway": [0, 0, 1], "toll": [30, 40, 50]},
        schema=NO_HISTORY.schema,
    )
    asks = [(7, 3, 0), (7, 4, 0), (8, 3, 1), (8, 3, 0), (9, 3, 0)]
    rows = [
        row(5, vid, type=EXPENDITURE, qid=number, day=day, xway=xway)
        for number, (vid, day, xway) in enumerate(asks)
    ]
    assert [spent for *_, spent in say("expenditures", rows, past)] == [30, 40, 50, 0, 0]


# --- the traffic


def test_traffic_is_that_of_its_seed() -> None:
    small = replace(CROWDED, reports_per_s=20)
    assert generated(small).equals(generated(small))
    assert not generated(small).equals(generated(replace(small, seed=4)))


def test_traffic_has_the_published_shape() -> None:
    """Each car reports every 30 s, enters by a ramp, leaves by one and drives in one direction."""
    traffic = generated(replace(CROWDED, seed=5, reports_per_s=100, duration_s=20 * 60)).to_pandas()
    assert traffic["time"].is_monotonic_increasing
    reports = traffic[traffic["type"] == 0].sort_values(["vid", "time"], kind="stable")
    gaps = reports.groupby("vid")["time"].diff()
    begins = gaps != PERIOD_S
    assert gaps[begins].dropna().min() > 60, "a car comes back after more than a minute"
    assert (reports[begins]["lane"] == 0).all()
    ends = begins.shift(-1, fill_value=True) & (reports["time"] < 20 * 60 - PERIOD_S)
    assert (reports[ends]["lane"] == EXIT).all()
    assert reports[~begins & ~ends]["lane"].isin([1, 2, 3, EXIT]).all()
    assert (reports["seg"] == reports["pos"] // MILE_FT).all()
    assert reports["pos"].between(0, 100 * MILE_FT - 1).all()
    assert reports["spd"].between(0, 100).all()
    moves = reports["pos"].diff()[~begins]
    assert (moves[reports["dir"] == 0] >= 0).all()
    assert (moves[reports["dir"] == 1] <= 0).all()
    asked = traffic["type"].value_counts(normalize=True)
    assert asked[2] + asked[3] + asked[4] == pytest.approx(0.01, abs=0.004)
    last = (reports["time"] >= 20 * 60 - PERIOD_S).sum() / PERIOD_S
    assert last == pytest.approx(2 * 100, rel=0.02), "two expressways of a hundred reports a second"


def test_traffic_may_begin_late() -> None:
    shape = replace(CROWDED, reports_per_s=20)
    whole, end = generated(shape), pa.concat_tables(list(Traffic(shape).rounds(first=10)))
    assert end.combine_chunks().equals(whole.slice(len(whole) - len(end)).combine_chunks())


def test_the_reports_of_a_second_arrive_within_it() -> None:
    arrivals = Arrivals(np.array([60, 60, 60, 62, 62]))
    moments = arrivals.at(np.arange(5))
    assert moments.tolist() == pytest.approx([0.25, 0.5, 0.75, 2 + 1 / 3, 2 + 2 / 3])
    assert [arrivals.until(moment) for moment in (0.0, 0.4, 1.0, 1.5, 2.0, 99.0)] == [0, 1, 3, 3, 3, 5]


def test_the_benchmark_compares_what_it_measures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from benchmarks.linear_road.__main__ import main

    given = f"x --expressways 1 --past 4 --live 0.05 --rate 30 --scratch {tmp_path}"
    monkeypatch.setattr("sys.argv", given.split())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found.keys() == {"expressways", "p99_s", "wrong"}
    assert found["wrong"] == 0


# --- real data


def test_published_reports_are_priced_as_by_others(data_dir: Path, network: australis.Network) -> None:
    """Entries and tolls are those of a third party, and of SQL.

    Its velocity is the average of all readings, where the paper averages the averages of cars. Cars of this
    data report at other distances than 30 s, up to three times a minute, and the network reckons with two.
    """
    blanks = (data_dir / "linear_road" / "positions.txt").read_text().split()
    numbers = np.array(blanks, np.int32).reshape(-1, 7)
    names = ("time", "vid", "spd", "xway", "lane", "dir", "pos")
    given = dict(zip(names, numbers.T, strict=True))
    given |= {"time": given["time"] - 1, "seg": given["pos"] // MILE_FT, "type": np.zeros(len(numbers))}
    columns = [pa.array(given.get(name, np.full(len(numbers), -1)).astype(np.int32)) for name in ATTRIBUTES]
    traffic = pa.table(columns, schema=SCHEMA)
    found = on_kernels(network, traffic, NO_HISTORY)
    lines = pa_csv.read_csv(
        data_dir / "linear_road" / "expected_first_300s.csv",
        read_options=pa_csv.ReadOptions(column_names=["type", "vid", "time", "lav", "toll"]),
    )
    theirs = told(lines)
    ours = {key: each for key, each in told(found["tolls"]).items() if key[1] <= 300}
    sql = told(Expected(traffic, NO_HISTORY).rows("tolls"))
    assert theirs.keys() == ours.keys()
    assert all(toll == theirs[key][1] == sql[key][1] for key, (_, toll) in ours.items())
    assert max(abs(lav - sql[key][0]) for key, (lav, _) in ours.items()) <= 1


def told(tolls: pa.Table) -> dict[tuple[int, int], tuple[int, int]]:
    """Velocity and toll by car and time."""
    return {(each["vid"], each["time"]): (each["lav"], each["toll"]) for each in tolls.to_pylist()}
