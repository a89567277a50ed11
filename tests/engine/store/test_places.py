"""Where files are: roots that are paths and URIs, one node on each, what is decoded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.engine.store.cache import Cache
from australis.engine.store.lock import RootLock
from australis.engine.store.root import SEGMENTS, Root
from australis.errors import EngineError


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root.of(tmp_path / "root")
    root.prepare()
    return root


# --- roots


@pytest.mark.parametrize("name", ["plain", "with a space", "ünï", "a#b", "100%25", "a?b&c=d"])
def test_a_path_and_its_uri_are_one_root(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    root, same = Root.of(path), Root.of(path.as_uri())
    root.prepare()
    root.write(f"{SEGMENTS}/x", b"content")
    assert root == same
    assert root.local == path
    assert (path / SEGMENTS / "x").read_bytes() == b"content"
    with same.open(f"{SEGMENTS}/x") as source:
        assert source.read() == b"content"
    assert list(same.names(SEGMENTS)) == [f"{SEGMENTS}/x"]


def test_a_relative_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Root.of("here").local == tmp_path / "here"


def test_a_file_is_written_once(root: Root) -> None:
    root.write(f"{SEGMENTS}/x", b"one")
    with pytest.raises(EngineError, match=f"{SEGMENTS}/x: cannot be written: File exists"):
        root.write(f"{SEGMENTS}/x", b"two")


def test_what_is_gone_may_be_deleted(root: Root) -> None:
    root.write(f"{SEGMENTS}/x", b"")
    root.delete(f"{SEGMENTS}/x")
    root.delete(f"{SEGMENTS}/x")
    assert list(root.names(SEGMENTS)) == []


def test_a_file_in_the_place_of_a_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match=r"file.*cannot be written"):
        Root.of(tmp_path / "file").prepare()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_directory_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(EngineError, match=r"cannot be written.*a root that can be written"):
        Root.of(tmp_path / "root").prepare()


def test_a_scheme_that_nobody_knows_is_refused() -> None:
    with pytest.raises(EngineError, match="nowhere://x: cannot be reached"):
        Root.of("nowhere://x").prepare()


# --- locks


def test_one_lock_on_a_directory(tmp_path: Path) -> None:
    first = RootLock(tmp_path)
    with pytest.raises(EngineError, match=f"is open in another node, process {os.getpid()}"):
        RootLock(tmp_path)
    first.close()
    first.close()
    RootLock(tmp_path).close()


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from australis.engine.store.lock import RootLock;"
        "lock = RootLock(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(EngineError, match=f"process {holder.pid}"):
            RootLock(tmp_path)
        holder.kill()
    RootLock(tmp_path).close()


# --- what is decoded

ASKED = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 12), st.integers(0, 2)), max_size=30)


@given(ASKED)
def test_a_cache_keeps_to_its_budget(asked: list[tuple[str, int, int]]) -> None:
    cache = Cache[int](budget=20)
    sizes: dict[str, int] = {}
    for name, size, priority in asked:
        size = sizes.setdefault(name, size)
        assert cache.get(name, lambda size=size: size, lambda value: value, priority) == size  # type: ignore[misc]
        assert sum(sizes[kept] for kept in cache) <= 20
    assert cache.hits + cache.misses == len(asked)


def test_the_lowest_priority_goes_first_then_the_longest_unused() -> None:
    cache = Cache[str](budget=30)
    for name, priority in [("low", 0.0), ("old", 1.0), ("used", 1.0)]:
        cache.put(name, name, 10, priority)
    cache.put("new", "new", 10, 1.0)
    assert sorted(cache) == ["new", "old", "used"]
    assert cache.get("old", str, len, 1.0) == "old"
    cache.put("newer", "newer", 10, 1.0)
    assert sorted(cache) == ["new", "newer", "old"]


def test_what_is_larger_than_the_budget_is_not_kept() -> None:
    cache = Cache[str](budget=5)
    cache.put("small", "x", 5)
    cache.put("large", "x", 6)
    assert list(cache) == ["small"]
    cache.drop("small")
    assert list(cache) == []
