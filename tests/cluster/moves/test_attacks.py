"""Every letter of a move, forged in every way: refused, and nothing changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cluster.nodes import Linked, numbers, passing
from tests.waiting import until

from australis.cluster.identity import NodeName
from australis.cluster.moves import TOPIC
from australis.cluster.moves.messages import (
    Declined,
    Dropped,
    Given,
    Offer,
    Ready,
    Release,
    Reroute,
    Rerouted,
    Reserve,
    Reserved,
    Taken,
)

MOVE, LIFE = "0123456789abcdef", "0000000000000001-0000000000000001"
LETTERS: dict[str, Any] = {
    type(each).__name__: each
    for each in (
        Offer(MOVE, 1),
        Ready(MOVE, 1),
        Declined(MOVE, "because"),
        Given(MOVE),
        Taken(MOVE),
        Dropped(MOVE),
        Reserve(MOVE, "seen", "n", "lab/x/n"),
        Reserved(MOVE, LIFE, LIFE, 5),
        Reroute(MOVE, "n", "lab/b/seen", "lab/x/out", LIFE, 5),
        Rerouted(MOVE),
        Release(MOVE, "seen", "lab/b/n"),
    )
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Linked, Linked, Linked]]:
    """A node, one that reads it, and a stranger of the same participant that both are connected with."""
    folder: Path = tmp_path_factory.mktemp("letters")
    with Linked(folder, "lab/a") as a, Linked(folder, "lab/b") as b, Linked(folder, "lab/x") as x:
        b.reads(a)
        x.cluster.connect("lab/a", a.place)
        a.node.push("n", numbers(1, 2, 3))
        until(lambda: b.seen() == [1, 2, 3])
        yield a, b, x


def unchanged(a: Linked, b: Linked) -> bool:
    """Whether a network, its readers and what they have are as they were."""
    readers = {*a.node.consumers("seen")}
    return a.node.recorded() == passing() and readers == {"link:lab/b/n"} and b.seen() == [1, 2, 3]


@pytest.mark.parametrize("kind", LETTERS)
def test_of_another_participant(pair: tuple[Linked, Linked, Linked], kind: str) -> None:
    a, b, _ = pair
    for stranger in ("shop/x", "shop/a"):
        data = msgspec.json.encode(LETTERS[kind])
        assert not a.cluster._moving.hear(NodeName.parse(stranger), data)
    assert unchanged(a, b)


@pytest.mark.parametrize("kind", LETTERS)
def test_malformed(pair: tuple[Linked, Linked, Linked], kind: str) -> None:
    a, b, x = pair
    fields = json.loads(msgspec.json.encode(LETTERS[kind]))
    name = next(key for key in fields if key != "type")
    bad = [
        {key: value for key, value in fields.items() if key != name},
        {**fields, name: {"not": "this"}},
        {**fields, name: "x" * 300},
        {**fields, "more": 1},
        {**fields, "type": "Nothing"},
    ]
    before = a.cluster.status().refused.get("move", 0)
    until(lambda: x.cluster.post(a.cluster.name, TOPIC, b"no letter"))
    for each in bad:
        x.cluster.post(a.cluster.name, TOPIC, json.dumps(each).encode())
    until(lambda: a.cluster.status().refused.get("move", 0) == before + len(bad) + 1)
    assert unchanged(a, b)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("kind", LETTERS)
def test_about_a_move_that_there_is_not(pair: tuple[Linked, Linked, Linked], kind: str, times: int) -> None:
    """Also what says that somebody else's link is needed no more, or is to be read from elsewhere."""
    a, b, x = pair
    before = sum(a.cluster.status().refused.values())
    until(lambda: x.cluster.post(a.cluster.name, TOPIC, msgspec.json.encode(LETTERS[kind])))
    for _ in range(times - 1):
        x.cluster.post(a.cluster.name, TOPIC, msgspec.json.encode(LETTERS[kind]))
    if kind in ("Offer", "Given"):
        # It asks the stranger for the boxes, who has none: then it wants nothing of it.
        until(lambda: not a.cluster._moving._coming)
    else:
        until(lambda: sum(a.cluster.status().refused.values()) >= before + times)
    assert unchanged(a, b)
