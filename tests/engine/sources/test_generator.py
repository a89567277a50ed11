"""Generated tuples: the same for the same seed, wherever one goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.engine.sources.virtual import Ledger, VirtualWaiter, run

from australis.algebra.schema import parse_schema
from australis.engine.sources import GeneratorSource, Options, Rate, parse_source
from australis.engine.sources.generator import columns, generator
from australis.errors import EngineError

SCHEMA = parse_schema("sid int, at timestamp, time long, v double, m decimal(8,2), word string, b boolean")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BATCH_TUPLES", 64)
    monkeypatch.setattr(generator, "BATCH_TUPLES", 64)


def made(text: str, options: Options | None = None) -> GeneratorSource:
    source = parse_source("x", f"generator:{text}", SCHEMA, options or Options())
    assert isinstance(source, GeneratorSource)
    return source


def test_the_same_seed_gives_the_same_tuples() -> None:
    first, again, other = Ledger(), Ledger(), Ledger()
    run(first, made("seed=7,tuples=200"))
    run(again, made("seed=7,tuples=200"))
    run(other, made("seed=8,tuples=200"))
    assert len(first.rows["x"]) == 200
    assert first.rows == again.rows
    assert first.rows != other.rows


@pytest.mark.parametrize("batch", [1, 7, 64, 100])
def test_a_run_goes_on_at_any_tuple(batch: int) -> None:
    whole, pieces = Ledger(), Ledger()
    run(whole, made("seed=7,tuples=150"))
    source = made("seed=7,tuples=150", Options(batch=batch))
    while run(pieces, source, most=1):
        pass
    assert pieces.rows == whole.rows


def test_more_tuples_are_the_next_ones() -> None:
    whole, pieces = Ledger(), Ledger()
    run(whole, made("tuples=100"))
    run(pieces, made("tuples=30"))
    run(pieces, made("tuples=100"))
    assert pieces.rows == whole.rows


def test_what_attributes_are_by_themselves() -> None:
    table = made("tuples=64,step=1s,disorder=2s").batch(3)
    assert table.schema == SCHEMA.arrow
    assert not any(column.null_count for column in table.columns)
    moments = np.array(table["at"].cast(pa.int64())) - columns.BEGIN_US
    late = np.arange(192, 256) * 10**6 - moments
    assert late.min() >= 0
    assert late.max() <= 2 * 10**6
    assert (np.diff(moments) < 0).any()
    assert set(table["b"].to_pylist()) == {True, False}


def test_columns_by_hand() -> None:
    text = "tuples=64,sid=serial(),at=time(1 min, 0 s),v=normal(5, 0.1),word=choice(a, b),m=zipf(3)"
    table = made(text).batch(1)
    assert table["sid"].to_pylist() == list(range(64, 128))
    moments = np.array(table["at"].cast(pa.int64()))
    assert set(np.diff(moments)) == {60_000_000}
    assert 4 < min(table["v"].to_pylist()) < max(table["v"].to_pylist()) < 6
    assert set(table["word"].to_pylist()) == {"a", "b"}
    assert {int(value) for value in table["m"].to_pylist()} == {0, 1, 2}


def test_an_attribute_does_not_depend_on_others() -> None:
    alone = GeneratorSource("x", parse_schema("v double"), seed=7)
    assert alone.batch(2)["v"] == made("seed=7").batch(2)["v"]


def test_a_rate_in_the_text_paces_and_sets_the_step() -> None:
    source = made("rate=10/s,tuples=30,disorder=0s")
    waiter = VirtualWaiter()
    times = []
    for delivery in source.start(lambda source: None, waiter).deliveries():
        assert isinstance(delivery.content, pa.Table)
        moments = delivery.content["at"].cast(pa.int64()).to_pylist()
        times += [(round(waiter.now(), 6), moment) for moment in moments]
    assert times == [(round(n / 10, 6), columns.BEGIN_US + n * 100_000) for n in range(30)]
    with pytest.raises(EngineError, match="a rate is given in it and beside it"):
        made("rate=10/s", Options(replay=Rate(5)))


def test_a_generator_without_end_can_be_ended() -> None:
    ledger, waiter = Ledger(), VirtualWaiter(ends=2.05)
    run(ledger, made("rate=100/s"), waiter)
    assert 200 <= len(ledger.rows["x"]) <= 206


def test_other_tuples_are_not_the_next_ones() -> None:
    ledger = Ledger()
    run(ledger, made("tuples=10"))
    with pytest.raises(
        EngineError, match=r"x=generator:seed=0: draws other tuples than when it was last run"
    ):
        run(ledger, made("tuples=20,v=normal(0, 1)"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sed=7", r"generator: 'sed=7' is no option; expected seed=\.\.\., rate=\.\.\."),
        ("seed=x", r"generator\.seed: 'x' is no whole number; expected such as 7 or 10k"),
        ("tuples=-1", r"generator\.tuples: '-1' is no whole number"),
        ("rate=7", "rate: '7' is no rate"),
        ("disorder=7", "disorder.*'7' is not a length of time"),
        ("w=key(7)", "generator: there is no attribute 'w'; expected one of seed, .*sid, at"),
        ("sid=keys(7)", "sid: unknown kind 'keys'; expected one of serial, time, key"),
        ("sid=choice(a)", "sid: choice.a. is for string, and the attribute is int; expected one of serial"),
        ("v=normal(1)", "v: normal.1. has 1 arguments; expected 2"),
        ("v=normal(a, b)", "v: 'a' is no number"),
        ("m=uniform(0, 10000000)", r"m: uniform.* gives no decimal\(8,2\)"),
    ],
)
def test_texts_that_describe_no_generator(text: str, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        made(text)


def test_no_file_is_called_a_generator(tmp_path: Path) -> None:
    assert made("").tuples is None
    assert not made("").at_rest
    assert made("tuples=1k").tuples == 1000
