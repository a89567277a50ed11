"""Expressions and what Spark makes of them, in `tests/fixtures/expressions.json`.

Each group has a schema, rows and texts; for every text Spark's value in every row is recorded. To add a case
put a row or a text there and record again: `python -m tests.kernels.recorded_expressions`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from australis.algebra.expr.tree import Value
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.types import DataType

FILE = Path(__file__).parent.parent / "fixtures" / "expressions.json"


@dataclass(frozen=True)
class Group:
    """Texts over the rows of one schema in one time zone, with Spark's values of each text."""

    name: str
    timezone: str
    schema: Schema
    rows: list[list[Value]]
    results: dict[str, list[Any]]

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow columns."""
        columns = zip(*self.rows, strict=True)
        arrays = [
            pa.array(column, field.type.arrow) for field, column in zip(self.schema, columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema.arrow)


def groups() -> list[Group]:
    """All recorded groups."""
    return [_group(entry) for entry in json.loads(FILE.read_text("utf-8"))]


def spark_values(spark: SparkSession, group: Group) -> dict[str, list[Any]]:
    """What Spark itself makes of a group's texts, in the form of the file."""
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", group.timezone)
    try:
        frame = spark.createDataFrame(group.table).coalesce(1)
        found = frame.selectExpr(*(f"{text} AS c{i}" for i, text in enumerate(group.results)))
        arrays = _arrow(found)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    return {text: _written(array) for text, array in zip(group.results, arrays, strict=True)}


def plain(array: pa.Array) -> list[Value]:
    """An array's values in plain Python, timestamps as microseconds."""
    return list(
        array.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(array.type) else array.to_pylist()
    )


def read(value: Any, type_: DataType) -> Value:
    """A value of the file in plain Python: decimals are written as text, and NaN and infinities too."""
    if value is None:
        return None
    if type_.is_decimal:
        return Decimal(value)
    return float(value) if type_.name == "double" else value  # type: ignore[no-any-return]


def _group(entry: dict[str, Any]) -> Group:
    schema = parse_schema(entry["schema"])
    types = [field.type for field in schema]
    rows = [[read(value, type_) for value, type_ in zip(row, types, strict=True)] for row in entry["rows"]]
    return Group(entry["name"], entry["timezone"], schema, rows, entry["results"])


def _arrow(frame: DataFrame) -> list[pa.Array]:
    return [column.combine_chunks() for column in frame.toArrow().columns]


def _written(array: pa.Array) -> list[Any]:
    values = plain(array)
    if pa.types.is_decimal(array.type):
        return [None if value is None else format(value, "f") for value in values]
    if pa.types.is_floating(array.type):
        return [
            value if value is None or abs(value) < float("inf") else _NAMES[str(value)] for value in values
        ]  # type: ignore[arg-type]
    return values


_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def record(spark: SparkSession) -> None:
    """Write Spark's values of all texts into the file."""
    entries = json.loads(FILE.read_text("utf-8"))
    for entry in entries:
        entry["results"] = spark_values(spark, _group(entry))
    FILE.write_text(_laid_out(entries), "utf-8")


def _laid_out(entries: list[dict[str, Any]]) -> str:
    """One line per text, so that a difference can be read."""
    return "[\n" + ",\n".join(map(_entry_text, entries)) + "\n]\n"


def _entry_text(entry: dict[str, Any]) -> str:
    head = [
        f"  {json.dumps(key)}: {json.dumps(entry[key], ensure_ascii=False)}"
        for key in ("name", "timezone", "schema", "rows")
    ]
    lines = [
        f"    {json.dumps(text, ensure_ascii=False)}: {json.dumps(values, ensure_ascii=False)}"
        for text, values in entry["results"].items()
    ]
    return "{\n" + ",\n".join(head) + ',\n  "results": {\n' + ",\n".join(lines) + "\n  }\n}"


if __name__ == "__main__":
    from australis.engine.spark.session import local_session

    record(local_session("record"))
