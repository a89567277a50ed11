"""Pieces at other participants' nodes: real nodes, real connections, and only what is needed crosses over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.cluster.grants.made import SCHEMA, big, grant, hold, now_us, reading, sealed, two, withdrawal
from tests.cluster.nodes import Linked, numbers
from tests.waiting import until

import australis
from australis.algebra.boxes import Filter
from australis.cluster.grants import Grant
from australis.cluster.links import LinkState
from australis.errors import ClusterError


class Scene:
    """A shop's node with an output, and a lab's node that reads a part of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: list[Linked] = []
        self.grant = grant()

    def open(self, *before: Any, grants: Grant | None = None, **options: Any) -> None:
        self.grant = grants or self.grant
        place = hold(self.folder, sealed(self.folder, self.grant))
        self.nodes = [*two(self.folder, reading(*before), place, **options)]
        self.draw()

    @property
    def a(self) -> Linked:
        return self.nodes[0]

    @property
    def b(self) -> Linked:
        return self.nodes[1]

    def draw(self) -> None:
        self.b.cluster.connect(self.a.name, self.a.place)
        self.b.cluster.arrange({"n": ("shop/a/seen", 1.0)})

    def push(self, *found: int) -> None:
        self.a.node.push("n", numbers(*found))

    def problem(self) -> str:
        return self.b.cluster.status().links_in[0].problem

    def is_running(self) -> bool:
        return self.b.cluster.status().links_in[0].state is LinkState.RUNNING

    def pieces(self) -> list[str]:
        return [each for each in self.a.node.attached() if each.startswith("piece_")]

    def close(self) -> None:
        while self.nodes:
            self.nodes.pop().close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.close()


def test_only_what_the_holder_needs_crosses_over(scene: Scene) -> None:
    scene.open(big(9_990))
    until(scene.is_running)
    for begin in range(0, 10_000, 500):
        scene.push(*range(begin, begin + 500))
    until(lambda: scene.b.seen() == list(range(9_990, 10_000)))
    (link,) = scene.b.cluster.status().links_in
    assert (link.source, link.before, link.tuples) == ("shop/a/seen", "filter", 10)
    (piece,) = scene.a.cluster.status().pieces
    assert (piece.holder, piece.output, piece.problem) == ("lab/b/n", "seen", "")
    assert piece.grant == scene.grant.id
    assert [each.output for each in scene.a.cluster.status().links_out] == [piece.name]
    # The whole stream, for comparison.
    with Linked(scene.folder, "shop/c", trusts=("lab", "shop")) as own:
        own.reads(scene.a)
        until(lambda: own.seen() == list(range(10_000)))
        (whole,) = own.cluster.status().links_in
        assert whole.tuples == 10_000
        assert whole.bytes > 50 * link.bytes


def test_attributes_that_are_not_read_stay_at_home(scene: Scene) -> None:
    """The stream has one more, of which the holder need not know."""
    place = hold(scene.folder, sealed(scene.folder, scene.grant))
    wanted = reading(big(3), schema="k long not null")
    scene.nodes = [*two(scene.folder, wanted, place)]
    scene.draw()
    until(scene.is_running)
    scene.push(1, 3, 5)
    until(lambda: scene.b.seen() == [3, 5])


@pytest.mark.parametrize("restarted", ["a", "b", "both"])
def test_everything_comes_once_when_nodes_start_again(scene: Scene, restarted: str) -> None:
    scene.open(big(5))
    until(scene.is_running)
    scene.push(1, 5, 6)
    until(lambda: scene.b.seen() == [5, 6])
    before = scene.a.node.attached()
    if restarted in ("a", "both"):
        scene.a.close()
        scene.nodes[0] = Linked(scene.folder, "shop/a", trusts=("lab", "shop"), watch_s=0.2)
    if restarted in ("b", "both"):
        scene.b.close()
        place = scene.folder / "grants"
        scene.nodes[1] = Linked(
            scene.folder, "lab/b", reading(big(5)), trusts=("lab", "shop"), grants=[place]
        )
    scene.push(2, 7)
    scene.draw()
    until(lambda: scene.b.seen() == [5, 6, 7])
    assert scene.a.node.attached() == before


def test_a_changed_piece_takes_the_place_of_the_earlier_one(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)
    scene.push(1, 5, 6)
    until(lambda: scene.b.seen() == [5, 6])
    scene.b.node.change(reading(big(2)))
    scene.draw()
    until(lambda: _predicate(scene) == "k >= 2")
    scene.push(1, 2, 7)
    until(lambda: scene.b.seen() == [5, 6, 2, 7])
    assert len(scene.pieces()) == 1


def _predicate(scene: Scene) -> str:
    (query,) = scene.a.node.attached().values()
    (node,) = query.boxes.values()
    assert isinstance(node.box, Filter)
    return node.box.predicates[0]


def test_a_piece_goes_with_the_link_that_reads_it(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)
    assert len(scene.pieces()) == 1
    scene.b.cluster.arrange({})
    until(lambda: scene.pieces() == [])
    assert scene.a.cluster.status().pieces == []


def test_a_piece_that_is_wanted_no_more_goes_when_its_holder_comes_back(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)
    scene.b.close()
    scene.nodes[1] = Linked(scene.folder, "lab/b", reading(big(5)), trusts=("lab", "shop"))
    scene.b.cluster.connect(scene.a.name, scene.a.place)
    assert len(scene.pieces()) == 1
    scene.b.cluster.arrange({})
    until(lambda: scene.pieces() == [])


def test_a_withdrawn_grant_ends_its_piece_and_is_remembered(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)
    scene.push(5)
    until(lambda: scene.b.seen() == [5])
    scene.a.cluster.withdraw_grant(sealed(scene.folder, withdrawal(scene.grant)))
    until(lambda: scene.pieces() == [])
    until(lambda: "the grant was withdrawn at" in scene.problem())
    scene.push(6)
    scene.a.close()
    scene.nodes[0] = Linked(scene.folder, "shop/a", trusts=("lab", "shop"), watch_s=0.2)
    scene.b.cluster.connect(scene.a.name, scene.a.place)
    until(lambda: scene.a.cluster.status().refused.get("piece_grant", 0) > 0)
    assert scene.pieces() == []
    # One that is granted anew, with a greater serial, holds.
    hold(scene.folder, sealed(scene.folder, grant(id=scene.grant.id, serial=2)))
    until(scene.is_running)
    scene.push(7)
    until(lambda: scene.b.seen() == [5, 7])


def test_a_withdrawal_reaches_the_other_nodes_of_the_participant(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)
    with Linked(scene.folder, "shop/c", trusts=("lab", "shop")) as other:
        other.cluster.withdraw_grant(sealed(scene.folder, withdrawal(scene.grant)))
        assert len(scene.pieces()) == 1
        other.cluster.connect(scene.a.name, scene.a.place)
        until(lambda: scene.pieces() == [])


def test_a_grant_ends_in_time(scene: Scene) -> None:
    scene.open(big(5), grants=grant(expires=now_us() + 4_000_000))
    until(scene.is_running)
    until(lambda: scene.pieces() == [])
    until(lambda: "the grant ended at" in scene.problem())


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"rate": 1.0}, "tuples/s left it, and its grant admits 1"),
        ({"cores": 1e-9}, "of a core, and its grant admits 1e-09"),
        ({"state": 10}, "bytes, and its grant admits 10"),
    ],
)
def test_a_piece_that_takes_more_than_it_may_is_stopped(
    scene: Scene, limits: dict[str, Any], told: str
) -> None:
    scene.open(big(0), grants=grant(limits=limits))
    until(scene.is_running)
    if "state" in limits:
        # What waits for a reader that does not come.
        scene.b.close()
    scene.push(*range(5_000))
    until(lambda: scene.pieces() == [])
    (piece,) = scene.a.cluster.status().pieces
    assert told in piece.problem
    if "state" not in limits:
        until(lambda: told in scene.problem())
        # It stays so until it is defined in another way, or by another grant.
        hold(scene.folder, sealed(scene.folder, grant(serial=2)))
        until(scene.is_running)


def test_a_piece_that_would_cost_more_than_it_may_does_not_begin(scene: Scene) -> None:
    scene.open()
    stop = Event()

    def keep_pushing() -> None:
        while not stop.is_set():
            scene.push(*range(2_000))

    pushing = Thread(target=keep_pushing)
    pushing.start()
    try:
        until(lambda: scene.a.node.quality().outputs["seen"].tuples > 0)
        hold(scene.folder, sealed(scene.folder, grant(limits={"cores": 1e-9})))
        scene.b.node.change(reading(big(5)))
        scene.draw()
        until(lambda: "it would use" in scene.problem())
        assert scene.pieces() == []
    finally:
        stop.set()
        pushing.join()


def test_a_link_by_name_has_its_boxes_at_whoever_has_the_stream(tmp_path: Path) -> None:
    place = hold(tmp_path, sealed(tmp_path, grant()))
    network = reading(big(5), source="shop/seen")
    both: dict[str, Any] = {"trusts": ("lab", "shop"), "offers": {"seen": ["lab/*"]}}
    with (
        Linked(tmp_path, "shop/a", watch_s=0.2, **both) as a,
        Linked(tmp_path, "lab/b", network, grants=[place], seeds=[a.place], **both) as b,
    ):
        b.cluster.arrange({"n": ("shop/seen", 1.0)})
        until(lambda: b.cluster.status().links_in[0].state is LinkState.RUNNING)
        a.node.push("n", numbers(1, 5, 6))
        until(lambda: b.seen() == [5, 6])
        assert b.cluster.status().links_in[0].before == "filter"


def test_a_change_of_the_granters_network_is_not_held_up_by_pieces(scene: Scene) -> None:
    scene.open(big(5))
    until(scene.is_running)

    def network(output: str) -> Any:
        net = australis.NetworkBuilder("passing")
        net.input("n", SCHEMA).output(output)
        return net.build()

    scene.a.node.change(network("other"))
    assert scene.pieces() == []
    until(lambda: "there is no output 'seen'" in scene.problem())
    scene.a.node.change(network("seen"))
    until(scene.is_running)
    scene.push(4, 6)
    until(lambda: scene.b.seen() == [6])


def test_a_node_of_the_same_participant_needs_no_grant(tmp_path: Path) -> None:
    with (
        Linked(tmp_path, "lab/a", watch_s=0.2) as a,
        Linked(tmp_path, "lab/b", reading(big(5), source="lab/a/seen")) as b,
    ):
        b.cluster.connect(a.name, a.place)
        b.cluster.link("n", "lab/a/seen")
        a.node.push("n", numbers(1, 5))
        until(lambda: len(a.node.attached()) == 1)
        a.node.push("n", numbers(2, 6))
        until(lambda: 6 in b.seen())


def test_boxes_before_a_stream_of_the_same_node_belong_into_its_network(scene: Scene) -> None:
    scene.open(big(5))
    with pytest.raises(ClusterError, match="has boxes before lab/b/seen, which is here"):
        scene.b.cluster.arrange({"n": ("lab/b/seen", 1.0)})


def test_without_a_grant_nothing_is_asked(scene: Scene) -> None:
    scene.open(big(5), grants=grant(outputs=("other",)))
    until(lambda: "none of the 1 grants here is for it" in scene.problem())
    assert scene.a.cluster.status().refused == {}
    with pytest.raises(ClusterError, match="cannot sign for shop"):
        sealed(scene.folder, grant(), signer="lab/b")


def test_a_crash_between_the_root_and_the_network_is_made_good(scene: Scene) -> None:
    """What the root says should run is attached, and what it does not know is detached."""
    scene.open(big(5))
    until(scene.is_running)
    (name,) = scene.pieces()
    query = scene.a.node.attached()[name]
    scene.a.node.detach(name)
    until(lambda: scene.pieces() == [name])
    scene.a.node.attach(query, name="piece_of_nobody", is_guest=True)
    until(lambda: scene.pieces() == [name])
