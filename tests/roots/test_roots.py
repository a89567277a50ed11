"""Roots of older versions of the catalogue open today, continue, and deliver what the reference computes."""

from __future__ import annotations

import json
import sqlite3
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.app.files import australis
from tests.conformance.engine_runs import Expectation, numbered
from tests.conformance.random_networks import Event
from tests.engine.in_process import InProcess
from tests.engine.ledger.held import check_mirror
from tests.roots.make_root import (
    EVENTS,
    HELD,
    MORE,
    NAMES,
    NOTE,
    OUTPUTS,
    READER,
    listed,
    network,
    push,
    told,
)

from australis import Node
from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.history import read_history
from australis.engine.ledger import OpenRoot, Receipt, plan_in
from australis.engine.ledger.schema import OLDEST, VERSION
from australis.engine.observe.inspect import look
from australis.engine.observe.statistics import statistics_of
from australis.engine.run_state import RunState
from australis.engine.store import EVERY_PARTITION, Root, read_state
from australis.errors import EngineError

HERE = Path(__file__).parent
KEPT = [f"v{version}" for version in range(OLDEST, VERSION + 1)]


@pytest.fixture(params=KEPT)
def kept(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def root(kept: str, tmp_path: Path) -> Path:
    """A root that was kept, as it was."""
    with tarfile.open(HERE / f"{kept}.tar.gz") as packed:
        # Python 3.11.2, which Debian has, knows no filters yet; later ones warn without.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture
def known(kept: str) -> dict[str, Any]:
    """What the node that made it reported."""
    found: dict[str, Any] = json.loads((HERE / f"{kept}.json").read_text())
    return found


def version(root: Path) -> int:
    with sqlite3.connect(root / "catalog.db") as db:
        (found,) = db.execute("pragma user_version").fetchone()
    return int(found)


def indexes(root: Path) -> set[str]:
    with sqlite3.connect(root / "catalog.db") as db:
        return {name for (name,) in db.execute("select name from sqlite_master where type = 'index'")}


def right() -> Expectation:
    """What the reference makes of all that was pushed."""
    found = Expectation(network())
    found.load("names", NAMES.to_pylist())
    for now, rows in enumerate((*EVENTS, *MORE)):
        values = (({"k": k, "at": at, "v": v}, now) for k, at, v in rows)
        found.event(Event(now, "s", tuple(values)))
    return found


def test_every_version_is_kept_and_small() -> None:
    assert sorted(path.name.partition(".")[0] for path in HERE.glob("v*.tar.gz")) == KEPT
    assert sum(path.stat().st_size for path in HERE.iterdir() if path.is_file()) < 200_000


def test_what_is_kept_has_something_of_everything(kept: str, root: Path, known: dict[str, Any]) -> None:
    assert f"v{version(root)}" == kept
    assert len(list((root / "history" / "past").glob("*.parquet"))) == len(EVENTS) - HELD - 1
    assert list((root / "states").iterdir())
    assert known["statistics"]["queues"]["windows"] == 3 * HELD
    assert known["outputs"]["quarantine"]
    assert known["outputs"]["asked"]
    assert known["consumer"][0] > 0
    assert known["outputs"]["named"][-1][-1] >= known["consumer"][0], "more is there for the consumer"
    assert known["statistics"]["shed"][0][:3] == ["named", "s", 0.0]
    with sqlite3.connect(root / "catalog.db") as db:
        assert db.execute("select count(*) from superbox where deadline is not null").fetchone() == (1,)
        assert db.execute("select count(*) from dropbox where arrived > 0").fetchone() == (1,)


def test_a_look_sees_it_as_it_was_and_migrates_nothing(root: Path, known: dict[str, Any]) -> None:
    before = version(root), indexes(root), (root / "catalog.db").read_bytes()
    assert told(look(root)) == known["statistics"]
    assert listed(list(read_history(root, "past"))) == known["history"]
    assert "kept" in australis("stats", root).stdout
    assert (version(root), indexes(root), (root / "catalog.db").read_bytes()) == before


def test_all_is_there_when_it_is_migrated(root: Path, known: dict[str, Any], tmp_path: Path) -> None:
    opened = OpenRoot(Root.of(root))
    try:
        ledger = opened.ledger
        ledger.load_plan(plan_in(root, ledger.catalog))
        assert version(root) == VERSION
        assert told(statistics_of(ledger.plan, ledger.queues, ledger.catalog)) == known["statistics"]
        subscriptions = Subscriptions(ledger, RunState(ledger), lambda: 0)
        assert {name: listed([subscriptions.read(name)]) for name in OUTPUTS} == known["outputs"]
        assert list(subscriptions.consumer(READER, "named")) == known["consumer"]
        assert ledger.catalog.position("feed") == known["position"] == str(len(EVENTS))
        assert listed(list(read_history(root, "past"))) == known["history"]
        check_mirror(ledger)
    finally:
        opened.close()
    fresh = OpenRoot(Root.of(tmp_path / "fresh"))
    fresh.close()
    assert indexes(root) == indexes(tmp_path / "fresh"), "as one that is made today"


def test_a_root_is_migrated_and_continues(root: Path, known: dict[str, Any]) -> None:
    expected = right()
    with Node(root, runner=InProcess(), clock=lambda: 0, discipline="superbox") as node:
        node.deploy(network())
        assert sorted(node.attached()) == known["attached"] == ["asked"]
        assert node.consumer(READER, "named") == (known["consumer"][0], NOTE)
        for number in range(len(EVENTS), len(EVENTS) + len(MORE)):
            push(node, number)
        node.drain()
        found = {name: numbered(node.read(name)) for name in ("windows", "named", "quarantine")}
        asked = node.read("asked")["k"].to_pylist()
        kept = [row for table in node.history("past") for row in table["k"].to_pylist()]
    outputs = dict(expected.seen.outputs)
    outputs["named"] = [each for each in outputs["named"] if each[0] >= known["consumer"][0]]
    assert expected.comparable(found) == {name: outputs[name] for name in found}
    whole = [(k, v) for rows in (*EVENTS, *MORE) for k, _, v in rows if v is not None]
    assert asked == [k for k, _ in whole if k == 2]
    assert kept == [k for k, _ in whole]


def test_receipts_are_kept_from_version_8_on(kept: str, root: Path) -> None:
    opened = OpenRoot(Root.of(root))
    try:
        found = opened.ledger.catalog.receipt("someone", "last")
        end = opened.ledger.catalog.log_end()
    finally:
        opened.close()
    rows = len(EVENTS[-1])
    assert found == (None if kept < "v8" else ("event", Receipt(rows, 0, end, is_repeated=True)))


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_stored_table_gets_a_file_of_its_own(root: Path, partitions: int) -> None:
    """It was in the state of its join, which was in one partition."""
    with Node(root, runner=InProcess(), clock=lambda: 0, partitions=partitions) as node:
        node.deploy(network())
        node.drain()
        files = node._ledger.catalog.states("named")
        assert [each.partition for each in files] == [EVERY_PARTITION, *range(partitions)]
        table, *own = [read_state(node._ledger.root, each.name) for each in files]
        assert table["right"]["name"].to_pylist() == NAMES["name"].to_pylist()
        assert not any("right" in each for each in own)
        assert sorted(k for each in own for k in each["left.groups"]["k"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("other", [OLDEST - 1, VERSION + 1, 99])
def test_other_versions_are_refused(root: Path, other: int) -> None:
    with sqlite3.connect(root / "catalog.db") as db:
        db.execute(f"pragma user_version = {other}")
    expected = f"has version {other}; expected one from {OLDEST} to {VERSION}; open the root with"
    with pytest.raises(EngineError, match=expected):
        Node(root, runner=InProcess())
    with pytest.raises(EngineError, match=expected):
        look(root)
