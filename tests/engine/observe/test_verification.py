"""Verification: a good root has no findings, what is damaged or mixed up is named, and nothing changes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess
from tests.engine.ledger.custody.roots import change_owner, killed
from tests.roots.make_root import NAMES, batch, network

from australis import Node
from australis.engine.history import organisation
from australis.engine.maintain import compaction
from australis.engine.observe import Verification, empty_trash, verify
from australis.engine.sinks import TextFileSink, write_out
from australis.errors import EngineError

EVENTS = 6


def fill(root: Path, sink: Path | None = None, **options: object) -> None:
    """A root with something of everything: states, windows, history in runs, a table, a query, a file."""
    with Node(root, runner=InProcess(), clock=lambda: 0, discipline="train", **options) as node:  # type: ignore[arg-type]
        node.deploy(network(), tables={"names": NAMES})
        for number in range(EVENTS):
            node.push("s", batch([(k, 10 * number + k, 0.5 if k else None) for k in range(3)]), now=number)
            node.drain()
        if sink is not None:
            file = TextFileSink("named", str(sink), network().output_schema("named"))
            write_out(node, file)


@pytest.fixture(autouse=True)
def _short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organisation, "RUN_ROWS_MOST", 6)
    monkeypatch.setattr(compaction, "RUN_LEAST", 4)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    fill(tmp_path / "root", tmp_path / "named.csv")
    return tmp_path / "root"


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """All files below a root, and when they were written."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def found(root: Path, **options: object) -> Verification:
    """What is found, with everything left as it was."""
    before = contents(root)
    result = verify(root, **options)  # type: ignore[arg-type]
    assert contents(root) == before
    return result


def texts(result: Verification) -> list[str]:
    return [str(each) for each in result.findings]


def change_catalog(root: Path, statement: str) -> None:
    with closing(sqlite3.connect(root / "catalog.db")) as db:
        db.execute(statement)
        db.commit()


# --- a good root


@pytest.mark.parametrize("quick", [True, False])
def test_nothing_is_wrong_with_a_root_that_was_closed(root: Path, quick: bool) -> None:
    heard: list[tuple[int, int]] = []
    result = found(root, quick=quick, heard=lambda *told: heard.append(told))
    assert result.findings == result.orphans == ()
    assert (result.epoch, result.is_closed, result.trash) == (1, True, 0)
    assert result.files > 5
    assert result.tuples >= 3 * EVENTS
    assert heard[0] == (0, result.files)
    assert heard[-1] == (result.files, result.files)
    assert list((root / "history").rglob("*.parquet")), "runs are among them"
    assert list((root / "states").iterdir())


def test_a_killed_node_leaves_a_root_without_findings(tmp_path: Path) -> None:
    killed(tmp_path / "root", 20)
    result = found(tmp_path / "root")
    assert texts(result) == []
    assert not result.is_closed
    assert result.tuples == 20


def test_orphans_and_trash_are_counted_and_no_fault(root: Path) -> None:
    (root / "segments" / "orphan").write_bytes(b"12345")
    result = found(root)
    assert (result.findings, result.orphans, result.orphan_bytes) == ((), ("segments/orphan",), 5)
    Node(root, runner=InProcess()).stop()
    result = found(root)
    assert (result.findings, result.orphans, result.trash, result.trash_bytes) == ((), (), 1, 5)
    assert empty_trash(root) == 1
    assert found(root).trash == 0


def test_a_run_that_was_committed_and_not_published_is_no_orphan(root: Path) -> None:
    run = next((root / "history").rglob("*.parquet"))
    run.rename(root / "segments" / run.name)
    result = found(root)
    assert (texts(result), result.orphans) == ([], ())


def test_a_catalogue_elsewhere(tmp_path: Path) -> None:
    fill(tmp_path / "root", catalog=tmp_path / "catalog")
    assert found(tmp_path / "root", catalog=tmp_path / "catalog").findings == ()


def test_an_adopted_file_is_read_where_it_is(tmp_path: Path) -> None:
    pa.parquet.write_table(batch([(1, 2, 3.0), (2, 3, 4.0)]), tmp_path / "given.parquet")
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(network(), tables={"names": NAMES})
        node.adopt("s", tmp_path / "given.parquet")
    assert found(tmp_path / "root").findings == ()
    (tmp_path / "given.parquet").unlink()
    (told,) = texts(found(tmp_path / "root"))
    assert "given.parquet: cannot be read" in told


def test_a_root_that_a_node_has_is_refused(root: Path) -> None:
    with Node(root, runner=InProcess()):
        with pytest.raises(EngineError, match=r"is open in another node.*expected a root that no node has"):
            verify(root)
        with pytest.raises(EngineError, match="is open in another node"):
            empty_trash(root)


def test_a_node_does_not_open_what_is_being_verified(root: Path) -> None:
    told: list[str] = []

    def open_node(done: int, files: int) -> None:
        with pytest.raises(EngineError) as refused:
            Node(root, runner=InProcess())
        told.append(str(refused.value))

    assert verify(root, heard=open_node).findings == ()
    assert "is being verified by `australis verify`" in told[0]


def test_what_is_no_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="is not the root of a node"):
        verify(tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- files


def flip(path: Path, at: int | None = None) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3 if at is None else at] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [flip, cut, os.remove], ids=lambda each: each.__name__)
@pytest.mark.parametrize("kind", ["segments", "states", "history"])
def test_every_damage_of_a_file_is_found(root: Path, kind: str, damage: Callable[[Path], None]) -> None:
    file = max(
        (path for path in (root / kind).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size
    )
    damage(file)
    (told,) = texts(found(root))
    assert file.name in told
    assert "the file as it was committed" in told


@pytest.mark.parametrize("damage", [cut, os.remove], ids=lambda each: each.__name__)
@pytest.mark.parametrize("kind", ["segments", "states", "history"])
def test_a_quick_look_finds_what_is_cut_or_gone(
    root: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    file = next(path for path in (root / kind).rglob("*") if path.is_file())
    damage(file)
    (told,) = texts(found(root, quick=True))
    assert file.name in told


def test_tuples_with_other_numbers_are_found(root: Path) -> None:
    change_catalog(root, "update segment set base = base + 1 where first is null")
    assert any("its numbers are" in each for each in texts(found(root)))


def test_a_count_that_does_not_fit_is_found(root: Path) -> None:
    change_catalog(root, "update segment set rows = rows - 1 where first is null")
    assert any("rows instead of" in each for each in texts(found(root)))


# --- the catalogue


def test_a_damaged_catalogue_is_found(root: Path) -> None:
    # The first byte of the second page says what the page is; others may be in unused space.
    flip(root / "catalog.db", at=4096)
    assert any("catalog.db: is damaged" in each for each in texts(found(root)))


def test_an_index_that_lacks_rows_is_found(root: Path) -> None:
    change_catalog(root, "delete from segment where 0")
    with closing(sqlite3.connect(root / "catalog.db")) as db:
        db.execute("pragma writable_schema = on")
        (page,) = db.execute("select rootpage from sqlite_master where name = 'train_of'").fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
    with open(root / "catalog.db", "r+b") as file:
        # An empty leaf of an index.
        file.seek((page - 1) * size)
        file.write(bytes([10, 0, 0, 0, 0, size >> 8, size & 255, 0]))
    assert any("train_of" in each for each in texts(found(root)))


def test_a_version_that_nobody_knows_is_found(root: Path) -> None:
    change_catalog(root, "pragma user_version = 99")
    (told,) = texts(found(root))
    assert "has version 99" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"catalog": "another"}, "belongs to the catalogue"),
        ({"epoch": 7}, "is older than its root"),
        ({"commits": 1_000_000}, "is older than its root"),
        ({"root": "another"}, "is not the root that the catalogue"),
    ],
)
def test_a_root_and_a_catalogue_that_do_not_agree(root: Path, given: dict[str, object], told: str) -> None:
    change_owner(root, **given)
    (finding,) = texts(found(root))
    assert told in finding


def test_a_catalogue_that_is_gone(root: Path) -> None:
    (root / "catalog.db").unlink()
    (told,) = texts(found(root))
    assert "catalog.db: is gone, and file://" in told


def test_a_journal_that_was_left_out(tmp_path: Path) -> None:
    killed(tmp_path / "root", 20)
    (tmp_path / "root" / "catalog.db-wal").unlink()
    assert any("catalog.db-wal: is missing" in each for each in texts(found(tmp_path / "root")))


def test_a_damaged_owner(root: Path) -> None:
    (root / "owner.json").write_text("{")
    (told,) = texts(found(root))
    assert "owner.json: is damaged" in told


def test_an_identity_that_is_gone(root: Path) -> None:
    (root / "identity").unlink()
    (told,) = texts(found(root))
    assert "identity: is gone" in told


# --- numbers


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "update superbox set head = 999 where id = 'named'",
            "named: has come up to number 999",
        ),
        ("insert into consumer values ('me', 'named', 999, null)", "me of named: has read up to number 999"),
        (
            "insert into consumer values ('me', 'gone', 0, null)",
            "me of gone: reads an output that",
        ),
    ],
)
def test_numbers_beyond_the_log_and_outputs_that_are_gone(root: Path, statement: str, told: str) -> None:
    change_catalog(root, statement)
    (finding,) = texts(found(root))
    assert told in finding


def test_an_output_that_is_discarded_is_no_finding(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(network(), tables={"names": NAMES})
        node.discard("named")
    assert not found(tmp_path / "root").findings


def test_a_catalogue_that_is_empty_is_named(root: Path) -> None:
    (root / "owner.json").unlink()
    (root / "catalog.db").write_bytes(b"")
    (told,) = texts(found(root))
    assert "catalog.db: is empty; expected the catalogue as it was" in told


def test_the_file_of_a_sink_may_be_longer_but_not_shorter_or_another(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "named.csv"
    copy = shutil.copy(file, tmp_path / "copy")
    with open(file, "a") as tail:
        tail.write("half a li")
    assert found(root).findings == ()
    os.truncate(file, 3)
    (told,) = texts(found(root))
    assert "has 3 bytes, and" in told
    file.write_bytes(Path(copy).read_bytes()[::-1])
    (told,) = texts(found(root))
    assert "do not end as they were written" in told
    file.unlink()
    (told,) = texts(found(root))
    assert "named.csv: is gone, and" in told
