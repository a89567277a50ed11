"""Writing files: what is written reads back equal, and nothing half stands under the name."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.schema import TS, parse_schema
from australis.engine.files import open_reader, open_writer
from australis.errors import EngineError

EVERYTHING = parse_schema(
    "i int, l long, d double, s string, b boolean, t timestamp, m decimal(10,2), n decimal(38,10)"
)
ROWS = st.fixed_dictionaries(
    {
        "i": st.none() | st.integers(-(2**31), 2**31 - 1),
        "l": st.none() | st.integers(-(2**63), 2**63 - 1),
        "d": st.none() | st.floats(),
        "s": st.none()
        | st.text()
        | st.sampled_from(["", '"', ",", "\r\n", "\t", "a\\nb", " x ", "null", "\0"]),
        "b": st.none() | st.booleans(),
        "t": st.none() | st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999),
        "m": st.none() | st.decimals(Decimal("-99999999.99"), Decimal("99999999.99"), places=2),
        "n": st.none() | st.decimals(-(10**27), 10**27, places=10),
    }
)


def table_of(rows: list[dict[str, object]]) -> pa.Table:
    columns = [pa.array([row[field.name] for row in rows], field.type.arrow) for field in EVERYTHING]
    return pa.table(columns, EVERYTHING.arrow)


@given(st.lists(ROWS, max_size=8), st.sampled_from(["csv", "tsv", "jsonl", "parquet", "csv.gz", "jsonl.gz"]))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]], extension: str
) -> None:
    path = str(tmp_path_factory.mktemp("written") / f"out.{extension}")
    table = table_of(rows)
    writer = open_writer(path, EVERYTHING)
    writer.write(table.append_column(TS, pa.array([0] * len(rows), pa.int64())))
    writer.commit()
    with open_reader(path, EVERYTHING) as reader:
        batches = list(reader.batches())
    assert [row for batch in batches for row in batch.rejected] == []
    back = pa.concat_tables([batch.table for batch in batches]) if batches else table.slice(0, 0)
    assert str(back.to_pydict()) == str(table.to_pydict())


def test_the_text_of_csv_and_json(tmp_path: Path) -> None:
    row = {
        "i": 1,
        "l": None,
        "d": 0.5,
        "s": 'a "b"',
        "b": True,
        "t": 1_500_000,
        "m": Decimal("1.5"),
        "n": None,
    }
    texts = {}
    for extension in ("csv", "jsonl"):
        writer = open_writer(str(tmp_path / f"out.{extension}"), EVERYTHING)
        writer.write(table_of([row, {**row, "d": float("-inf"), "s": "", "t": 0}]))
        writer.commit()
        texts[extension] = (tmp_path / f"out.{extension}").read_text()
    assert texts["csv"] == (
        "i,l,d,s,b,t,m,n\n"
        '1,,0.5,"a ""b""",true,1970-01-01T00:00:01.500000Z,1.50,\n'
        '1,,-Infinity,"",true,1970-01-01T00:00:00Z,1.50,\n'
    )
    assert texts["jsonl"] == (
        '{"i":1,"l":null,"d":0.5,"s":"a \\"b\\"","b":true,'
        '"t":"1970-01-01T00:00:01.500000Z","m":1.50,"n":null}\n'
        '{"i":1,"l":null,"d":"-Infinity","s":"","b":true,"t":"1970-01-01T00:00:00Z","m":1.50,"n":null}\n'
    )


@pytest.mark.parametrize("extension", ["csv", "csv.gz", "jsonl", "parquet"])
def test_a_file_appears_only_when_it_is_whole(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"out.{extension}"
    path.write_text("what was there before")
    writer = open_writer(str(path), EVERYTHING)
    writer.write(table_of([]))
    assert path.read_text() == "what was there before"
    writer.discard()
    assert path.read_text() == "what was there before"
    assert os.listdir(tmp_path) == [path.name]
    writer = open_writer(str(path), EVERYTHING)
    writer.commit()
    assert path.read_bytes() != b"what was there before"
    assert os.listdir(tmp_path) == [path.name]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    open_writer(str(tmp_path / "link.csv"), EVERYTHING).commit()
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "i,l,d,s,b,t,m,n\n"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "nowhere" / "out.csv", "No such file or directory"),
        (tmp_path, "its name has no known extension"),
    ):
        with pytest.raises(EngineError, match=reason):
            open_writer(str(path), EVERYTHING)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(EngineError, match="cannot be written: Is a directory"):
        open_writer(str(tmp_path / "folder.csv"), EVERYTHING)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is Linux's")
def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "out.csv").symlink_to("/dev/full")
    writer = open_writer(str(tmp_path / "out.csv"), EVERYTHING)
    with pytest.raises(EngineError, match="cannot be written: No space left on device"):
        writer.commit()
    writer.discard()


def test_a_time_without_a_text_is_refused(tmp_path: Path) -> None:
    schema = parse_schema("t timestamp")
    far = pa.table([pa.array([2**62], schema["t"].type.arrow)], schema.arrow)
    writer = open_writer(str(tmp_path / "out.csv"), schema)
    with pytest.raises(EngineError, match=r"out\.csv: a timestamp lies outside the years 1 to 9999"):
        writer.write(far)
    writer.discard()
    writer = open_writer(str(tmp_path / "out.parquet"), schema)
    writer.write(far)
    writer.commit()
