"""A root and its catalogue belong together: what does not is refused, and no file of it is touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.engine.in_process import InProcess
from tests.engine.ledger.custody.roots import (
    change_owner,
    files,
    killed,
    network,
    opened,
    owner,
    push,
    trash,
    values,
)
from tests.waiting import until

from australis import Node
from australis.engine.store import Root
from australis.errors import EngineError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with three tuples, that no node has open."""
    with opened(tmp_path / "root") as node:
        push(node, 1, 2, 3)
    return tmp_path / "root"


def refused(root: Path, match: str, catalog: Path | None = None) -> None:
    """A node does not open a root, and leaves all files where they are."""
    before = files(root)
    with pytest.raises(EngineError, match=match):
        Node(root, catalog=catalog, runner=InProcess())
    assert files(root) == before
    assert not trash(root)


# --- the owner of a root


def test_an_epoch_begins_with_every_opening_and_ends_in_order(root: Path) -> None:
    first = owner(root)
    assert (first["epoch"], first["is_open"]) == (1, False)
    with opened(root):
        again = owner(root)
        assert (again["epoch"], again["is_open"]) == (2, True)
        assert again["process"].startswith(f"process {os.getpid()} on ")
    assert owner(root)["commits"] > again["commits"] > first["commits"]
    assert {each["catalog"] for each in (first, again, owner(root))} == {first["catalog"]}


def test_no_train_writes_the_owner(root: Path) -> None:
    with opened(root) as node:
        before = (root / "owner.json").stat().st_ino
        push(node, *range(20))
        assert (root / "owner.json").stat().st_ino == before


# --- another catalogue


def test_two_catalogues_cannot_have_one_root_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path / "root", tmp_path / "one") as node:
        push(node, 1)
        with pytest.raises(EngineError, match="is open in another node"):
            Node(tmp_path / "root", catalog=tmp_path / "two", runner=InProcess())
        push(node, 2)
        assert not trash(tmp_path / "root")
        assert values(node) == [1, 2]


def test_a_fresh_catalogue_is_refused_on_a_root_that_has_one(tmp_path: Path) -> None:
    with opened(tmp_path / "root", tmp_path / "one") as node:
        push(node, 1)
    place = tmp_path / "one" / "catalog.db"
    told = rf"there is no such catalogue.*belongs to {place}.*expected that catalogue \(--catalog\)"
    refused(tmp_path / "root", told, tmp_path / "two")
    with opened(tmp_path / "root", tmp_path / "one") as node:
        assert values(node) == [1]


def test_the_catalogue_of_nobody_is_refused_on_an_empty_root_that_has_one(tmp_path: Path) -> None:
    Node(tmp_path / "root", catalog=tmp_path / "one", runner=InProcess()).stop()
    refused(tmp_path / "root", "there is no such catalogue", tmp_path / "two")


def test_the_catalogue_of_another_root_is_refused(root: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as node:
        push(node, 7)
    shutil.copy(root / "catalog.db", tmp_path / "other" / "catalog.db")
    refused(tmp_path / "other", "is not the root that the catalogue .*catalog.db belongs to")


def test_another_catalogue_of_the_same_root_is_refused(root: Path) -> None:
    change_owner(root, catalog="another")
    refused(root, r"belongs to the catalogue .*catalog\.db, which process \d+ on .* had last, not to ")


# --- an older catalogue


def put_back(root: Path, copy: Path) -> None:
    shutil.copy(copy, root / "catalog.db")


def test_a_catalogue_of_an_earlier_epoch_is_refused(root: Path, tmp_path: Path) -> None:
    copy = shutil.copy(root / "catalog.db", tmp_path / "copy")
    with opened(root) as node:
        push(node, 4)
    newest = shutil.copy(root / "catalog.db", tmp_path / "newest")
    put_back(root, copy)
    told = r"is older than its root: \d+ commits, epoch 1, and the root knows of \d+ commits, epoch 2"
    refused(root, f"{told}; expected the newest catalogue.*delete owner.json")
    put_back(root, newest)
    with opened(root) as node:
        assert values(node) == [1, 2, 3, 4]


def test_a_catalogue_of_the_same_epoch_with_fewer_commits_is_refused(root: Path, tmp_path: Path) -> None:
    with opened(root) as node:
        with (
            closing(sqlite3.connect(root / "catalog.db")) as live,
            closing(sqlite3.connect(tmp_path / "copy")) as copy,
        ):
            live.backup(copy)
        push(node, 4)
    put_back(root, tmp_path / "copy")
    refused(root, "is older than its root")


def test_a_mark_tells_how_far_the_catalogue_of_a_killed_node_was(root: Path, tmp_path: Path) -> None:
    with opened(root) as node:
        copy = shutil.copytree(root, tmp_path / "copy")
        before = owner(root)["commits"]
        push(node, 4)
        node._ledger.tidy()
        assert owner(root)["commits"] > before
        shutil.copy(root / "owner.json", copy / "owner.json")
    refused(copy, "is older than its root")


def test_a_root_that_is_older_than_its_catalogue_is_refused(tmp_path: Path) -> None:
    root, catalog = tmp_path / "root", tmp_path / "catalog"
    with opened(root, catalog) as node:
        push(node, 1)
    copy = shutil.copytree(root, tmp_path / "copy")
    for value in (2, 3):
        with opened(root, catalog) as node:
            push(node, value)
    refused(copy, "is older than its catalogue .*restore both from one copy", catalog)


# --- a copy without the journal


def test_a_copy_without_the_journal_of_a_killed_node_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    killed(root, 50)
    assert (root / "catalog.db-wal").stat().st_size > 0
    journal = shutil.copy(root / "catalog.db-wal", tmp_path / "journal")
    for name in ("catalog.db-wal", "catalog.db-shm"):
        (root / name).unlink()
    for _ in range(2):
        refused(root, r"catalog\.db-wal: is missing, and process \d+ on .* did not stop in order")
    shutil.copy(journal, root / "catalog.db-wal")
    with opened(root) as node:
        assert values(node) == list(range(50))


def test_who_has_no_other_copy_continues_and_finds_the_rest_in_the_trash(tmp_path: Path) -> None:
    root = tmp_path / "root"
    killed(root, 50)
    before = files(root)
    for name in ("catalog.db-wal", "catalog.db-shm", "owner.json"):
        (root / name).unlink()
    with opened(root) as node:
        assert values(node) == []
        assert trash(root) == before


def test_a_catalogue_that_was_closed_needs_no_journal(root: Path) -> None:
    change_owner(root, is_open=True)
    with opened(root) as node:
        assert values(node) == [1, 2, 3]


# --- what goes on working


@pytest.mark.parametrize("copy", [shutil.copytree, shutil.move], ids=["copied", "moved"])
def test_a_root_at_rest_may_be_copied_or_moved(
    root: Path, tmp_path: Path, copy: Callable[[Path, Path], Path]
) -> None:
    copy(root, tmp_path / "elsewhere")
    with opened(tmp_path / "elsewhere") as node:
        push(node, 4)
        assert values(node) == [1, 2, 3, 4]
    if root.exists():
        with opened(root) as node:
            assert values(node) == [1, 2, 3], "each goes its own way"


def test_the_root_of_a_killed_node_may_be_copied_whole(tmp_path: Path) -> None:
    killed(tmp_path / "root", 20)
    shutil.copytree(tmp_path / "root", tmp_path / "copy")
    for name in ("copy", "root"):
        with opened(tmp_path / name) as node:
            assert values(node) == list(range(20))


def test_a_catalogue_may_move_to_another_folder(tmp_path: Path) -> None:
    with opened(tmp_path / "root", tmp_path / "one") as node:
        push(node, 1)
    shutil.move(tmp_path / "one", tmp_path / "two")
    with opened(tmp_path / "root", tmp_path / "two") as node:
        assert values(node) == [1]
    assert owner(tmp_path / "root")["place"] == str(tmp_path / "two" / "catalog.db")


def test_a_root_without_an_owner_is_taken_on(root: Path) -> None:
    (root / "owner.json").unlink()
    with opened(root) as node:
        assert values(node) == [1, 2, 3]
    assert owner(root)["epoch"] == 2


@pytest.mark.parametrize("point", ["root.epoch", "root.owned", "root.released"])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_node_that_is_killed_while_it_opens_or_closes(root: Path, point: str, is_new: bool) -> None:
    if is_new:
        shutil.rmtree(root)
    for _ in range(3):
        killed(root, 0, point)
    with opened(root) as node:
        assert values(node) == ([] if is_new else [1, 2, 3])


def test_an_opening_that_fails_does_not_look_like_a_crash(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> int:
        raise OSError("no")

    with monkeypatch.context() as patch:
        patch.setattr("australis.engine.ledger.open_root.publish_rest", fail)
        with pytest.raises(OSError, match="no"):
            Node(root, runner=InProcess())
    assert not owner(root)["is_open"]
    with opened(root) as node:
        assert values(node) == [1, 2, 3]


def test_a_damaged_owner_is_named(root: Path) -> None:
    (root / "owner.json").write_text('{"root": ')
    refused(root, r"owner\.json: is damaged")


# --- another node that has taken the root


def test_a_node_stops_whose_root_was_taken_over(root: Path) -> None:
    with opened(root) as node:
        push(node, 4)
        change_owner(root, epoch=9, process="process 1 on elsewhere")
        with pytest.raises(EngineError, match="was taken over by process 1 on elsewhere, with the catalogue"):
            node._ledger.tidy()
    assert owner(root)["epoch"] == 9, "what the other has written stays"


def test_an_owner_that_was_deleted_is_written_again(root: Path) -> None:
    with opened(root) as node:
        push(node, 4)
        (root / "owner.json").unlink()
        node._ledger.tidy()
        assert owner(root)["epoch"] == 2


def test_two_openings_at_one_moment_are_not_both_the_first(tmp_path: Path) -> None:
    root = Root.of(tmp_path / "root")
    root.prepare()
    root.write("plans/mine", b"mine")
    root.write("plans/theirs", b"theirs")
    root.claim("plans/mine", "owner.json")
    with pytest.raises(FileExistsError):
        root.claim("plans/theirs", "owner.json")
    assert (tmp_path / "root" / "owner.json").read_bytes() == b"mine"


def test_the_network_of_a_refused_root_is_still_there(root: Path) -> None:
    change_owner(root, catalog="another")
    refused(root, "belongs to the catalogue")
    change_owner(root, catalog=_known_id(root))
    with Node(root, runner=InProcess()) as node:
        assert node.recorded() == network()


def _known_id(root: Path) -> str:
    with closing(sqlite3.connect(root / "catalog.db")) as db:
        (found,) = db.execute("select value from meta where key = 'catalog'").fetchone()
    return str(found)


# --- what a root has lost


@pytest.mark.parametrize("given", [{"epoch": "1"}, {"commits": None}, {"is_open": 0}, {"place": 7}])
def test_an_owner_with_another_kind_of_value_is_damaged(root: Path, given: dict[str, object]) -> None:
    change_owner(root, **given)
    refused(root, rf"owner\.json: is damaged: {next(iter(given))} is ")


def test_a_journal_is_missed_that_had_even_the_tables(tmp_path: Path) -> None:
    root = tmp_path / "root"
    killed(root, point="deploy.recorded")
    journal = shutil.copy(root / "catalog.db-wal", tmp_path / "journal")
    (root / "catalog.db-wal").unlink()
    with closing(sqlite3.connect(f"file:{root}/catalog.db?immutable=1", uri=True)) as db:
        assert not db.execute("select name from sqlite_master").fetchall()
    before = (root / "catalog.db").read_bytes()
    refused(root, r"catalog\.db-wal: is missing, and process \d+ on .* did not stop in order")
    assert (root / "catalog.db").read_bytes() == before
    shutil.copy(journal, root / "catalog.db-wal")
    with opened(root) as node:
        push(node, 1)
        assert values(node) == [1]


@pytest.mark.parametrize("content", [None, b""])
def test_an_identity_that_is_lost_is_named_and_not_made_anew(root: Path, content: bytes | None) -> None:
    identity = (root / "identity").read_bytes()
    (root / "identity").unlink()
    if content is not None:
        (root / "identity").write_bytes(content)
    refused(
        root, f"identity: is gone or empty, .*; expected the file as it was, with {identity.decode()} in it"
    )
    assert (root / "identity").exists() == (content is not None)
    (root / "identity").write_bytes(identity)
    with opened(root) as node:
        assert values(node) == [1, 2, 3]


def test_the_catalogue_of_a_copy_takes_no_file_for_an_orphan(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "copy")
    for each in (root, copy):
        with opened(each) as node:
            push(node, 4)
    own, before = (root / "catalog.db").read_bytes(), files(root)
    shutil.copy(copy / "catalog.db", root / "catalog.db")
    with opened(root) as node:
        node._ledger.tidy()
        node._ledger.tidy()
        with pytest.raises(EngineError, match="cannot be read"):
            node.read("out")
    assert files(root) >= before
    assert not trash(root)
    (root / "catalog.db").write_bytes(own)
    (root / "owner.json").unlink()
    with opened(root) as node:
        assert values(node) == [1, 2, 3, 4]


def test_orphans_go_again_when_what_was_missing_is_back(root: Path, tmp_path: Path) -> None:
    name = min(files(root))
    kept = shutil.move(root / name, tmp_path / "kept")
    (root / "segments" / "orphan.parquet").write_bytes(b"orphan")
    with opened(root) as node:
        node._ledger.tidy()
        node._ledger.tidy()
        assert not trash(root)
        shutil.move(kept, root / name)

        def is_tidy() -> bool:
            node._ledger.tidy()
            return bool(trash(root))

        # Maintenance that is at work may have written what nobody knows.
        until(is_tidy)
        assert trash(root) == {"segments/orphan.parquet"}
        assert values(node) == [1, 2, 3]
