"""One file: taken once, in the same steps, wherever it is cut; refused if it is another one by now."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.files.test_dialects import PACKED
from tests.engine.sources.virtual import Ledger, VirtualWaiter, plain, run

from australis.algebra.schema import parse_schema
from australis.algebra.store import FileFormat
from australis.engine.files import blocks, parquet_reader
from australis.engine.sources import (
    AS_IT_IS,
    Adoption,
    FileSource,
    Options,
    Rate,
    SignalWaiter,
    Speed,
    parse_source,
)
from australis.errors import EngineError

ROOT = Path(__file__).parents[3]
SCHEMA = parse_schema("sid int not null, time long, word string")
TEXTS = (
    "csv",
    "tsv",
    "jsonl",
    "csv.gz",
    "jsonl.gz",
    "csv.bz2",
    "csv.zst",
    "jsonl.zst",
    "log",
    "log.gz",
    "zip",
    "bare.zip",
)
BARE = FileFormat("csv", header=False)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a file of some hundred bytes has several, and many a record lies across a border."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(parquet_reader, "BATCH_ROWS", 4)


def write(folder: Path, extension: str, rows: int = 30) -> str:
    """A file in which every seventh row is none of the schema."""
    path = folder / f"rows.{extension}"
    numbers = [None if row % 7 == 3 else row for row in range(rows)]
    if extension == "parquet":
        columns = {"sid": pa.array(numbers, pa.int32()), "time": pa.array(range(rows), pa.int32())}
        words = pa.array([f"word {row}" for row in range(rows)])
        pq.write_table(pa.table({**columns, "word": words}), path, row_group_size=6)
        return str(path)
    name, _, packing = extension.partition(".")
    lines = [line(name, row, number) for row, number in enumerate(numbers)]
    if extension.endswith("zip"):
        return archive(path, lines, HEADERS["csv"] if extension == "zip" else "")
    data = (HEADERS.get(name, "") + "\n".join(lines) + "\n").replace(",", "\t" if name == "tsv" else ",")
    path.write_bytes(PACKED.get(packing, bytes)(data.encode()))
    return str(path)


def archive(path: Path, lines: list[str], header: str) -> str:
    """The rows in three files of an archive; one of them is empty."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for number, part in enumerate((lines[:11], [], lines[11:])):
            made.writestr(f"{number}.csv", header + "".join(f"{line}\n" for line in part))
    return str(path)


def source_of(path: str, options: Options = AS_IT_IS) -> FileSource:
    bare = BARE if path.endswith("bare.zip") else None
    return FileSource("x", path, SCHEMA, replace(options, format=bare))


HEADERS = {
    "csv": "sid,time,word\n",
    "tsv": "sid,time,word\n",
    "log": "#separator \\x09\n#fields\tsid\ttime\tword\n#types\tcount\tcount\tstring\n",
}


def line(name: str, row: int, number: int | None) -> str:
    if name == "log":
        about = "#close\tnow\n" if row == 9 else ""
        return f"{about}{'bad' if number is None else number}\t{row}\tword {row}"
    if name == "jsonl":
        return f'{{"sid": {"null" if number is None else number}, "time": {row}, "word": "word {row}"}}'
    return f'{"bad" if number is None else number},{row},"word{chr(10) if row % 5 == 0 else " "}{row}"'


@pytest.mark.parametrize("extension", [*TEXTS, "parquet"])
@pytest.mark.parametrize("batch", [1, 3, 7, 1000])
def test_a_run_goes_on_as_if_it_had_never_ended(tmp_path: Path, extension: str, batch: int) -> None:
    source = source_of(write(tmp_path, extension), Options(batch=batch))
    whole = plain(source.start(lambda source: None, VirtualWaiter()).deliveries())
    assert sum(len(rows) for _, rows, *_ in whole) == 26  # type: ignore[arg-type, misc]
    for cut in range(len(whole) + 1):
        ledger = Ledger()
        run(ledger, source, most=cut)
        assert plain(source.start(ledger.position, VirtualWaiter()).deliveries()) == whole[cut:]


@pytest.mark.parametrize("extension", [*TEXTS, "parquet"])
@pytest.mark.parametrize("replay", [Rate(100), Speed(50, "time")])
def test_a_replay_goes_on_anywhere(tmp_path: Path, extension: str, replay: Rate | Speed) -> None:
    path = write(tmp_path, extension)
    whole, pieces = Ledger(), Ledger()
    run(whole, source_of(path))
    source = source_of(path, Options(replay=replay))
    while run(pieces, source, most=1):
        pass
    assert len(whole.rejected) == 4
    assert (pieces.rows, pieces.rejected) == (whole.rows, whole.rejected)


def test_a_reason_names_the_line_also_behind_a_cut(tmp_path: Path) -> None:
    ledger = Ledger()
    source = FileSource("x", write(tmp_path, "csv"), SCHEMA, Options(batch=2))
    while run(ledger, source, most=1):
        pass
    assert ledger.rejected[-1].startswith(f"{source.path}, line 31: 'bad' in attribute sid is no int")


def test_a_file_that_was_taken_is_not_opened_again(tmp_path: Path) -> None:
    ledger = Ledger()
    source = FileSource("x", write(tmp_path, "jsonl"), SCHEMA)
    assert [run(ledger, source), run(ledger, source)] == [1, 0]


def test_a_row_of_an_archive_is_rejected_with_its_file_and_line(tmp_path: Path) -> None:
    ledger = Ledger()
    source = source_of(write(tmp_path, "zip"), Options(batch=2))
    while run(ledger, source, most=1):
        pass
    assert [reason.removeprefix(f"{source.path}/").partition(":")[0] for reason in ledger.rejected] == [
        "0.csv, line 6",
        "0.csv, line 14",
        "2.csv, line 9",
        "2.csv, line 17",
    ]


@pytest.mark.parametrize("batch", [1, 2, 3, 5])
def test_small_files_of_an_archive_are_taken_once(tmp_path: Path, batch: int) -> None:
    """Each is one block that begins at 0, so only its name tells it from the next."""
    path = tmp_path / "bare.zip"
    with zipfile.ZipFile(path, "w") as made:
        for number in range(4):
            made.writestr(f"{number}.csv", "".join(f"{number}{n},1,x\n" for n in range(3)))
    source = source_of(str(path), Options(batch=batch))
    whole = plain(source.start(lambda source: None, VirtualWaiter()).deliveries())
    for cut in range(len(whole) + 1):
        ledger = Ledger()
        run(ledger, source, most=cut)
        run(ledger, source)
        assert [row["sid"] for row in ledger.rows["x"]] == [
            10 * file + n for file in range(4) for n in range(3)
        ]


def test_a_file_is_read_to_its_end_in_one_format(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("".join(f"{n};{n};x\n" for n in range(20)))
    bars, semicolons = (replace(BARE, separator=each) for each in "|;")
    ledger = Ledger()
    source = FileSource("x", str(path), SCHEMA, Options(batch=5, format=semicolons))
    run(ledger, source, most=2)
    other = FileSource("x", str(path), SCHEMA, Options(batch=5, format=bars))
    with pytest.raises(EngineError, match="the same format to its end"):
        run(ledger, other)
    run(ledger, source)
    assert [row["sid"] for row in ledger.rows["x"]] == list(range(20))


def test_a_file_without_a_header_is_followed_from_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("1 1 a\n")
    waiter = VirtualWaiter(
        (1.0, lambda: path.write_text("1 1 a\n2 2 b\n3 3")),
        (2.0, lambda: path.write_text("1 1 a\n2 2 b\n3 3 c\n")),
        ends=3.0,
    )
    blanks = FileFormat("csv", header=False, separator="blanks")
    source = FileSource("x", str(path), SCHEMA, Options(follow=True, poll_seconds=0.25, format=blanks))
    seen = []
    for delivery in source.start(lambda source: None, waiter).deliveries():
        assert isinstance(delivery.content, pa.Table)
        seen.append((waiter.now(), delivery.content["word"].to_pylist()))
    assert seen == [(0.0, ["a"]), (1.0, ["b"]), (2.0, ["c"])]


def test_what_was_appended_meanwhile_is_taken_too(tmp_path: Path) -> None:
    ledger = Ledger()
    source = FileSource("x", write(tmp_path, "csv"), SCHEMA)
    run(ledger, source)
    with open(source.path, "a") as file:
        file.write("100,100,new\n")
    run(ledger, source)
    assert ledger.rows["x"][-1] == {"sid": 100, "time": 100, "word": "new"}
    assert len(ledger.rows["x"]) == 27


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "csv.zst", "zip", "parquet"])
def test_another_file_under_the_name_is_refused(tmp_path: Path, extension: str) -> None:
    ledger = Ledger()
    source = FileSource("x", write(tmp_path, extension), SCHEMA, Options(batch=5))
    run(ledger, source, most=2)
    data = Path(source.path).read_bytes()
    for changed, reason in (
        (data[:-1], r"has [\d,]+ bytes and had [\d,]+ when it was last read"),
        (b"x" + data[1:], "begins otherwise than when it was last read"),
    ):
        Path(source.path).write_bytes(changed)
        with pytest.raises(EngineError, match=rf"rows\.{extension}: {reason}; expected the file that was"):
            run(ledger, source)
    Path(source.path).unlink()
    with pytest.raises(EngineError, match="there is no such file"):
        run(ledger, source)


def test_a_parquet_file_is_adopted_unless_its_columns_have_to_change(tmp_path: Path) -> None:
    schema = parse_schema("sid int not null, time long")
    table = pa.table({"sid": pa.array([1, 2], pa.int32()), "time": pa.array([1, None], pa.int64())})
    path = tmp_path / "whole.parquet"
    pq.write_table(table, path)
    source = FileSource("x", str(path), schema)
    delivery = next(iter(source.start(lambda source: None, VirtualWaiter()).deliveries()))
    assert delivery.content == Adoption(str(path.resolve()), 2)
    ledger = Ledger()
    assert [run(ledger, source), run(ledger, source)] == [1, 0]
    assert ledger.rows["x"] == table.to_pylist()

    for name, other in {
        "nulls": pa.table({"sid": pa.array([1, None], pa.int32()), "time": table["time"]}),
        "types": pa.table({"sid": table["sid"], "time": table["time"].cast(pa.int16())}),
    }.items():
        pq.write_table(other, tmp_path / f"{name}.parquet")
        ledger = Ledger()
        run(ledger, FileSource("x", str(tmp_path / f"{name}.parquet"), schema))
        assert (ledger.adopted, len(ledger.rows["x"]) + len(ledger.rejected)) == ([], 2)
    pq.write_table(table, tmp_path / "packed.parquet", compression="lz4")
    run(ledger, FileSource("x", str(tmp_path / "packed.parquet"), schema))
    assert ledger.adopted == []


def test_an_adopted_file_may_not_even_grow(tmp_path: Path) -> None:
    schema, ledger = parse_schema("sid int"), Ledger()
    table = pa.table({"sid": pa.array([1, 2], pa.int32())})
    pq.write_table(table, tmp_path / "a.parquet")
    source = FileSource("x", str(tmp_path / "a.parquet"), schema)
    run(ledger, source)
    pq.write_table(pa.concat_tables([table] * 500), tmp_path / "a.parquet")
    with pytest.raises(EngineError, match=r"a\.parquet: (is another one|begins otherwise)"):
        run(ledger, source)


def test_a_growing_text_is_followed_by_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "grows.csv"
    path.write_text("sid,ti")

    def append(text: str) -> None:
        with path.open("a") as file:
            file.write(text)

    seen: list[tuple[float, object]] = []
    waiter = VirtualWaiter(
        (1.0, lambda: append("me,word\n1,1,a\n2,")),
        (2.0, lambda: append('2,"b')),
        (3.0, lambda: append('\nc"\n3,3,d\n4,4')),
        ends=5.0,
    )
    source = FileSource("x", str(path), SCHEMA, Options(follow=True, poll_seconds=0.5))
    ledger = Ledger()
    for delivery in source.start(ledger.position, waiter).deliveries():
        assert isinstance(delivery.content, pa.Table)
        seen += [(waiter.now(), row["word"]) for row in delivery.content.to_pylist()]
        ledger.push("x", delivery.content, position=(delivery.source, delivery.position))
    assert seen == [(1.0, "a"), (3.0, "b\nc"), (3.0, "d")]
    append(",e\n")
    run(ledger, source, VirtualWaiter(ends=1.0))
    assert [row["sid"] for row in ledger.rows["x"]] == [1, 2, 3, 4]


@pytest.mark.parametrize("replaced", [True, False])
def test_a_followed_file_that_is_cut_or_replaced_is_refused(tmp_path: Path, replaced: bool) -> None:
    path, other = tmp_path / "grows.jsonl", tmp_path / "other.jsonl"
    path.write_text('{"sid": 1}\n')
    other.write_text('{"sid": 2}\n{"sid": 3}\n')
    happens = (lambda: other.rename(path)) if replaced else (lambda: path.write_text("{"))
    source = FileSource("x", str(path), SCHEMA, Options(follow=True))
    ledger = Ledger()
    with pytest.raises(
        EngineError, match=r"grows\.jsonl: (was replaced|became shorter) while it was followed"
    ):
        run(ledger, source, VirtualWaiter((1.0, happens), ends=9.0))
    assert [row["sid"] for row in ledger.rows["x"]] == [1]


@pytest.mark.parametrize("extension", ["parquet", "csv.gz"])
def test_files_that_nobody_appends_to_are_not_followed(tmp_path: Path, extension: str) -> None:
    source = FileSource("x", write(tmp_path, extension), SCHEMA, Options(follow=True))
    with pytest.raises(EngineError, match="which nobody appends to; expected a text file to follow"):
        run(Ledger(), source)


def test_a_pipe_brings_what_is_there_and_can_be_left_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    waiter = SignalWaiter()
    source = FileSource("x", str(path), SCHEMA)
    assert not source.at_rest
    written, taken = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with path.open("w") as pipe:
            pipe.write("sid,time,word\n1,1,a\n2,2,")
            pipe.flush()
            written.wait()
            pipe.write("b\n")
            pipe.flush()
            taken.wait()

    writer = threading.Thread(target=write_slowly)
    writer.start()
    words = []
    for delivery in source.start(lambda source: None, waiter).deliveries():
        assert isinstance(delivery.content, pa.Table)
        words += delivery.content["word"].to_pylist()
        written.set()
        if words[-1] == "b":
            waiter.end()  # the pipe is still open, and nothing more comes
    taken.set()
    writer.join()
    assert words == ["a", "b"]


def test_texts_name_sources(tmp_path: Path) -> None:
    assert isinstance(parse_source("x", write(tmp_path, "csv"), SCHEMA), FileSource)
    with pytest.raises(EngineError, match=r"none\.csv: there is no such file"):
        run(Ledger(), parse_source("x", str(tmp_path / "none.csv"), SCHEMA))
    with pytest.raises(EngineError, match="speed: attribute 'word' is not a time; expected one of sid, time"):
        parse_source("x", "a.csv", SCHEMA, Options(replay=Speed(2, "word")))


@pytest.mark.parametrize("piped", [True, False])
def test_standard_input_begins_anew(tmp_path: Path, piped: bool) -> None:
    program = dedent(
        """
        from australis.algebra.schema import parse_schema
        from australis.engine.sources import Options, SignalWaiter, feed, parse_source
        from tests.engine.sources.virtual import Ledger
        ledger = Ledger()
        source = parse_source("x", "-", parse_schema("n int"), Options(stream_format="csv"))
        ledger.positions[source.id] = "of another run"
        feed(ledger, [source], SignalWaiter())
        print(ledger.rows["x"], ledger.rejected)
        """
    )
    (tmp_path / "in.csv").write_text("n\n1\n2\nx\n")
    with (tmp_path / "in.csv").open() as file:
        given = {"input": file.read()} if piped else {"stdin": file}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, **given
        )
    assert done.stdout == "[{'n': 1}, {'n': 2}] [\"standard input, line 4: 'x' in attribute n is no int\"]\n"
