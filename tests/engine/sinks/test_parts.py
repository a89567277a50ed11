"""When a part of a Parquet sink is written: it is large enough, or the last one is old enough."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples

from australis.engine.sinks import Kept, ParquetSink, PartLimits, RunningSink
from australis.errors import EngineError


@dataclass
class Clock:
    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


class CrowdedShelf(Shelf):
    """A shelf whose room others wait for."""

    def kept(self, output: str, begin: int, rows: int | None = None) -> Kept:
        return replace(super().kept(output, begin, rows), is_in_the_way=True)


def sink_of(folder: Path, clock: Clock, limits: PartLimits) -> ParquetSink:
    return ParquetSink("out", str(folder / "out.parquet"), SCHEMA, limits=limits, clock=clock)


def write_due(running: RunningSink, *, is_last: bool = False) -> None:
    for step in running.steps([], lambda table: None, is_last=is_last):  # type: ignore[arg-type]
        step()


def parts(folder: Path) -> list[list[int]]:
    """The numbers in each part."""
    found = sorted((folder / "out.parquet").glob("*.parquet"))
    return [pq.read_table(path)["n"].to_pylist() for path in found]


def test_a_part_is_written_when_the_last_one_is_old_enough(tmp_path: Path) -> None:
    clock = Clock()
    sink = sink_of(tmp_path, clock, PartLimits(every_s=30))
    first = sink.start(Shelf(tmp_path, tuples(6)))
    write_due(first)
    assert parts(tmp_path) == [[*range(6)]], "the first comes at once"
    assert first.rest_s is None, "nothing waits"

    running = sink.start(Shelf(tmp_path, tuples(9)))
    write_due(running)
    grown = Shelf(tmp_path, tuples(15))
    running._outlet = grown
    clock.seconds += 29
    write_due(running)
    assert len(parts(tmp_path)) == 2
    assert running.rest_s == 1, "the rest of the interval"
    assert grown.consumer(sink.consumer, "out")[0] <= 30, "tuples that wait are not acknowledged"
    clock.seconds += 1
    write_due(running)
    assert parts(tmp_path) == [[*range(6)], [6, 7, 8], [*range(9, 15)]]


def test_a_part_is_written_when_there_is_enough_for_it(tmp_path: Path) -> None:
    clock = Clock()
    sink = sink_of(tmp_path, clock, PartLimits(bytes=120, every_s=30))
    running = sink.start(Shelf(tmp_path, tuples(3)))
    write_due(running)
    running._outlet = Shelf(tmp_path, tuples(14))
    write_due(running)
    assert parts(tmp_path) == [[0, 1, 2]], "11 tuples count 110 bytes"
    running._outlet = Shelf(tmp_path, tuples(15))
    write_due(running)
    assert parts(tmp_path) == [[0, 1, 2], [*range(3, 9)]], "one is full with the first table"
    assert running.rest_s == 1, "and of the others there are too few"


def test_what_waits_is_written_at_the_end_and_when_others_need_the_room(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, Clock(), PartLimits(every_s=30))
    running = sink.start(Shelf(tmp_path, tuples(3)))
    write_due(running)
    running._outlet = Shelf(tmp_path, tuples(6))
    write_due(running)
    assert parts(tmp_path) == [[0, 1, 2]]
    write_due(running, is_last=True)
    assert parts(tmp_path) == [[0, 1, 2], [3, 4, 5]]
    running._outlet = CrowdedShelf(tmp_path, tuples(9))
    write_due(running)
    assert parts(tmp_path) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_many_tables_become_one_part_with_a_row_group_each(tmp_path: Path) -> None:
    sink = sink_of(tmp_path, Clock(), PartLimits())
    write_due(sink.start(Shelf(tmp_path, tuples(60), step=50)))
    (part,) = os.listdir(tmp_path / "out.parquet")
    assert part == "part-0000000000000000005-0000000000000000195.parquet"
    assert pq.ParquetFile(tmp_path / "out.parquet" / part).num_row_groups == 4


@pytest.mark.parametrize(("limits", "reason"), [({"bytes": 0}, "no size"), ({"every_s": -1}, "no time")])
def test_limits_that_are_none_are_refused(limits: dict[str, int], reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        PartLimits(**limits)
