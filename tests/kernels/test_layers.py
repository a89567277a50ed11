"""States in layers, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from australis import Order
from australis.algebra.boxes import Aggregate
from australis.algebra.schema import TS, parse_schema
from australis.errors import KernelError
from australis.kernels.arrays import frozen
from australis.kernels.layers import (
    Block,
    Layer,
    LayeredState,
    merged,
    merged_blocks,
    packed,
    packing,
    shape_of,
    unpack_layer,
)
from australis.kernels.layers.gathering import Selection, gathered
from australis.kernels.layers.layer import first_of_each, in_order, split_found
from australis.kernels.layers.narrow import narrowed
from australis.kernels.make import kernel_for

SCHEMA = parse_schema("k string, at long not null")
COUNT = kernel_for(Aggregate({"n": "count(*)"}, Order("at", 0, ("k",)), 1_000), (SCHEMA,))
SHAPE = shape_of(COUNT)


def batch(keys: list[str | None], at: int) -> pa.Table:
    rows = {"k": pa.array(keys, pa.string()), "at": [at] * len(keys), TS: [0] * len(keys)}
    return pa.table(rows).cast(SCHEMA.arrow_with_ts)


def after(state: LayeredState, tuples: pa.Table) -> LayeredState:
    part = state.concerned({0: tuples}, {}, 0, ending=False)
    return state.after(part, COUNT.step(part.state, 0, tuples, 0).state)


def begun(*keys: str | None) -> LayeredState:
    assert SHAPE is not None
    return LayeredState.of(SHAPE, COUNT.step(COUNT.start(), 0, batch(list(keys), 0), 0).state)


def counts(state: LayeredState) -> dict[str | None, int]:
    ended = COUNT.flush(state, 0).outputs[0]
    return {row["k"]: row["n"] for row in ended.to_pylist()}


def test_a_kernel_sees_only_the_groups_of_its_tuples() -> None:
    state = begun("a", "b", None)
    part = state.concerned({0: batch(["b", "new"], 1)}, {}, 0, ending=False)
    assert part.state["groups"]["k"].to_pylist() == ["b"]
    assert counts(after(state, batch(["b", "new", None], 1))) == {"a": 1, "b": 2, None: 2, "new": 1}


def test_many_events_on_top_of_a_state_make_few_layers() -> None:
    state = begun(*(f"k{number}" for number in range(500)))
    below = state.layers
    for at in range(1, 101):
        state = after(state, batch([f"k{at}", f"new{at}"], at))
    assert state.layers[0] is below[0], "what a file has stays what it is"
    assert len(state.layers) <= 8
    assert counts(state) == {
        **{f"k{number}": 2 if 0 < number <= 100 else 1 for number in range(500)},
        **{f"new{at}": 1 for at in range(1, 101)},
    }


def test_an_event_that_concerns_no_group_adds_no_layer() -> None:
    state = begun("a")
    part = state.concerned({}, {}, 0, ending=False)
    assert state.after(part, dict(part.state)) is state


def test_of_a_group_in_several_layers_the_newest_counts() -> None:
    assert SHAPE is not None
    state = after(begun("a", "b"), batch(["a"], 1))
    whole = merged(SHAPE, state.layers, lowest=True)
    assert len(whole.blocks[0].hashes) == 2
    assert counts(LayeredState(SHAPE, (whole,))) == counts(state) == {"a": 2, "b": 1}


def test_a_forgotten_group_leaves_no_trace_in_the_lowest_layer() -> None:
    assert SHAPE is not None
    state = begun("a", "b")
    tuples = batch(["a"], 1)
    part = state.concerned({0: tuples}, {}, 0, ending=False)
    state = state.after(part, COUNT.start())
    assert counts(state) == {"b": 1}
    (above,) = merged(SHAPE, state.layers[1:], lowest=False).blocks
    assert len(above.hashes) == 1, "it hides the group below"
    (whole,) = merged(SHAPE, state.layers, lowest=True).blocks
    assert len(whole.hashes) == 1


def tables_of(block: Block) -> dict[str, pa.Table]:
    assert SHAPE is not None
    return dict(LayeredState(SHAPE, (Layer((block,)),)))


def test_the_bytes_of_a_layer_are_used_where_they_lie() -> None:
    (layer,) = begun("a", "b", None).layers
    (block,) = layer.blocks
    data = pa.py_buffer(b"".join(packed([block])))
    (found,) = unpack_layer(data).blocks
    assert found.hashes.tolist() == block.hashes.tolist()
    assert tables_of(found) == tables_of(block)
    (chunk,) = found.tables["windows"]["#start"].chunks
    address = chunk.buffers()[1].address
    assert data.address <= address < data.address + data.size
    assert address % 8 == 0


NEVER = 2**63 - 1


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([NEVER, NEVER - 255], pa.uint8()),
        ([-(2**63), None, 256 - 2**63], pa.uint16()),
        ([5, 2**32 + 4], pa.uint32()),
        ([5, 2**32 + 5], pa.int64()),
        ([-(2**63), NEVER], pa.int64()),
        ([], pa.int64()),
    ],
)
def test_whole_numbers_take_as_few_bytes_as_their_range_needs(
    numbers: list[int | None], kind: pa.DataType
) -> None:
    assert SHAPE is not None
    (block,) = begun("a", "b", None).layers[0].blocks
    count = len(numbers)
    own = pa.table({"number": pa.array(numbers, pa.int64()), "text": pa.array(["x"] * count, pa.string())})
    found = narrowed(own)
    assert found["number"].type == kind
    selection = Selection(replace(block, tables={"groups": found}), np.arange(count), np.arange(count)[::-1])
    shape = replace(SHAPE, numbered=(replace(SHAPE.numbered[0], followers={}),))
    assert gathered(shape, [selection], count).tables["groups"] == own.take(pa.array(np.arange(count)[::-1]))


def test_layers_of_older_versions_have_wide_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHAPE is not None
    keys = [f"k{number}" for number in range(500)]
    state = after(after(begun(*keys), batch(keys[100:300], 70)), batch(keys[200:], 100_000))
    narrow = unpack_layer(pa.py_buffer(b"".join(packed(state.layers[-1].blocks))))
    monkeypatch.setattr(packing, "narrowed", lambda table: table)
    old = unpack_layer(pa.py_buffer(b"".join(packed(state.layers[0].blocks))))
    monkeypatch.undo()
    mixed = LayeredState(SHAPE, (old, *state.layers[1:-1], narrow))
    assert dict(mixed) == dict(state)
    blocks = tuple(merged_blocks(SHAPE, mixed.layers, lowest=True, bytes_most=2_000))
    found = unpack_layer(pa.py_buffer(b"".join(packed(blocks))))
    assert len(found.blocks) > 5
    assert dict(LayeredState(SHAPE, (found,))) == dict(state)


def test_damaged_bytes_are_refused() -> None:
    (layer,) = begun("a", "b", None).layers
    whole = b"".join(packed(layer.blocks))
    for data in (b"", whole[:-1], whole[1:], whole[:100] + b"x" + whole[101:]):
        with pytest.raises(KernelError, match="is damaged"):
            unpack_layer(pa.py_buffer(data))


def test_layers_of_older_versions_do_not_say_what_is_only_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_for(Aggregate({"n": "count(*)"}, Order("at", 0, ("k",)), 1_000, timeout="1 s"), (SCHEMA,))
    shape, tables = shape_of(kernel), packing._tables
    assert shape is not None
    state = LayeredState.of(shape, kernel.step(kernel.start(), 0, batch(["a"], 0), 7).state)
    monkeypatch.setattr(
        packing,
        "_tables",
        lambda layer: [
            (kind, name, table.drop_columns(["quiet"]) if kind == "index" else table)
            for kind, name, table in tables(layer)
        ],
    )
    read = unpack_layer(pa.py_buffer(b"".join(packed(state.layers[0].blocks))))
    assert LayeredState(shape, (read,)).deadline == state.deadline == 1_000_008


@pytest.mark.parametrize("differ", [1, 30, 1 << 17, 1 << 40])
def test_hashes_are_put_in_order(differ: int) -> None:
    """Many or few that differ, spread evenly over all numbers."""
    drawn = np.random.default_rng(differ).integers(0, differ, 100_000, np.uint64)
    hashes = drawn * np.uint64(0x9E3779B97F4A7C15)
    ascending, order = in_order(hashes)
    assert np.array_equal(order, np.argsort(hashes, kind="stable"))
    assert np.array_equal(ascending, hashes[order])
    found, first = first_of_each(hashes)
    assert np.array_equal(found, np.unique(hashes))
    assert np.array_equal(first, np.unique(hashes, return_index=True)[1])


@pytest.mark.parametrize("count", [0, 1, 50, 3_000, 100_000])
def test_hashes_are_found_among_few_and_many(count: int) -> None:
    random = np.random.default_rng(count)
    hashes = np.unique(random.integers(0, 1 << 40, count, np.uint64))
    wanted = np.unique(np.append(random.integers(0, 1 << 40, 1_000, np.uint64), hashes[::7]))
    ranks = random.permutation(len(wanted))
    places, own, others, theirs = split_found(*map(frozen, (hashes, wanted, ranks)))
    has = np.isin(wanted, hashes)
    assert np.array_equal(hashes[places], wanted[has])
    assert np.array_equal(others, wanted[~has])
    assert np.array_equal(own, ranks[has])
    assert np.array_equal(theirs, ranks[~has])


def test_a_part_has_its_groups_in_the_order_of_their_tuples() -> None:
    state = after(begun("a", "b", "c", "d"), batch(["c"], 1))
    part = state.concerned({0: batch(["d", "c", "new", "d", "a"], 2)}, {}, 0, ending=False)
    assert part.state["groups"]["k"].to_pylist() == ["d", "c", "a"]


def test_blocks_of_a_merge_have_all_groups_once() -> None:
    assert SHAPE is not None
    state = after(begun(*(f"k{number}" for number in range(500))), batch(["k7", "new"], 1))
    blocks = tuple(merged_blocks(SHAPE, state.layers, lowest=True, bytes_most=2_000))
    assert len(blocks) > 10
    hashes = np.concatenate([block.hashes for block in blocks])
    assert (hashes[1:] > hashes[:-1]).all()
    assert counts(LayeredState(SHAPE, (Layer(blocks),))) == counts(state)
