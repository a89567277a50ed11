"""What a worker keeps of states, and what of them a train has to write.

A small state is written whole by every train that changes it. One that falls into groups is laid in layers
once it is large: a train writes those that it has changed as a layer on top, together with the small layers
below that are not much larger. Large ones are merged beside the trains. So there are few layers, and each
tuple's group is written a few times only. What all partitions have alike, such as the rows of a stored table,
is in one file for all of them, which is written when it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from australis.engine.store import (
    EVERY_PARTITION,
    LARGE_LAYER,
    Cache,
    Root,
    encode_layer,
    encode_state,
    read_layer,
    read_states,
)
from australis.kernels.kernel import Kernel, State
from australis.kernels.layers import Bytes, Layer, LayeredState, joins, merged, shape_of

_HELD_MOST = 1 << 20
"""A new layer with more bytes is read from its file again, where that needs no memory of the worker."""

LAYERS_MOST = 24
"""How many layers a state may have before a train merges large ones, too, lest they become ever more."""

_states: Cache[State] = Cache()
_layers: Cache[Layer] = Cache()


def forget_states() -> None:
    """Forget all states, as a new process would."""
    _states.clear()
    _layers.clear()


def limit_states(budget: int) -> None:
    """Set how many bytes of states this process may keep."""
    _states.budget = _layers.budget = budget


def kept_state(root: Root, kernel: Kernel, names: Sequence[str]) -> State:
    """The state in some files, which are read only if this process does not have it."""
    return _states.get(_key(names), lambda: _read(root, kernel, names), _size)


def _read(root: Root, kernel: Kernel, names: Sequence[str]) -> State:
    """Read a state that others have changed: what this process has of earlier ones is outdated."""
    for cache in (_states, _layers):
        outdated = [key for key in cache if _whose(key) == _whose(names[0]) and key not in names]
        for key in outdated:
            cache.drop(key)
    return read_states(root, kernel, names, _layer)


def _layer(root: Root, name: str) -> Layer:
    # What is mapped into memory is not the worker's own.
    is_mapped = root.local is not None
    return _layers.get(name, lambda: read_layer(root, name), lambda layer: 0 if is_mapped else layer.nbytes)


@dataclass(frozen=True)
class Written:
    """A file for a changed state, and the files that it replaces."""

    name: str
    data: tuple[Bytes, ...]
    replaces: tuple[str, ...]
    size: int
    is_whole: bool
    """Whether no other file has a part of the state."""


@dataclass(frozen=True)
class Place:
    """Whose state it is, and the files that it was in before a train."""

    root: Root
    box: str
    partition: int
    kernel: Kernel
    names: tuple[str, ...]
    layered_from: int
    """The bytes from which on a state is laid in layers."""


def parts_of(
    kernel: Kernel, partition: int, before: State, after: State, *, with_shared: bool
) -> Iterator[tuple[int, State, State]]:
    """The parts of a state that have files of their own, before and after a train.

    The tables that all partitions share are one of them, for the one task of a train that writes it. A part
    that has not changed is the same before and after.
    """
    if not kernel.shared_tables:
        yield partition, before, after
        return
    own = after.keys() - kernel.shared_tables
    if own:
        yield partition, *_picked(before, after, own)
    if with_shared:
        yield EVERY_PARTITION, *_picked(before, after, kernel.shared_tables)


def _picked(before: State, after: State, names: Set[str]) -> tuple[State, State]:
    """Some tables of two states; the same mapping twice, if none of them has changed."""
    some, others = ({name: state[name] for name in sorted(names)} for state in (before, after))
    return some, others if any(others[name] is not some[name] for name in names) else some


def written_state(place: Place, before: State, after: State) -> Written:
    """The file that makes a state the one after a train; this process keeps the state."""
    layered = _in_layers(place, after)
    _states.drop(_key(place.names))
    if layered is None:
        name, whole = encode_state(place.root, place.box, place.partition, after)
        _states.put(_key((name,)), after, _size(after))
        return Written(name, (whole,), place.names, len(whole), is_whole=True)
    known = _names_of(place.names, before)
    below = [layer for layer in layered.layers if id(layer) in known]
    fresh = list(layered.layers[len(below) :])
    while below and _merges(below, fresh):
        fresh.insert(0, below.pop())
    top = merged(layered.shape, fresh, lowest=not below)
    name, parts = encode_layer(place.root, place.box, place.partition, top.blocks)
    data = tuple(parts)
    stays = tuple(known[id(layer)] for layer in below)
    if top.nbytes <= _HELD_MOST or place.root.local is None:
        _layers.put(name, top, top.nbytes)
        state = LayeredState(layered.shape, (*below, top))
        _states.put(_key((*stays, name)), state, _size(state))
    replaced = tuple(each for each in place.names if each not in stays)
    for each in replaced:
        # A file that is mapped into memory takes space on the disk though it is deleted.
        _layers.drop(each)
    return Written(name, data, replaced, sum(len(part) for part in data), is_whole=not below)


def _merges(below: Sequence[Layer], fresh: Sequence[Layer]) -> bool:
    """Whether a train merges what it has made with the layer below: a large one only if there are many."""
    is_small = below[-1].nbytes < LARGE_LAYER
    return (is_small or len(below) >= LAYERS_MOST) and joins(below[-1], fresh)


def _in_layers(place: Place, state: State) -> LayeredState | None:
    """A state in layers, if it is in them already or should be."""
    if isinstance(state, LayeredState):
        return state
    shape = shape_of(place.kernel) if _size(state) >= place.layered_from else None
    return None if shape is None else LayeredState.of(shape, state)


def _names_of(names: Sequence[str], state: State) -> dict[int, str]:
    """The file of each layer of a state, by the layer's identity."""
    if not isinstance(state, LayeredState):
        return {}
    return {id(layer): name for layer, name in zip(state.layers, names, strict=True)}


def _whose(key: str) -> str:
    """The box and partition in the name of a file, or of the first of several."""
    return key.split(" ", maxsplit=1)[0].rpartition("-")[0]


def _key(names: Sequence[str]) -> str:
    return " ".join(names)


def _size(state: State) -> int:
    """How many bytes a state takes by itself: its layers are counted one by one."""
    if isinstance(state, LayeredState):
        return sum(len(block.hashes) for layer in state.layers for block in layer.blocks)
    return sum(table.nbytes for table in state.values())
