"""What a program may push: tables, batches, data frames, dictionaries; and what it is told of the rest."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.algebra.schema import TS, parse_schema
from australis.engine.ingest.conversion import as_table
from australis.errors import EngineError

SCHEMA = parse_schema("car int not null, speed double, at timestamp")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [{"car": 1, "speed": 50.5, "at": NOON}, {"car": 2, "speed": None, "at": None}]


def pushed(tmp_path: Path, given: Any) -> list[dict[str, Any]]:
    """What a network gets of what is pushed."""
    net = NetworkBuilder("n")
    net.input("cars", str(SCHEMA)).filter("car > 0", as_="some").output("out")
    with Node(tmp_path, runner=InProcess()) as node:
        node.deploy(net.build())
        node.push("cars", given)
        node.drain()
        found: list[dict[str, Any]] = node.read("out").select(list(SCHEMA.names)).to_pylist()
        assert node.read("quarantine").num_rows == 0
    return found


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        tuple(ROWS),
        [{"car": 1, "speed": 50.5, "at": NOON}, {"car": 2}],
        pa.Table.from_pylist(ROWS),
        pa.RecordBatch.from_pylist(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, index=["one", "other"]),
    ],
    ids=["dicts", "tuple of dicts", "missing is NULL", "table", "batch", "pandas", "pandas with an index"],
)
def test_what_may_be_pushed(tmp_path: Path, given: Any) -> None:
    assert pushed(tmp_path, given) == ROWS


def test_one_dictionary_is_one_tuple(tmp_path: Path) -> None:
    assert pushed(tmp_path, ROWS[0]) == ROWS[:1]


def test_no_dictionary_is_no_tuple(tmp_path: Path) -> None:
    assert pushed(tmp_path, []) == []


def test_a_frame_of_spark_may_be_pushed(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(1, 50.5, NOON), (2, None, None)], "car int, speed double, at timestamp")
    assert pushed(tmp_path, frame) == ROWS


def test_dictionaries_may_say_when_they_arrived() -> None:
    table = as_table("n.cars", [{**ROWS[0], TS: NOON}, {**ROWS[1], TS: NOON}], SCHEMA)
    assert table[TS].to_pylist() == [NOON, NOON]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (7, r"cannot take an object of type int; expected an Arrow table or record batch, a list of"),
        ("car", r"cannot take an object of type str; expected an Arrow table"),
        (None, r"cannot take an object of type NoneType; expected an Arrow table"),
        (object(), r"cannot take an object of type object; expected an Arrow table"),
        ({"car", "speed"}, r"cannot take an object of type set; expected an Arrow table"),
        ([(1, 2.0, None)], r"tuple 0 is of type tuple; expected an Arrow table"),
        ([ROWS[0], 7], r"tuple 1 is of type int; expected an Arrow table"),
        (
            [ROWS[0], {"car": 1, "sped": 2.0}],
            r"tuple 1 has an unknown attribute 'sped'; expected some of car, s",
        ),
        (
            [{"speed": 2.0}],
            r"tuple 0 has no attribute 'car', which may not be NULL; expected \(car int not null",
        ),
        (
            [{"car": 1, TS: "2026-03-01T12:00:00"}],
            r"tuple 0 has #ts = '2026-03-01T12:00:00', a string; "
            r"expected a datetime\.datetime: strings are not read as times$",
        ),
        ([ROWS[0], {"car": "one"}], r"tuple 1 has car = 'one': .*; expected a value of int32$"),
        ([{"car": 1 << 40}], r"tuple 0 has car = 1099511627776: .*; expected a value of int32$"),
        ([{"car": 1, "speed": b"fast"}], r"tuple 0 has speed = b'fast': .*; expected a value of double$"),
        (
            pd.DataFrame({"car": [1, "x"]}),
            r"the pandas\.(core\.frame\.)?DataFrame cannot become an Arrow table",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_may_not_be_pushed_is_named(given: Any, said: str) -> None:
    with pytest.raises(EngineError, match=rf"^n\.cars: {said}"):
        as_table("n.cars", given, SCHEMA)
