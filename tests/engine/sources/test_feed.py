"""Several sources into one node: in turns that a restart does not change, or at once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.sources.virtual import Ledger, VirtualWaiter

from australis.algebra.schema import parse_schema
from australis.engine.sources import (
    Delivery,
    FileSource,
    Options,
    Rate,
    SignalWaiter,
    Source,
    feed,
    hand_over,
    in_turns,
    parse_generator,
)
from australis.errors import EngineError

SCHEMA = parse_schema("n int")


def sources(folder: Path, options: Options) -> list[Source]:
    for name, count in {"a": 7, "b": 2, "c": 4}.items():
        (folder / f"{name}.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(count)))
    files = [FileSource(name, str(folder / f"{name}.csv"), SCHEMA, options) for name in "abc"]
    return [*files, parse_generator("d", "generator:tuples=5", SCHEMA, options)]


def test_turns_are_the_same_wherever_a_run_was_cut(tmp_path: Path) -> None:
    wanted = sources(tmp_path, Options(batch=1))
    whole = Ledger()
    feed(whole, wanted, SignalWaiter())
    assert "".join(whole.inputs) == "abcdabcdacdacdadaa"
    for cut in range(len(whole.inputs)):
        ledger = Ledger()
        running = [source.start(ledger.position, VirtualWaiter()) for source in wanted]
        for _, delivery in zip(range(cut), in_turns(running, VirtualWaiter()), strict=False):
            hand_over(ledger, delivery)
        feed(ledger, wanted, SignalWaiter())
        assert (ledger.inputs, ledger.rows) == (whole.inputs, whole.rows)


def test_sources_that_wait_run_at_once(tmp_path: Path) -> None:
    ledger = Ledger()
    heard: list[Delivery] = []
    feed(ledger, sources(tmp_path, Options(replay=Rate(1e6))), SignalWaiter(), heard.append)
    assert {name: len(rows) for name, rows in ledger.rows.items()} == {"a": 7, "b": 2, "c": 4, "d": 5}
    assert sum(delivery.content.num_rows for delivery in heard) == 18


def test_an_error_of_one_ends_all(tmp_path: Path) -> None:
    endless = parse_generator("x", "generator:rate=1000/s", SCHEMA, Options())
    (tmp_path / "bad.csv").write_text("other\n1\n")
    bad = FileSource("y", str(tmp_path / "bad.csv"), SCHEMA)
    waiter = SignalWaiter()
    with pytest.raises(EngineError, match=r"bad\.csv: the header lacks column 'n'"):
        feed(Ledger(), [endless, bad], waiter)
    assert waiter.is_ended


def test_notes_are_handed_on(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,more\n1,2\n")
    source = FileSource("x", str(tmp_path / "a.csv"), SCHEMA)
    assert feed(Ledger(), [source], SignalWaiter()) == (
        f"{source.path}: column 'more' is not in the schema and is ignored",
    )


def test_a_feed_that_was_ended_commits_nothing_more(tmp_path: Path) -> None:
    waiter, ledger = SignalWaiter(), Ledger()

    def heard(delivery: Delivery) -> None:
        assert isinstance(delivery.content, pa.Table)
        if len(ledger.inputs) == 5:
            waiter.end()

    feed(ledger, sources(tmp_path, Options(batch=1)), waiter, heard)
    assert len(ledger.inputs) == 5
