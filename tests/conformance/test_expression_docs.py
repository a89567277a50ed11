"""docs/expressions.md is correct: every example is evaluated, and every function has one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession
from tests.conformance.agreement import Bench, equal, is_inexact

from australis.algebra.expr import FUNCTIONS, WINDOW_FUNCTIONS, Call, Expr, parse, walk
from australis.algebra.expr.parsing.operands import RESERVED
from australis.algebra.expr.window_functions import INTERPOLATIONS, WRITTEN
from australis.algebra.schema import parse_schema
from australis.reference.expressions import evaluate

PAGE = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
SCHEMA = parse_schema("x int")
ROW = {"x": None}


class Example(NamedTuple):
    """A line of a table."""

    zone: str
    call: str
    result: str
    type_: str

    @property
    def expr(self) -> Expr:
        return parse(self.call).bind(SCHEMA)

    @property
    def expected(self) -> Expr:
        return parse(f"CAST({self.result} AS {self.type_})").bind(SCHEMA)


def examples() -> list[Example]:
    found, zone = [], "UTC"
    for line in PAGE.splitlines():
        if line.startswith("#"):
            zone = "Europe/Berlin" if "Europe/Berlin" in line else "UTC"
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            found.append(Example(zone, cells[0].strip("`"), cells[1].strip("`"), cells[2]))
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.call)
def test_an_example(example: Example) -> None:
    assert str(example.expr.type) == example.type_
    value = evaluate(example.expr, ROW, example.zone)
    assert equal(value, evaluate(example.expected, ROW, example.zone), is_inexact(example.expr))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_the_examples_in_every_engine(spark: SparkSession, zone: str) -> None:
    exprs = [example.expr for example in examples() if example.zone == zone]
    assert exprs
    assert not Bench(spark, SCHEMA, [ROW]).compare(exprs, zone)


def test_every_function_has_an_example() -> None:
    called = {node.function for e in examples() for node in walk(e.expr) if isinstance(node, Call)}
    assert called == set(FUNCTIONS)


def test_every_window_function_is_described() -> None:
    section = PAGE[PAGE.index("## Window functions") : PAGE.index("## Time zones")]
    shown = [WRITTEN.get(name, name).removesuffix(")") for name in (*WINDOW_FUNCTIONS, *INTERPOLATIONS)]
    assert [text for text in shown if f"`{text}" not in section] == []


def test_every_reserved_word_is_listed() -> None:
    [listed] = re.findall(r"one of the words ([A-Z,\s]+)\.", PAGE)
    assert set(re.findall(r"\w+", listed)) == RESERVED
