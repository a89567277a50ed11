"""Merges of layers beside the trains: nothing is lost, whatever trains and changes do meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.in_process import InProcess
from tests.waiting import until

from australis import Network, NetworkBuilder, Node, Order
from australis.engine.change import switch
from australis.engine.maintain import Upkeep, merging
from australis.engine.maintain.merging import Merging, run_to_merge
from australis.engine.store import read_layer
from australis.engine.train import commit
from australis.engine.worker import keeping

KEYS = 300


def network(outputs: tuple[str, ...] = ("counts",)) -> Network:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long not null, at long not null")
    counted = stream.aggregate({"n": "count(*)"}, Order("at", 0, ("k",)), 1_000_000, as_="count")
    for name in outputs:
        counted.filter(f"'{name}' <> ''", as_=f"to_{name}").output(name)
    return net.build()


class Layers:
    """A node whose trains put layers on layers, which are merged only when a test says so."""

    def __init__(self, node: Node) -> None:
        self.node, self._at = node, 0
        self.expected: dict[int, int] = {}

    def train(self, keys: range) -> None:
        self._at += 1
        self.node.push("s", pa.table({"k": list(keys), "at": [self._at] * len(keys)}))
        self.node.drain()
        for key in keys:
            self.expected[key] = self.expected.get(key, 0) + 1

    def pile(self) -> None:
        """A large layer, and some on top of it."""
        self.train(range(KEYS))
        for begin in (0, 50, 100):
            self.train(range(begin, begin + 150))

    def merge(self) -> int:
        (superbox,) = (name for name in self.node._ledger.plan.superboxes if self._states(name))
        return Merging(self.node._ledger, lambda: False).merge(superbox)

    def _states(self, superbox: str) -> bool:
        return bool(self.node._ledger.catalog.states(superbox))

    @property
    def names(self) -> list[str]:
        """The files of the state."""
        plan, catalog = self.node._ledger.plan, self.node._ledger.catalog
        return [file.name for superbox in plan.superboxes for file in catalog.states(superbox)]

    @property
    def files(self) -> set[str]:
        return set(self.node.root.names("states"))

    def check(self) -> None:
        """All counts are what they should be, and all files are there."""
        assert set(self.names) <= self.files
        self.node.flush()
        self.node.drain()
        rows = self.node.read("counts").to_pylist()
        assert {row["k"]: row["n"] for row in rows} == self.expected
        assert len(rows) == len(self.expected)


@pytest.fixture
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Layers]:
    monkeypatch.setattr(Upkeep, "ask_to_merge", lambda self, superboxes: None)
    monkeypatch.setattr(keeping, "LARGE_LAYER", 0)
    monkeypatch.setattr(merging, "LARGE_LAYER", 0)
    monkeypatch.setattr(merging, "BYTES_AT_A_TIME", 1_500)
    settings = {"runner": InProcess(), "partitions": 1, "layered_from": 0, "discipline": "superbox"}
    with Node(tmp_path / "root", **settings) as node:
        node.deploy(network())
        found = Layers(node)
        yield found
        names = found.names
    assert found.files == set(names), "no file stays that nothing refers to"


def meanwhile(monkeypatch: pytest.MonkeyPatch, module: object, point: str, act: Callable[[], object]) -> None:
    """Let something happen when a crash point is reached first."""
    left = [act]

    def reach(name: str) -> None:
        if name == point and left:
            left.pop()()

    monkeypatch.setattr(module, "crash_point", reach)


def test_layers_become_one_in_blocks(layers: Layers) -> None:
    layers.pile()
    assert len(layers.names) == 4
    assert layers.merge() == 4
    (name,) = layers.names
    blocks = read_layer(layers.node.root, name).blocks
    assert len(blocks) > 4
    assert sum(len(block.hashes) for block in blocks) == KEYS
    layers.train(range(10))
    assert len(layers.names) == 2
    layers.check()


def test_trains_add_layers_while_others_are_merged(layers: Layers, monkeypatch: pytest.MonkeyPatch) -> None:
    layers.pile()
    meanwhile(monkeypatch, merging, "merge.swapping", lambda: layers.train(range(20, 80)))
    assert layers.merge() == 4
    assert len(layers.names) == 2
    layers.check()


def test_what_is_forgotten_meanwhile_does_not_come_back(
    layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers.pile()

    def end() -> None:
        layers.node.flush()
        layers.node.drain()

    meanwhile(monkeypatch, merging, "merge.swapping", end)
    assert layers.merge() == 0
    rows = layers.node.read("counts").to_pylist()
    layers.node.flush()
    layers.node.drain()
    assert layers.node.read("counts").to_pylist() == rows
    assert {row["k"]: row["n"] for row in rows} == layers.expected


def test_a_train_that_writes_all_replaces_what_was_merged_while_it_ran(
    layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers.pile()
    meanwhile(monkeypatch, commit, "train.committing", layers.merge)
    layers.node.flush()
    layers.node.drain()
    assert len(layers.names) == 1
    rows = layers.node.read("counts").to_pylist()
    layers.node.flush()
    layers.node.drain()
    assert layers.node.read("counts").to_pylist() == rows


def test_a_train_that_merged_layers_itself_stands_on_what_was_merged_while_it_ran(
    layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers.pile()
    monkeypatch.setattr(keeping, "LAYERS_MOST", 3)
    meanwhile(monkeypatch, commit, "train.committing", layers.merge)
    layers.train(range(70, 260))
    assert len(layers.names) == 2
    layers.check()


def test_a_change_takes_over_files_that_no_merge_replaces(
    layers: Layers, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers.pile()
    merges = threading.Thread(target=layers.merge)

    def merge_beside() -> None:
        written = threading.Event()
        meanwhile(monkeypatch, merging, "merge.swapping", written.set)
        merges.start()
        assert written.wait(30)
        # It has to wait until the change is over; if it did not, this would let it go first.
        merges.join(0.3)

    meanwhile(monkeypatch, switch, "change.prepared", merge_beside)
    layers.node.change(network(("counts", "again")))
    merges.join()
    layers.train(range(30, 90))
    layers.check()


def test_a_merge_that_is_not_finished_leaves_an_orphan(layers: Layers) -> None:
    layers.pile()
    before = layers.names
    (superbox,) = (name for name in layers.node._ledger.plan.superboxes if layers._states(name))
    asked = iter([False, True])
    assert Merging(layers.node._ledger, lambda: next(asked)).merge(superbox) == 0
    assert layers.names == before
    assert len(layers.files) == len(before) + 1

    def is_tidy() -> bool:
        layers.node._ledger.tidy()
        return layers.files == set(before)

    until(is_tidy)
    layers.check()


def test_upkeep_merges_after_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE_LAYER", 0)
    monkeypatch.setattr(merging, "LARGE_LAYER", 0)
    with Node(tmp_path / "root", runner=InProcess(), partitions=1, layered_from=0) as node:
        node.deploy(network())
        layers = Layers(node)
        layers.pile()
        superboxes = list(node._ledger.plan.superboxes)
    with Node(tmp_path / "root", runner=InProcess(), partitions=2, layered_from=0) as node:
        layers.node = node
        # A file that was merged while a train still read it may be there until the next scan for orphans.
        assert sum(len(node._ledger.catalog.states(name)) for name in superboxes) < 4
        node.deploy(network())
        layers.train(range(5))
        layers.check()


# --- what is worth it


@given(st.lists(st.integers(1, 100), max_size=40))
def test_few_files_stay_and_each_byte_is_written_a_few_times(arrivals: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(merging, "LARGE_LAYER", 0)
        patched.setattr(merging, "FILES_MOST", 4)
        sizes: list[int] = []
        written = 0
        for arrived in arrivals:
            sizes.append(arrived)
            begin, end = run_to_merge(sizes)
            while end > begin:
                written += sum(sizes[begin:end])
                sizes[begin:end] = [sum(sizes[begin:end])]
                begin, end = run_to_merge(sizes)
            assert sum(sizes[1:]) < sizes[0], "what is outdated takes no more space than the rest"
            assert len(sizes) <= 4 + 7, "above so many each is smaller than the half of what is below"
        assert written <= 8 * sum(arrivals)
