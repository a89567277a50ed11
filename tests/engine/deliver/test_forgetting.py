"""Forgetting consumers of a root that is closed: what only they had not read goes with them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.history.bench import network, opened, tuples

from australis.algebra.types import TIMESTAMP
from australis.engine.deliver.forgetting import Forgotten, forget
from australis.engine.ledger import view_of
from australis.errors import EngineError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five tuples wait on an output for a file, and for a consumer that has read three of them."""
    with opened(tmp_path, network(history=None)) as bench:
        bench.push(tuples(0, 5))
        stamps = pa.array([0] * 5, TIMESTAMP.arrow)
        bench.emit("some", tuples(0, 5).append_column("#ts", stamps).append_column("#seq", [[1, 2, 3, 4, 5]]))
        bench.passed()
        with bench.ledger.change() as change:
            change.set_consumer("reader", "out", 99)
            change.set_consumer("reader", "quarantine", 0)
            change.set_consumer(f"file:{tmp_path / 'out.csv'}", "out", 0)
    return tmp_path


def known(root: Path) -> set[tuple[str, str]]:
    with view_of(root) as catalog:
        return set(catalog.consumers())


def left(root: Path) -> int:
    """The tuples that the output keeps."""
    with view_of(root) as catalog:
        return sum(segment.rows for segment in catalog.segments("some"))


def test_a_consumer_is_forgotten_of_all_that_it_reads(root: Path) -> None:
    assert forget(str(root), "reader") == [
        Forgotten("reader", "out", 0),
        Forgotten("reader", "quarantine", 0),
    ]
    assert known(root) == {(f"file:{root / 'out.csv'}", "out")}
    assert left(root) == 5, "the file has not got them"


def test_a_consumer_is_forgotten_of_one_output(root: Path) -> None:
    assert forget(str(root), "reader", output="quarantine") == [Forgotten("reader", "quarantine", 0)]
    assert ("reader", "out") in known(root)


def test_what_only_a_file_had_not_got_goes_with_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert forget(str(root), "out.csv") == [Forgotten(f"file:{root / 'out.csv'}", "out", 5)]
    assert left(root) == 0
    assert not list((root / "segments").glob("some-*"))


def test_a_consumer_that_nobody_knows_is_refused_with_those_that_are_known(root: Path) -> None:
    with pytest.raises(EngineError, match=r"there is no consumer 'nobody'; expected one of file:.*, reader"):
        forget(str(root), "nobody")
    with pytest.raises(EngineError, match="there is no consumer 'nobody' of the output 'out'"):
        forget(str(root), "nobody", output="out")
    assert len(known(root)) == 3


def test_a_root_that_is_open_or_is_none_is_refused(root: Path, tmp_path: Path) -> None:
    with opened(root, network(history=None)), pytest.raises(EngineError, match="is open in another node"):
        forget(str(root), "reader")
    with pytest.raises(EngineError, match="there is no such folder"):
        forget(str(tmp_path / "nowhere"), "reader")
    assert not (tmp_path / "nowhere").exists()
