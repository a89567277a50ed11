"""A world that refuses or breaks: an error that names the thing, and nothing that was committed is lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.crash.child import SOURCE, log
from tests.crash.disks import Disk, small_disk
from tests.crash.scenarios import Scenario, scenario

from australis import Node
from australis.engine.train.commit import Train
from australis.errors import EngineError

HALF = 12
GIVEN = scenario("keyed", 3, 2 * HALF)


@contextmanager
def opened(root: Path) -> Iterator[Node]:
    """A node of the tests' session; its workers keep nothing in memory, so they read what is on the disk."""
    with Node(root, clock=lambda: 0, cache=0) as node:
        node.deploy(GIVEN.network)
        yield node


def feed(node: Node, until: int, given: Scenario = GIVEN) -> None:
    """Log the events behind the last one, up to a number."""
    for number in range(int(node.position(SOURCE) or 0), until):
        log(node, given, number)


def finished(node: Node) -> dict[str, list[dict[str, object]]]:
    """All outputs, when the rest of the events has gone through."""
    feed(node, len(GIVEN.events))
    node.drain()
    return {name: node.read(name).to_pylist() for name in (*GIVEN.network.outputs, "quarantine")}


@pytest.fixture(scope="module")
def undisturbed(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, object]]]:
    with opened(tmp_path_factory.mktemp("undisturbed") / "root") as node:
        outputs = finished(node)
    assert all(outputs.values())
    return outputs


@pytest.fixture
def root(spark: SparkSession, tmp_path: Path) -> Path:
    """A root with half of the events: some went through, some wait."""
    with opened(tmp_path / "root") as node:
        feed(node, HALF // 2)
        node.drain()
        node.pause()
        feed(node, HALF)
    return tmp_path / "root"


def flip(path: Path) -> None:
    """Change a byte in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path) -> None:
    """Lose the second half."""
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    """Lose everything but the name."""
    os.truncate(path, 0)


DAMAGES = pytest.mark.parametrize("damage", [flip, cut, empty, os.remove], ids=lambda each: each.__name__)


def waiting_segment(root: Path) -> Path:
    """A segment with tuples that no train has taken."""
    with sqlite3.connect(root / "catalog.db") as db:
        (name,) = db.execute("select name from segment where arc = 'left' order by base desc").fetchone()
    return root / str(name)


def current_state(root: Path) -> Path:
    with sqlite3.connect(root / "catalog.db") as db:
        (name,) = db.execute("select name from state order by bytes desc").fetchone()
    return root / str(name)


@DAMAGES
@pytest.mark.parametrize("find", [waiting_segment, current_state], ids=lambda each: each.__name__)
def test_a_damaged_file_is_named_and_the_run_goes_on_behind_its_repair(
    root: Path,
    tmp_path: Path,
    undisturbed: dict[str, list[dict[str, object]]],
    find: Callable[[Path], Path],
    damage: Callable[[Path], None],
) -> None:
    file = find(root)
    copy = shutil.copy(file, tmp_path / "copy")
    damage(file)
    with opened(root) as node:
        with pytest.raises(EngineError, match=file.name):
            node.drain()
        shutil.copy(copy, file)
        node.resume()
        assert finished(node) == undisturbed


def flip_page(path: Path) -> None:
    """Flip the type of a page that a table begins with: elsewhere a byte may be one that nobody reads."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("pragma page_size").fetchone()
        (page,) = db.execute("select rootpage from sqlite_master where name = 'segment'").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [flip_page, cut], ids=lambda each: each.__name__)
def test_a_damaged_catalogue_is_named_and_the_run_goes_on_behind_its_repair(
    root: Path,
    tmp_path: Path,
    undisturbed: dict[str, list[dict[str, object]]],
    damage: Callable[[Path], None],
) -> None:
    file = root / "catalog.db"
    assert not file.with_name("catalog.db-wal").exists(), "a node that stopped leaves one file"
    copy = shutil.copytree(root, tmp_path / "copy")
    damage(file)
    with pytest.raises(EngineError, match=r"catalog\.db.*damaged"):
        Node(root)
    assert set(copy.rglob("*.parquet")) == {copy / path.relative_to(root) for path in root.rglob("*.parquet")}
    shutil.copy(copy / "catalog.db", file)
    with opened(root) as node:
        assert finished(node) == undisturbed


@pytest.mark.parametrize("damage", [empty, os.remove], ids=lambda each: each.__name__)
def test_a_catalogue_that_is_gone_is_not_replaced_by_an_empty_one(
    root: Path, damage: Callable[[Path], None]
) -> None:
    damage(root / "catalog.db")
    with pytest.raises(EngineError, match=r"catalog\.db"):
        Node(root)
    assert list(root.rglob("*.parquet")), "no file is deleted"


def test_a_second_node_is_refused(root: Path) -> None:
    with opened(root), pytest.raises(EngineError, match="open in another node"):
        Node(root)


def test_an_error_that_nobody_foresaw_stops_the_node(
    root: Path, undisturbed: dict[str, list[dict[str, object]]]
) -> None:
    def fail(train: Train) -> None:
        raise ValueError(f"{train.superbox} was heard")

    with opened(root) as node:
        node.on_train(fail)
        feed(node, HALF + 4)
        with pytest.raises(EngineError, match=r"ValueError: .* was heard"):
            node.drain()
        node.on_train(lambda train: None)
        node.resume()
        assert finished(node) == undisturbed


def test_a_file_that_may_not_grow(root: Path, undisturbed: dict[str, list[dict[str, object]]]) -> None:
    """A limit of the process stands for a full disk where no disk can be made."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    much = pa.concat_tables([GIVEN.events[HALF].batch] * 1000)
    with opened(root) as node:
        node.drain()
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(EngineError, match="cannot be written"):
                node.push("left", much)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert finished(node) == undisturbed


# --- disks of their own


@pytest.fixture
def disk() -> Iterator[Disk]:
    """A small disk in memory, where this process may mount one."""
    with small_disk(6 << 20) as made:
        if made is None:
            pytest.skip("no right to mount a disk")
        yield made


def test_a_full_disk_stops_what_comes_in(
    spark: SparkSession, disk: Disk, undisturbed: dict[str, list[dict[str, object]]]
) -> None:
    with opened(disk.path / "root") as node:
        feed(node, HALF)
        node.drain()
        disk.fill()
        with pytest.raises(EngineError, match=r"cannot be written.*No space left"):
            feed(node, len(GIVEN.events))
        disk.free()
        node.resume()
        assert finished(node) == undisturbed


def test_a_full_disk_stops_trains(
    spark: SparkSession, disk: Disk, undisturbed: dict[str, list[dict[str, object]]]
) -> None:
    with opened(disk.path / "root") as node:
        node.pause()
        feed(node, HALF)
        disk.fill()
        node.resume()
        with pytest.raises(EngineError, match="cannot be written"):
            node.drain()
        disk.free()
        node.resume()
        assert finished(node) == undisturbed


def test_a_node_that_ended_on_a_full_disk_goes_on(
    spark: SparkSession, disk: Disk, undisturbed: dict[str, list[dict[str, object]]]
) -> None:
    with opened(disk.path / "root") as node:
        node.pause()
        feed(node, HALF)
        disk.fill()
        node.resume()
        with pytest.raises(EngineError, match="cannot be written"):
            node.drain()
    disk.free()
    with opened(disk.path / "root") as node:
        assert finished(node) == undisturbed


def test_a_read_only_root_is_refused(spark: SparkSession, disk: Disk) -> None:
    with opened(disk.path / "root") as node:
        feed(node, 2)
    disk.remount("ro")
    with pytest.raises(EngineError, match="Read-only"):
        Node(disk.path / "root")
