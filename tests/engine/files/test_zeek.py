"""Zeek logs: columns by name and type, NULL and empty words, escapes, and what is about the log itself."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engine.files.test_dialects import read, refusal, write
from tests.engine.files.test_reading import reasons

from australis.algebra.schema import parse_schema
from australis.algebra.store import FileFormat
from australis.engine.files import blocks

SCHEMA = parse_schema("ts timestamp not null, id_orig_h string, bytes long, local boolean, note string")
HEADER = r"""#separator \x09
#set_separator	,
#empty_field	(empty)
#unset_field	-
#path	conn
#open	2024-04-19-00-00-01
#fields	uid	ts	id.orig_h	bytes	local	note
#types	string	time	addr	count	bool	string
"""
CLOSE = "#close\t2024-04-19-01-00-00\n"


def row(*fields: object) -> str:
    return "\t".join(("C1", *map(str, fields))) + "\n"


def log(path: Path, *rows: str, header: str = HEADER, close: str = CLOSE) -> Path:
    return write(path, header + "".join(rows) + close)


def values(path: Path, format: FileFormat | None = None) -> list[dict[str, Any]]:
    batch = read(path, format, SCHEMA)
    assert batch.rejected == ()
    found: list[dict[str, Any]] = batch.table.to_pylist()
    return found


def test_columns_have_the_types_of_the_schema(tmp_path: Path) -> None:
    path = log(
        tmp_path / "conn.log",
        row("1713484795.943239", "10.0.0.1", 7, "T", "(empty)"),
        row("0.5", "-", "-", "F", r"a\x09b \x2d \\x"),
        row("-1.5", "x", 0, "-", "-"),
    )
    assert values(path) == [
        {
            "ts": datetime(2024, 4, 18, 23, 59, 55, 943239, UTC),
            "id_orig_h": "10.0.0.1",
            "bytes": 7,
            "local": True,
            "note": "",
        },
        {
            "ts": datetime(1970, 1, 1, 0, 0, 0, 500000, UTC),
            "id_orig_h": None,
            "bytes": None,
            "local": False,
            "note": "a\tb - \\x",
        },
        {
            "ts": datetime(1969, 12, 31, 23, 59, 58, 500000, UTC),
            "id_orig_h": "x",
            "bytes": 0,
            "local": None,
            "note": None,
        },
    ]


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1713484795.9432399", 1713484795943239),
        ("1.7134847959e9", 1713484795900000),
        ("2024-04-18T23:59:55.943239Z", 1713484795943239),
        ("-0.0000001", -1),
        ("1713484795", 1713484795000000),
    ],
)
def test_times_are_exact_to_the_microsecond(tmp_path: Path, text: str, micros: int) -> None:
    found = read(log(tmp_path / "conn.log", row(text, "x", 0, "T", "x")), None, SCHEMA).table["ts"]
    assert found.cast("int64").to_pylist() == [micros]


def test_rows_that_do_not_fit_have_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(
        tmp_path / "conn.log",
        row("soon", "x", 0, "T", "x"),
        row("1", "x", 0, "T", "x"),
        row("-", "x", 0, "T", "x"),
        CLOSE,
        HEADER,
        row("2", "x", 0, "yes", "x"),
        row("nan", "x", 0, "T"),
        row("1e30", "x", 0, "T", "x"),
    )
    expected = [
        "conn.log, line 9: 'soon' in attribute ts is no timestamp",
        "conn.log, line 11: 'ts' is NULL, which its schema does not allow",
        "conn.log, line 21: 'yes' in attribute local is no boolean",
        "conn.log, line 22: has 5 fields, expected 6",
        "conn.log, line 23: '1e30' in attribute ts is no timestamp",
    ]
    for size in (1 << 20, 40):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        batch = read(path, None, SCHEMA)
        assert (reasons(batch), batch.table.num_rows) == (expected, 1)


def test_attributes_may_have_other_names(tmp_path: Path) -> None:
    path = log(tmp_path / "conn.log", row("1", "10.0.0.1", 0, "T", "x"))
    said = FileFormat("zeek", columns={"src": "id.orig_h", "time": "ts"})
    found = read(path, said, parse_schema("time timestamp, src string, ts double"))
    moment = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert found.table.to_pylist() == [{"time": moment, "src": "10.0.0.1", "ts": 1.0}]


def test_compressed_and_in_an_archive_and_of_any_name(tmp_path: Path) -> None:
    text = HEADER + row("1", "x", 0, "T", "x")
    packed = write(tmp_path / "conn.00_00-01_00.log.gz", gzip.compress(text.encode()))
    assert len(values(packed)) == 1
    assert len(values(write(tmp_path / "conn.txt", text), FileFormat("zeek"))) == 1
    bars = text.replace("\t", "|").replace(r"\x09", r"\x7c")
    assert len(values(write(tmp_path / "bars.log", bars))) == 1
    one = "#separator \\x09\n#fields\tts\n#types\ttime\n1\n#close\tnow\n2\n"
    found = read(write(tmp_path / "one.log", one), None, parse_schema("ts timestamp"))
    assert (found.table.num_rows, found.rejected) == (2, ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected a Zeek log, which begins with #separator, #fields and #types"),
        ("1\t2\n", "has no #fields line before its first row; expected a Zeek log"),
        (HEADER[:60], "has no #fields line before its first row"),
        (
            HEADER.replace("\tnote\n", "\n"),
            "line 8: has 6 types for 5 fields; expected a type for each field",
        ),
        (
            HEADER.replace("bytes", "octets"),
            "the line #fields lacks column 'bytes': it has uid, ts, id.orig_h",
        ),
        (
            HEADER.replace(r"\x09", r"\x09\x09"),
            r"line 1: the separator is '\\x09\\x09'; expected one character",
        ),
        (
            HEADER + row(1, "x", 0, "T", "x") + HEADER.replace("note", "more"),
            "line 16: #fields differs from line 7; expected one log in a file, or logs with the same fields",
        ),
        (HEADER + HEADER.replace("unset_field\t-", "unset_field\t?"), "line 12: #unset_field differs from"),
    ],
)
def test_damaged_headers_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path / "conn.log", content)
    assert message in refusal(path, FileFormat("zeek"), SCHEMA)
