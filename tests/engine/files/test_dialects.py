"""Files whose names do not say it all: no header, other separators, NULL words; compressed; in archives."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.files.test_reading import reasons

from australis.algebra.schema import Schema, parse_schema
from australis.algebra.store import FileFormat, file_format_of
from australis.engine.files import Batch, blocks, format_of, open_reader
from australis.errors import EngineError

SCHEMA = parse_schema("a int, b string")


def read(path: Path, format: FileFormat | dict[str, Any] | str | None, schema: Schema = SCHEMA) -> Batch:
    """The whole file as one batch."""
    said = None if format is None else file_format_of(format)
    with open_reader(str(path), schema, format=said) as reader:
        found = list(reader.batches())
    table = pa.concat_tables([schema.arrow.empty_table(), *(batch.table for batch in found)])
    return Batch(table, tuple(row for batch in found for row in batch.rejected))


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """The rows of a CSV file in which nothing is wrong."""
    batch = read(path, FileFormat("csv", **options))
    assert batch.rejected == ()
    return [tuple(row.values()) for row in batch.table.to_pylist()]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path, format: FileFormat | dict[str, Any] | str | None, schema: Schema = SCHEMA) -> str:
    with pytest.raises(EngineError) as raised:
        read(path, format, schema)
    return str(raised.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("1,x\n2,y\n", {}, [(1, "x"), (2, "y")]),
        ("\ufeff1,x\r\n2,y", {}, [(1, "x"), (2, "y")]),
        ("1|x\n|\n", {"separator": "|"}, [(1, "x"), (None, None)]),
        ('1;"x;y"\n2;"two\nlines"\n', {"separator": ";"}, [(1, "x;y"), (2, "two\nlines")]),
        ("1;'x;''y'\n", {"separator": ";", "quote": "'"}, [(1, "x;'y")]),
        ("0;x\n1;'a\nb'\n2;'c'", {"separator": ";", "quote": "'"}, [(0, "x"), (1, "a\nb"), (2, "c")]),
        ('1,"x\n', {"quote": ""}, [(1, '"x')]),
        (" 1 \t x \r\n\n\t2  y", {"separator": "blanks"}, [(1, "x"), (2, "y")]),
        ("1::x:y\n2::\n", {"separator": "::"}, [(1, "x:y"), (2, None)]),
        ("1\u00a6x\n", {"separator": "\u00a6"}, [(1, "x")]),
        ("-,NA\n1,-\n", {"nulls": ["-", "NA"]}, [(None, None), (1, None)]),
        ('1,"NA"\n1,""\n', {"nulls": ["NA"]}, [(1, "NA"), (1, "")]),
        ("x,1,y\n", {"columns": ("b", "a", "c")}, [(1, "x")]),
        ("", {}, []),
        ("\n\n", {}, []),
    ],
)
def test_files_without_a_header(
    tmp_path: Path, content: str, options: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    path = write(tmp_path / "r.csv", content)
    assert rows(path, header=False, **options) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", 3)
        assert rows(path, header=False, **options) == expected


def test_a_header_may_have_other_names_and_separators(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "\ufeffPassage Time;'the ; b';c\n1;x;y\n")
    columns = {"a": "Passage Time", "b": "the ; b"}
    assert rows(path, separator=";", quote="'", columns=columns) == [(1, "x")]
    said = FileFormat("csv", separator=";", columns={"a": "Passage_Time"})
    assert "the header lacks columns 'Passage_Time', 'b': it has Passage Time, 'the" in refusal(path, said)
    assert rows(write(tmp_path / "h.csv", "a,b\n")) == []


def test_the_name_says_the_separator_that_the_format_leaves_out(tmp_path: Path) -> None:
    data = gzip.compress(b"1\tx,y\n")
    assert rows(write(tmp_path / "r.tsv.gz", data), header=False) == [(1, "x,y")]


def test_rows_that_do_not_fit_have_their_line_in_every_dialect(tmp_path: Path) -> None:
    path = write(tmp_path / "r.txt", "1 x\n\n  bad   y\n3\n4 x y\n")
    batch = read(path, FileFormat("csv", header=False, separator="blanks"))
    assert reasons(batch) == [
        "r.txt, line 3: 'bad' in attribute a is no int",
        "r.txt, line 4: has 1 field, expected 2",
        "r.txt, line 5: has 3 fields, expected 2",
    ]
    assert [json.loads(row.tuple) for row in batch.rejected] == [
        {"a": "bad", "b": "y"},
        ["3"],
        ["4", "x", "y"],
    ]
    batch = read(write(tmp_path / "b.txt", "\ufeffbad,x\n"), FileFormat("csv", header=False))
    assert reasons(batch) == ["b.txt, line 1: 'bad' in attribute a is no int"]
    assert json.loads(batch.rejected[0].tuple) == {"a": "bad", "b": "x"}
    path = write(tmp_path / "s.txt", b"\xff::x\n2::y\n")
    batch = read(path, FileFormat("csv", header=False, separator="::"))
    assert reasons(batch) == ["s.txt, line 1: attribute a is not UTF-8"]


def test_what_contradicts_a_file_is_refused(tmp_path: Path) -> None:
    bare = FileFormat("csv", header=False)
    wide = write(tmp_path / "r.csv", "1,x,y\n")
    assert refusal(wide, bare) == (
        "r.csv: its first line has 3 fields, separated by ',', where the format has 2; "
        "expected columns: [...] with a name for each field"
    )
    lines = write(tmp_path / "r.jsonl", '{"a": 1}\n')
    assert "r.jsonl: is jsonl by its name, but the format of its input is" in refusal(lines, bare)
    other = write(tmp_path / "r.dat", '{"a": 1, "b": "x"}\n')
    assert read(other, "jsonl").table.to_pylist() == [{"a": 1, "b": "x"}]
    assert "its name has no known extension; expected .csv, " in refusal(other, None)
    assert "or --input-format" in refusal(other, None)


TEXTS = st.text("a\n\r\"';|, \té", max_size=6) | st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=5
)


@given(
    st.lists(st.tuples(st.integers(-9, 9), TEXTS), max_size=20),
    st.sampled_from([";", "|", "\t", " "]),
    st.sampled_from(['"', "'"]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 9),
    st.booleans(),
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[int, str]],
    separator: str,
    quote: str,
    line_end: str,
    block_bytes: int,
    header: bool,
) -> None:
    """Quotes in fields, line ends in quotes, any cut: Python's writer against our reader."""
    made = io.StringIO()
    writer = csv.writer(
        made, delimiter=separator, quotechar=quote, lineterminator=line_end, quoting=csv.QUOTE_NONNUMERIC
    )
    writer.writerows([*([("a", "b")] if header else []), *pairs])
    path = write(tmp_path_factory.mktemp("written") / "r.csv", made.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block_bytes)
        assert rows(path, header=header, separator=separator, quote=quote) == pairs


def _zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(data)
    return bytes(sink.getvalue())


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": _zstd,
}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_files_are_known_by_their_bytes(tmp_path: Path, suffix: str) -> None:
    text = "a,b\n" + "".join(f"{n},x{n}\n" for n in range(5000))
    data = PACKED[suffix](text.encode())
    expected = read(write(tmp_path / "plain.csv", text), None).table
    for name in (f"r.csv.{suffix}", "r.csv"):
        assert read(write(tmp_path / name, data), None).table == expected
    twice = data + PACKED[suffix](b"7,more\n")
    assert read(write(tmp_path / f"r.csv.{suffix}", twice), None).table.num_rows == 5001


@pytest.mark.parametrize("suffix", PACKED)
def test_reading_resumes_anywhere_in_compressed_files(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 10_000)
    text = "a,b\n" + "".join(f"{n},x{n}\n" for n in range(20_000))
    path = write(tmp_path / f"r.csv.{suffix}", PACKED[suffix](text.encode()))
    with open_reader(str(path), SCHEMA) as reader:
        seen = [(reader.mark, batch.table) for batch in reader.batches()]
        for mark, table in reversed(seen[::7]):
            reader.resume(mark)
            assert next(iter(reader.batches())).table == table


@pytest.mark.parametrize(("suffix", "kind"), [("gz", "gzip"), ("bz2", "bzip2"), ("zst", "zstd")])
def test_damaged_compressed_files_are_refused_by_name_and_line(
    tmp_path: Path, suffix: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1000)
    text = "a,b\n" + "".join(f"{n},{n * 7919 % 104729}\n" for n in range(20000))
    data = PACKED[suffix](text.encode())
    path = tmp_path / f"r.csv.{suffix}"
    cut = refusal(write(path, data[: len(data) * 3 // 4]), None)
    assert cut.startswith(f"r.csv.{suffix}: is a damaged {kind} file: ")
    if suffix == "gz":  # the others decompress larger pieces, or have no checksum
        assert int(cut.partition(" in line ")[2].split()[0]) > 1000
        hurt = bytearray(data)
        hurt[len(data) // 2 : len(data) // 2 + 8] = b"\xff" * 8
        assert f"is a damaged {kind} file: " in refusal(write(path, bytes(hurt)), None)
    assert "it does not begin like one" in refusal(write(path, text), None)


def test_what_can_be_read_but_not_written_is_refused_as_an_output() -> None:
    assert format_of("r.csv.gz") == "csv"
    for name in ("r.csv.bz2", "r.csv.zst", "r.zip"):
        with pytest.raises(EngineError, match=f"{name}: can be read, but not written"):
            format_of(name)


def archive(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def test_the_files_of_an_archive_are_read_by_name(tmp_path: Path) -> None:
    files = {
        "b.csv": "a,b\n3,y\nbad,z\n",
        "a.jsonl": '{"a": 1, "b": "x"}\n',
        "in/c.csv.gz": gzip.compress(b"a,b\n4,w\n"),
        "__MACOSX/b.csv": "no tuples",
        ".hidden.csv": "no tuples",
    }
    batch = read(archive(tmp_path / "all.zip", files), None)
    assert [row["a"] for row in batch.table.to_pylist()] == [1, 3, 4]
    assert [row.reason for row in batch.rejected] == [
        f"{tmp_path}/all.zip/b.csv, line 3: 'bad' in attribute a is no int"
    ]
    path = archive(tmp_path / "bare.zip", {"1.txt": "1,x\n", "2.txt": "2,y\n"})
    assert rows(path, header=False) == [(1, "x"), (2, "y")]


def test_archives_that_cannot_be_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"1.csv": "a,b\n1,x\n", "2.csv": "a,c\n1,x\n"}
    path = archive(tmp_path / "r.zip", files)
    assert "r.zip/2.csv: the header lacks column 'b'" in refusal(path, None)
    data = path.read_bytes()
    assert "r.zip: is a damaged zip file: " in refusal(write(path, data[:-30]), None)
    assert "r.zip: is a damaged zip file: " in refusal(write(path, b"a,b\n1,x\n"), None)
    assert "has no files in it" in refusal(archive(path, {"_x.csv": ""}), None)
    assert "cannot be read within an archive" in refusal(archive(path, {"x.parquet": ""}), None)
    assert "r.zip/x.dat: its name has no known extension" in refusal(archive(path, {"x.dat": ""}), None)
    assert "r.csv: is a zip archive" in refusal(write(tmp_path / "r.csv", data), None)
    text = "a,b\n" + "".join(f"{n},{n * 7919 % 104729}\n" for n in range(20000))
    whole = bytearray(archive(path, {"1.csv": text}).read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    assert "r.zip/1.csv: is a damaged zip file: " in refusal(write(path, bytes(whole)), None)
