"""What a train writes of a state, and what a worker keeps of it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.conformance.events import rows_of

from australis import Order
from australis.algebra.boxes import Aggregate, WSort
from australis.algebra.schema import TS, parse_schema
from australis.engine.store import Root, is_layer, read_states
from australis.engine.worker import keeping
from australis.engine.worker.keeping import Place, forget_states, kept_state, limit_states, written_state
from australis.errors import EngineError
from australis.kernels.kernel import Kernel, State
from australis.kernels.layers import LayeredState
from australis.kernels.make import kernel_for

SCHEMA = parse_schema("k long not null, at long not null")
COUNT = kernel_for(Aggregate({"n": "count(*)"}, Order("at", 0, ("k",)), 1_000_000), (SCHEMA,))
SORT = kernel_for(WSort(("at",), "1 h"), (SCHEMA,))


class Kept:
    """A state, train by train."""

    def __init__(self, root: Root, kernel: Kernel = COUNT, layered_from: int = 0) -> None:
        self.root, self.kernel, self.layered_from = root, kernel, layered_from
        self.names: tuple[str, ...] = ()
        self.bytes = 0

    def train(self, keys: range, at: int) -> None:
        before: State = kept_state(self.root, self.kernel, self.names) if self.names else self.kernel.start()
        rows = {"k": list(keys), "at": [at] * len(keys), TS: [0] * len(keys)}
        batch = pa.table(rows).cast(SCHEMA.arrow_with_ts)
        if isinstance(before, LayeredState):
            part = before.concerned({0: batch}, {}, 0, ending=False)
            after: State = before.after(part, self.kernel.step(part.state, 0, batch, 0).state)
        else:
            after = self.kernel.step(before, 0, batch, 0).state
        place = Place(self.root, "count", 0, self.kernel, self.names, self.layered_from)
        made = written_state(place, before, after)
        self.root.write(made.name, made.data)
        for name in made.replaces:
            self.root.delete(name)
        self.names = (*(name for name in self.names if name not in made.replaces), made.name)
        self.bytes = made.size

    def counts(self) -> dict[int, int]:
        """The tuples of each key."""
        ended = self.kernel.flush(read_states(self.root, self.kernel, self.names), 0)
        return {row["k"]: row["n"] for row in rows_of(ended.outputs[0])}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    forget_states()
    limit_states(1 << 20)
    found = Root.of(tmp_path)
    found.prepare()
    return found


def test_a_train_writes_what_it_changes(root: Root) -> None:
    kept = Kept(root)
    kept.train(range(10_000), 1)
    whole = kept.bytes
    kept.train(range(5), 2)
    assert kept.bytes < whole / 50
    assert len(kept.names) == 2
    assert kept.counts() == {k: 2 if k < 5 else 1 for k in range(10_000)}


def test_there_are_few_layers_and_each_group_is_written_a_few_times(root: Root) -> None:
    kept, layers, total = Kept(root), [], 0
    kept.train(range(16_000), 0)
    whole, total = kept.bytes, kept.bytes
    for at in range(1, 101):
        kept.train(range(at * 10, at * 10 + 10), at)
        layers.append(len(kept.names))
        total += kept.bytes
    assert max(layers) <= 12
    assert len(list(root.names("states"))) == len(kept.names), "files that are replaced are gone"
    assert total < 4 * whole, "writing the whole state by every train would be a hundred times as much"
    assert kept.counts() == {k: 2 if 10 <= k < 1010 else 1 for k in range(16_000)}


def test_a_process_that_has_kept_nothing_continues(root: Root) -> None:
    kept = Kept(root)
    for at in range(8):
        kept.train(range(at, 100), at)
        forget_states()
    assert kept.counts() == {k: min(k, 7) + 1 for k in range(100)}


def test_small_states_are_written_whole(root: Root) -> None:
    kept = Kept(root, layered_from=100_000)
    kept.train(range(10), 0)
    assert not is_layer(kept.names[0])
    kept.train(range(10, 5_000), 1)
    assert is_layer(kept.names[0])
    kept.train(range(10), 2)
    assert kept.counts() == {k: 2 if k < 10 else 1 for k in range(5_000)}


def test_a_state_that_does_not_fall_into_groups_is_written_whole(root: Root) -> None:
    kept = Kept(root, SORT)
    kept.train(range(10), 0)
    kept.train(range(10), 1)
    assert len(kept.names) == 1
    assert not is_layer(kept.names[0])


@pytest.mark.parametrize("where", [0, 100, 4_000, -1])
def test_a_damaged_layer_is_refused(root: Root, where: int) -> None:
    kept = Kept(root)
    kept.train(range(1_000), 0)
    path = Path(root.path(kept.names[0]))
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(data)
    forget_states()
    with pytest.raises(EngineError, match="is damaged"):
        kept_state(root, COUNT, kept.names)


@pytest.mark.parametrize("length", [0, 10, 2_000])
def test_a_torn_layer_is_refused(root: Root, length: int) -> None:
    kept = Kept(root)
    kept.train(range(1_000), 0)
    path = Path(root.path(kept.names[0]))
    path.write_bytes(path.read_bytes()[:length])
    forget_states()
    with pytest.raises(EngineError, match=r"is damaged|cannot be read"):
        kept_state(root, COUNT, kept.names)


def test_a_process_lets_go_of_layers_that_are_replaced(root: Root) -> None:
    """Mapped into memory, a deleted file would still take space on the disk."""
    kept = Kept(root)
    for at in range(40):
        kept.train(range(at, at + 50), at)
    assert set(keeping._layers) <= set(kept.names)
    names, other = kept.names, Kept(root)
    other.names = names
    for at in range(40, 60):
        # Another process runs the trains: this one has only what it had before.
        known = dict(keeping._layers._entries), dict(keeping._states._entries)
        forget_states()
        other.train(range(at, at + 50), at)
        keeping._layers._entries, keeping._states._entries = known
    kept_state(root, COUNT, other.names)
    assert set(keeping._layers) <= set(other.names)
    assert set(keeping._states) == {" ".join(other.names)}
