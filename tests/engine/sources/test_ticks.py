"""Ticks: one for each interval, when local time reaches it, and none left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.engine.sources.virtual import Ledger, VirtualWaiter, run

from australis.algebra.schema import parse_schema
from australis.app.cli import main
from australis.engine.sources import Options, TickSource, parse_source
from australis.engine.sources.pacing import Rate
from australis.errors import EngineError

SCHEMA = parse_schema("at timestamp not null")
SECOND_US = 1_000_000
NETWORK = """
australis: 1
name: beats
inputs:
  beats: {schema: {at: timestamp}}
boxes:
  tens: {box: aggregate, from: beats, functions: {n: count(*)}, order: {on: at}, size: 10 s, align: true}
outputs:
  out: {from: tens}
"""


def ticks(waiter: VirtualWaiter, begin: float = 0.0, **settings: Any) -> TickSource:
    """Ticks every second, on a clock that is the waiter's."""
    given: dict[str, Any] = {"every_us": SECOND_US, "begin_us": None, "tuples": None, **settings}
    clock = lambda: round((begin + waiter.now()) * SECOND_US)  # noqa: E731
    return TickSource("beats", SCHEMA, **given, options=Options(), clock=clock)


def seconds(ledger: Ledger) -> list[float]:
    return [row["at"].timestamp() for row in ledger.rows.get("beats", [])]


def test_each_comes_when_it_is_due() -> None:
    ledger, waiter = Ledger(), VirtualWaiter(ends=4.0)
    run(ledger, ticks(waiter, begin=0.25), waiter)
    assert seconds(ledger) == [1, 2, 3, 4]
    assert waiter.waits == pytest.approx([0.75, 1.75, 2.75, 3.75, 4.75])


def test_those_missed_while_nothing_ran_are_caught_up() -> None:
    ledger = Ledger()
    waiter = VirtualWaiter(ends=2.5)
    run(ledger, ticks(waiter), waiter)
    later = VirtualWaiter(ends=0.5)
    assert run(ledger, ticks(later, begin=6.0), later) == 1
    assert seconds(ledger) == [0, 1, 2, 3, 4, 5, 6]


def test_a_beginning_and_an_end() -> None:
    ledger, waiter = Ledger(), VirtualWaiter()
    run(ledger, ticks(waiter, begin=100.0, begin_us=7 * SECOND_US, tuples=3), waiter)
    assert seconds(ledger) == [7, 8, 9]
    assert waiter.waits == []


@pytest.mark.parametrize(
    ("text", "schema", "options", "message"),
    [
        ("ticks:", "at timestamp", Options(), "every is missing"),
        ("ticks:every=x", "at timestamp", Options(), "not a length of time"),
        ("ticks:every=1 s,often=2", "at timestamp", Options(), "'often=2' is no option"),
        ("ticks:every=1 s,tuples=-2", "at timestamp", Options(), "tuples is '-2'"),
        ("ticks:every=1 s,begin=noon", "at timestamp", Options(), "begin is 'noon'"),
        ("ticks:every=1 s", "at timestamp, n int", Options(), "one attribute, a timestamp"),
        ("ticks:every=1 s", "at timestamp", Options(replay=Rate(1)), "come by the clock"),
    ],
)
def test_what_is_refused(text: str, schema: str, options: Options, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        parse_source("beats", text, parse_schema(schema), options)


@pytest.mark.parametrize("engine", [["--engine=reference"], ["--engine=kernels"], ["--runner=light"]])
def test_every_engine_runs_them(engine: list[str], tmp_path: Path) -> None:
    (tmp_path / "beats.yaml").write_text(NETWORK)
    source = "beats=ticks:every=4 s,begin=2024-05-06T10:00:00Z,tuples=5"
    target = tmp_path / "out.csv"
    command = ["run", str(tmp_path / "beats.yaml"), f"--input={source}", f"--output=out={target}", "--flush"]
    answer = CliRunner().invoke(main, [*command, *engine])
    assert answer.exit_code == 0, answer.output
    times = [f"2024-05-06T10:00:{at}0Z,{n}" for at, n in ((0, 3), (1, 2))]
    assert target.read_text().splitlines() == ["at,n", *times]


def test_only_a_node_runs_them_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "beats.yaml").write_text(NETWORK)
    command = ["run", str(tmp_path / "beats.yaml"), "--input=beats=ticks:every=1 s", "--engine=kernels"]
    answer = CliRunner().invoke(main, [*command, f"--output=out={tmp_path / 'out.csv'}"])
    assert answer.exit_code == 2
    assert "has no end" in answer.output
