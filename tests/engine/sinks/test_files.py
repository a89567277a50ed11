"""Sinks that are files: what stands in them, what is refused, and what is left when a disk is full."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.crash.disks import small_disk
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples
from tests.engine.sources.virtual import Ledger, run

from australis.algebra.schema import parse_schema
from australis.engine.files import open_reader, open_writer
from australis.engine.sinks import ParquetSink, PartLimits, TextFileSink, parse_sink, write_out
from australis.engine.sources import FolderSource
from australis.errors import EngineError

ROOT = Path(__file__).parents[3]
TEXTS = ("out.csv", "out.tsv", "out.jsonl", "out.csv.gz", "out.jsonl.gz")


def written(shelf: Shelf, path: Path, *, replace: bool = False, part_bytes: int = 1) -> None:
    """Write what an output holds; each table is a part, unless parts are to be larger."""
    limits = PartLimits(part_bytes)
    write_out(shelf, parse_sink("out", str(path), SCHEMA, replace=replace, limits=limits))


def read(path: Path) -> list[dict[str, object]]:
    with open_reader(str(path), SCHEMA) as reader:
        batches = list(reader.batches())
    assert not any(batch.rejected for batch in batches)
    return [row for batch in batches for row in batch.table.to_pylist()]


def expected(count: int) -> list[dict[str, object]]:
    return tuples(count).select(list(SCHEMA.names)).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_file_grows_by_appends(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for count in (9, 9, 24):
        written(Shelf(tmp_path, tuples(count)), path)
        assert read(path) == expected(count)
    writer = open_writer(str(tmp_path / f"once.{name}"), SCHEMA)
    writer.write(tuples(24))
    writer.commit()
    whole = (tmp_path / f"once.{name}").read_bytes()
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()) == gzip.decompress(whole)
    else:
        assert path.read_bytes() == whole


@pytest.mark.parametrize("name", TEXTS)
def test_a_half_written_tail_never_stays(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written(Shelf(tmp_path, tuples(10)), path)
    for tail in (b"1", b"1,half a line", b"x" * 5000):
        with path.open("ab") as file:
            file.write(tail)
        written(Shelf(tmp_path, tuples(10)), path)
        assert read(path) == expected(10)


def test_a_file_that_is_not_as_it_was_left_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    written(Shelf(tmp_path, tuples(9)), path)
    data = path.read_bytes()
    for changed, reason in (
        (data[:-1], rf"out\.csv: has {len(data) - 1} bytes, and {len(data)} were written to it"),
        (data[:-2] + b"?\n" + b"more", rf"its first {len(data)} bytes do not end as they were written"),
        (b"", rf"has 0 bytes, and {len(data)} were written to it"),
    ):
        path.write_bytes(changed)
        with pytest.raises(EngineError, match=f"{reason}; expected the file as it was left"):
            written(Shelf(tmp_path, tuples(20)), path)
        assert path.read_bytes() == changed
    path.unlink()
    with pytest.raises(EngineError, match=rf"out\.csv: is gone, and {len(data)} bytes were written to it"):
        written(Shelf(tmp_path, tuples(20)), path)
    assert not path.exists()
    path.write_bytes(data)
    written(Shelf(tmp_path, tuples(21)), path)
    assert read(path) == expected(21)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_what_others_wrote_is_kept_unless_it_is_to_be_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        written(Shelf(tmp_path, tuples(40)), path)
        (tmp_path / "consumers.sqlite").unlink()
    else:
        path.write_text("what was there before")
    with pytest.raises(EngineError, match=rf"{name}: .* already, and this node did not write"):
        written(Shelf(tmp_path, tuples(10)), path)
    written(Shelf(tmp_path, tuples(10)), path, replace=True)
    if name.endswith("parquet"):
        assert pq.read_table(path).to_pylist() == expected(10)
    else:
        assert read(path) == expected(10)


def test_parts_are_named_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    written(Shelf(tmp_path, tuples(18)), path)
    assert sorted(os.listdir(path)) == [
        "part-0000000000000000005-0000000000000000015.parquet",
        "part-0000000000000000025-0000000000000000035.parquet",
        "part-0000000000000000045-0000000000000000055.parquet",
    ]
    assert pq.read_table(path).to_pylist() == expected(18)


def test_parts_may_be_taken_away_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    written(Shelf(tmp_path, tuples(18)), path)
    for part in sorted(path.glob("part-*"))[:2]:
        part.unlink()
    (path / "notes.txt").write_text("mine")
    (path / ".part-7.parquet.1.part").write_text("never finished")
    written(Shelf(tmp_path, tuples(24)), path)
    assert [row["n"] for row in pq.read_table(sorted(path.glob("part-*"))).to_pylist()] == [*range(12, 24)]
    assert sorted(os.listdir(path))[0] == "notes.txt"


def test_parts_are_a_source_again(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    written(Shelf(tmp_path, tuples(18)), path)
    ledger = Ledger()
    run(ledger, FolderSource("x", str(path), SCHEMA))
    assert ledger.rows["x"] == expected(18)
    assert len(ledger.adopted) == 3


def test_an_output_without_tuples_is_a_file_with_a_header(tmp_path: Path) -> None:
    sink = TextFileSink("out", str(tmp_path / "out.csv"), SCHEMA)
    for _ in range(2):
        sink.start(Shelf(tmp_path, tuples(1))).close()
        assert (tmp_path / "out.csv").read_text() == "n,word,half\n"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    written(Shelf(tmp_path, tuples(3)), tmp_path / "link.csv")
    assert read(tmp_path / "real.csv") == expected(3)
    assert (tmp_path / "link.csv").is_symlink()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.parquet").write_text("")
    no_folder = "cannot be written: No such file or directory; expected a folder that is there"
    for path, reason in {
        "nowhere/out.csv": no_folder,
        "nowhere/out.parquet": no_folder,
        "file/out.csv": "cannot be written: Not a directory",
        "folder.csv": "cannot be written: Is a directory",
        "file.parquet": "is a file; expected a folder for Parquet files, or a free name",
        "out.txt": "its name has no known extension",
    }.items():
        with pytest.raises(EngineError, match=f"{path}: {reason}"):
            written(Shelf(tmp_path, tuples(3)), tmp_path / path)


@pytest.mark.skipif(
    not Path("/sys/kernel").exists(), reason="a place that not even root can write is Linux's"
)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_place_that_is_read_only(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        EngineError, match=rf"/sys/kernel/{name}: cannot be written: .*(permitted|denied|Read-only)"
    ):
        written(Shelf(tmp_path, tuples(3)), Path("/sys/kernel") / name)


def test_a_time_without_a_text_is_refused_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    schema = parse_schema("t timestamp")
    table = pa.table({"t": pa.array([2**62], schema["t"].type.arrow), "#seq": pa.array([0], pa.int64())})
    with pytest.raises(EngineError, match=r"out\.csv: a timestamp lies outside the years 1 to 9999"):
        write_out(Shelf(tmp_path, table), TextFileSink("out", str(tmp_path / "out.csv"), schema))
    assert (tmp_path / "out.csv").read_text() == "t\n"


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file of this process may be longer: the kernel refuses what a full disk refuses."""
    size = 64 << 10
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    yield size
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_a_write_that_fails_half_way_leaves_what_was_acknowledged(
    tmp_path: Path, name: str, small_files: int
) -> None:
    path = tmp_path / name
    first = Shelf(tmp_path, tuples(30))
    written(first, path)
    more = Shelf(tmp_path, tuples(100_000), step=1_000_000)
    with pytest.raises(EngineError, match=rf"{name}.*: cannot be written: File too large"):
        written(more, path)
    if name.endswith("parquet"):
        assert pq.read_table(path).to_pylist() == expected(30)
    else:
        assert read(path) == expected(30)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    written(more, path)
    count = pq.read_table(path).num_rows if name.endswith("parquet") else len(read(path))
    assert count == 100_000


@pytest.fixture
def full_disk() -> Iterator[Path]:
    """A disk of 256 KiB, where we may mount one."""
    with small_disk(256 << 10) as disk:
        if disk is None:
            pytest.skip("a small disk can be mounted only by root, outside a container")
        yield disk.path


@pytest.mark.parametrize("sink", [TextFileSink, ParquetSink])
def test_a_full_disk(tmp_path: Path, full_disk: Path, sink: type[TextFileSink] | type[ParquetSink]) -> None:
    path = full_disk / ("out.csv" if sink is TextFileSink else "out.parquet")
    written(Shelf(tmp_path, tuples(30)), path)
    with pytest.raises(EngineError, match=r"out\..*: cannot be written: No space left on device"):
        written(Shelf(tmp_path, tuples(100_000), step=1_000_000), path)
    left = pq.read_table(path).to_pylist() if path.is_dir() else read(path)
    assert left == expected(30)


def test_standard_output_is_json_lines(tmp_path: Path) -> None:
    program = dedent(
        """
        import sys
        from pathlib import Path
        from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples
        from australis.engine.sinks import parse_sink, write_out
        shelf = Shelf(Path(sys.argv[1]), tuples(4))
        write_out(shelf, parse_sink("out", "-", SCHEMA))
        """
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    first = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert first.stdout.splitlines()[0] == '{"n":0,"word":null,"half":0}'
    assert len(first.stdout.splitlines()) == 4
    again = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert again.stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is Linux's")
def test_a_device_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "out.csv").symlink_to("/dev/full")
    with pytest.raises(EngineError, match=r"out\.csv: cannot be written: No space left on device"):
        written(Shelf(tmp_path, tuples(3)), tmp_path / "out.csv")
