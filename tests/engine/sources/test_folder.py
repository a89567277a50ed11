"""A folder: files as they come, each once, by name, and only when they are complete."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.files.test_dialects import PACKED, archive
from tests.engine.sources.virtual import Ledger, VirtualWaiter, run

from australis.algebra.schema import parse_schema
from australis.engine.sources import FolderSource, Options, Rate, SignalWaiter, feed, parse_source
from australis.errors import EngineError

SCHEMA = parse_schema("n int")
FOLLOW = Options(follow=True, poll_seconds=0.25, settle_seconds=0.5)


def write(path: Path, *values: int) -> None:
    path.write_text("n\n" + "".join(f"{value}\n" for value in values))


def plan(moment: float, path: Path, *values: int) -> tuple[float, Callable[[], None]]:
    return moment, lambda: write(path, *values)


def arrivals(source: FolderSource, waiter: VirtualWaiter, ledger: Ledger) -> list[tuple[float, int]]:
    """When which number was taken."""
    seen = []
    for delivery in source.start(ledger.position, waiter).deliveries():
        assert isinstance(delivery.content, pa.Table)
        seen += [(waiter.now(), n) for n in delivery.content["n"].to_pylist()]
        ledger.push("x", delivery.content, position=(delivery.source, delivery.position))
    return seen


def test_files_are_taken_by_name(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", 3, 4)
    write(tmp_path / "a.csv", 1, 2)
    (tmp_path / "c.jsonl").write_text('{"n": 5}\n')
    pq.write_table(pa.table({"n": pa.array([6], pa.int32())}), tmp_path / "d.parquet")
    for hidden in (".e.csv", "_SUCCESS", "f.csv.tmp"):
        (tmp_path / hidden).write_text("no tuples")
    (tmp_path / "folder.csv").mkdir()
    ledger = Ledger()
    source = parse_source("x", str(tmp_path), SCHEMA)
    assert [run(ledger, source), run(ledger, source)] == [4, 0]
    assert [row["n"] for row in ledger.rows["x"]] == [1, 2, 3, 4, 5, 6]
    assert ledger.adopted == [str((tmp_path / "d.parquet").resolve())]


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_files_of_all_packings_lie_side_by_side(tmp_path: Path, batch: int) -> None:
    write(tmp_path / "a.csv", 1, 2)
    for suffix, pack in PACKED.items():
        (tmp_path / f"b.csv.{suffix}").write_bytes(pack(f"n\n{len(suffix)}\n7\n".encode()))
    archive(tmp_path / "c.zip", {"y.csv": "n\n9\n", "x.jsonl": '{"n": 8}\n'})
    (tmp_path / "d.log").write_text("#fields\tn\tm\n10\t-\n#close\tnow\n")
    ledger = Ledger()
    source = parse_source("x", str(tmp_path), SCHEMA, Options(batch=batch))
    while run(ledger, source, most=1):
        pass
    assert [row["n"] for row in ledger.rows["x"]] == [1, 2, 3, 7, 2, 7, 3, 7, 8, 9, 10]


def test_files_that_come_are_taken_when_they_are_complete(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", 1)
    write(tmp_path / "hidden.csv.tmp", 5)
    grows = tmp_path / "c.csv"
    waiter = VirtualWaiter(
        plan(1.0, grows, 2),
        plan(1.5, grows, 2, 3),
        plan(3.0, tmp_path / "a.csv", 4),
        (4.0, lambda: (tmp_path / "hidden.csv.tmp").rename(tmp_path / "d.csv")),
        ends=6.0,
    )
    source = FolderSource("x", str(tmp_path), SCHEMA, FOLLOW)
    expected = [(0.5, 1), (2.0, 2), (2.0, 3), (3.5, 4), (4.5, 5)]
    assert arrivals(source, waiter, Ledger()) == expected


def test_where_files_are_renamed_in_they_are_taken_at_once(tmp_path: Path) -> None:
    options = Options(follow=True, poll_seconds=0.25, settle_seconds=0)
    waiter = VirtualWaiter(plan(1.0, tmp_path / "a.csv", 1), ends=2.0)
    assert arrivals(FolderSource("x", str(tmp_path), SCHEMA, options), waiter, Ledger()) == [(1.0, 1)]


def test_a_run_goes_on_in_the_middle_of_a_file(tmp_path: Path) -> None:
    for name, values in {"a": (1, 2, 3), "b": (4, 5), "c": (6,)}.items():
        write(tmp_path / f"{name}.csv", *values)
    whole = FolderSource("x", str(tmp_path), SCHEMA, Options(batch=2))
    ledger = Ledger()
    turns = [whole.start(ledger.position, VirtualWaiter()).turn]
    while run(ledger, whole, most=1):
        turns.append(whole.start(ledger.position, VirtualWaiter()).turn)
    assert [row["n"] for row in ledger.rows["x"]] == [1, 2, 3, 4, 5, 6]
    assert turns == [0, 1, 2, 3, 4]
    write(tmp_path / "aa.csv", 7)
    run(ledger, whole)
    assert ledger.rows["x"][-1] == {"n": 7}


def test_a_replay_goes_over_the_files(tmp_path: Path) -> None:
    for name, values in {"a": (1, 2, 3), "b": (4, 5)}.items():
        write(tmp_path / f"{name}.csv", *values)
    source = FolderSource("x", str(tmp_path), SCHEMA, Options(replay=Rate(2)))
    expected = [(0.0, 1), (0.5, 2), (1.0, 3), (1.5, 4), (2.0, 5)]
    assert arrivals(source, VirtualWaiter(), Ledger()) == expected


def test_a_file_that_was_changed_since_it_was_taken_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", 1, 2, 3)
    ledger = Ledger()
    source = FolderSource("x", str(tmp_path), SCHEMA)
    run(ledger, source)
    write(tmp_path / "a.csv", 9)
    with pytest.raises(EngineError, match=r"a\.csv: has 4 bytes and had 8 when it was last read"):
        run(ledger, source)


def test_what_is_no_folder_of_files(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="there is no such folder"):
        run(Ledger(), FolderSource("x", str(tmp_path / "none"), SCHEMA))
    (tmp_path / "notes.txt").write_text("?")
    with pytest.raises(EngineError, match=r"notes\.txt: its name has no known extension"):
        run(Ledger(), FolderSource("x", str(tmp_path), SCHEMA))


def test_files_arrive_while_threads_run_and_the_end_comes_at_once(tmp_path: Path) -> None:
    """The clock of the machine and two folders: a file is written when the one before was taken."""
    folders = [tmp_path / name for name in "xy"]
    for folder in folders:
        folder.mkdir()
    waiter, ledger, lock = SignalWaiter(), Ledger(), threading.Lock()
    options = Options(follow=True, poll_seconds=0.01, settle_seconds=0)
    sources = [FolderSource(folder.name, str(folder), SCHEMA, options) for folder in folders]
    counts = {folder.name: 0 for folder in folders}

    def bring(name: str) -> None:
        hidden = tmp_path / f"{name}.tmp"
        write(hidden, counts[name])
        hidden.rename(tmp_path / name / f"{counts[name]}.csv")

    def heard(delivery: object) -> None:
        name = delivery.input  # type: ignore[attr-defined]
        with lock:
            counts[name] += 1
            if all(count >= 5 for count in counts.values()):
                waiter.end()
        bring(name)

    for folder in folders:
        bring(folder.name)
    feed(ledger, sources, waiter, heard)
    for name, count in counts.items():
        assert [row["n"] for row in ledger.rows[name]] == list(range(count))


def test_a_rejected_row_names_the_file_of_the_folder(tmp_path: Path) -> None:
    needed = parse_schema("n int not null")
    (tmp_path / "a.csv").write_text("n\n1\nx\n")
    (tmp_path / "b.jsonl").write_text('{"n": 2}\n{"n": "y"}\n')
    pq.write_table(pa.table({"n": pa.array([3, None], pa.int32())}), tmp_path / "c.parquet")
    ledger = Ledger()
    run(ledger, parse_source("x", str(tmp_path), needed))
    assert ledger.rejected == [
        f"{tmp_path}/a.csv, line 3: 'x' in attribute n is no int",
        f"{tmp_path}/b.jsonl, line 2: 'y' in attribute n is a string; expected a JSON number",
        f"{tmp_path}/c.parquet, row 2: 'n' is NULL, which its schema does not allow",
    ]


def test_a_remark_is_made_once_for_a_folder(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jsonl").write_text('{"m": 2}\n' if name == "c" else '{"n": 2, "more": 1}\n')
    source = parse_source("x", str(tmp_path), SCHEMA)
    assert feed(Ledger(), [source], SignalWaiter()) == (
        f"{tmp_path}/a.jsonl: field 'more' is not in the schema and is ignored",
        f"{tmp_path}/c.jsonl: field 'm' is not in the schema and is ignored",
    )
