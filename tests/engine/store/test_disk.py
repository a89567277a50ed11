"""Disks: files by name below a root, the same on this machine and on whatever pyarrow reaches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from obstore.store import LocalStore
from pyarrow import fs

from australis.engine.store import disk
from australis.engine.store.disk import ArrowDisk, Disk, LocalDisk, disk_at, register_disk
from australis.engine.store.objects import ObjectDisk
from australis.errors import EngineError

KINDS: dict[str, Callable[[Path], Disk]] = {
    "local": lambda folder: LocalDisk(fs.LocalFileSystem(), str(folder)),
    "objects": lambda folder: ObjectDisk(LocalStore(folder)),
    "arrow": lambda folder: ArrowDisk(fs.LocalFileSystem(), str(folder)),
}


@pytest.fixture(params=KINDS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    """An empty folder of a disk of each kind."""
    found = KINDS[request.param](tmp_path)
    found.make_folder("a/b")
    return found


def content(files: Disk, name: str) -> bytes:
    with files.open(name) as source:
        return bytes(source.read())


def test_what_was_created_can_be_read(files: Disk) -> None:
    files.create("a/x", b"content")
    files.sync("a/x")
    assert content(files, "a/x") == b"content"
    assert (files.exists("a/x"), files.exists("a/y"), files.exists("a")) == (True, False, False)


def test_names_are_those_of_files_in_all_folders_below(files: Disk) -> None:
    for name in ("a/x", "a/b/y"):
        files.create(name, b"")
    assert sorted(files.names("a")) == ["a/b/y", "a/x"]
    assert list(files.names("nowhere")) == []


def test_a_file_appears_whole_under_another_name_in_a_new_folder(files: Disk) -> None:
    files.create("a/x", b"content")
    files.move("a/x", "c/y")
    assert list(files.names("a")) == []
    assert content(files, "c/y") == b"content"


def test_a_file_is_deleted_once(files: Disk) -> None:
    files.create("a/x", b"")
    files.delete("a/x")
    assert not files.exists("a/x")
    with pytest.raises(FileNotFoundError):
        files.delete("a/x")


def test_many_files_are_deleted_together_also_if_some_are_gone(files: Disk) -> None:
    for name in ("a/x", "a/y", "a/b/z"):
        files.create(name, b"")
    assert files.delete_all(["a/x", "a/b/z"]) == {}
    assert list(files.names("a")) == ["a/y"]


def test_a_file_is_created_once(files: Disk) -> None:
    files.create_once("a/x", b"one")
    with pytest.raises(FileExistsError):
        files.create_once("a/x", b"two")
    assert content(files, "a/x") == b"one"


def test_a_name_is_claimed_once(files: Disk) -> None:
    for name, target in (("a/x", "a/z"), ("a/y", "a/z")):
        files.create(name, name.encode())
        if files.exists(target):
            with pytest.raises(FileExistsError):
                files.claim(name, target)
        else:
            files.claim(name, target)
    assert content(files, "a/z") == b"a/x"
    assert not files.exists("a/x")


def test_sizes_are_those_of_all_files_below(files: Disk) -> None:
    files.create("a/x", b"content")
    files.create("a/b/y", b"")
    assert files.sizes("a") == {"a/x": 7, "a/b/y": 0}
    assert files.size("a/x") == 7
    with pytest.raises(FileNotFoundError):
        files.size("a/z")


def test_tokens_are_never_the_same(files: Disk) -> None:
    assert len({files.token() for _ in range(100)}) == 100


def test_a_local_file_is_never_overwritten(tmp_path: Path) -> None:
    local = KINDS["local"](tmp_path)
    local.create("x", b"one")
    with pytest.raises(FileExistsError):
        local.create("x", b"two")
    assert content(local, "x") == b"one"


# --- which disk


def test_a_directory_is_a_local_disk(tmp_path: Path) -> None:
    found = disk_at(tmp_path.as_uri())
    assert isinstance(found, LocalDisk)
    assert found.directory == tmp_path


def test_what_pyarrow_reaches_elsewhere_is_no_local_disk() -> None:
    found = disk_at("mock://bucket/root")
    assert isinstance(found, ArrowDisk)
    assert not isinstance(found, LocalDisk)


def test_what_nobody_reaches_is_refused_by_its_name() -> None:
    with pytest.raises(EngineError, match=r"^nowhere://x: cannot be reached: .*expected a directory or URI$"):
        disk_at("nowhere://x")


def test_a_registered_scheme_finds_its_own_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_SCHEMES", {})
    own, asked = KINDS["local"](tmp_path), []

    def find(uri: str) -> Disk:
        asked.append(uri)
        return own

    register_disk("own", find)
    assert disk_at("own://place/x") is own
    assert asked == ["own://place/x"]
