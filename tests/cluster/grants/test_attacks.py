"""Every message about pieces, forged in every way: refused and counted, and the piece of a friend goes on.

Strangers are nodes with true certificates; those without do not get so far.
"""

from __future__ import annotations

import json
import secrets
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cluster.grants.made import (
    SCHEMA,
    big,
    definition,
    grant,
    hold,
    now_us,
    reading,
    sealed,
    withdrawal,
)
from tests.cluster.identities import identity
from tests.cluster.links.test_attacks import Stranger
from tests.cluster.nodes import Linked, numbers
from tests.waiting import until

import australis
from australis.algebra.network import Network
from australis.algebra.user_functions import register_function
from australis.cluster.grants import WITHDRAWALS, Signed
from australis.cluster.identity import Credentials
from australis.cluster.wire import (
    GRANT_MOST,
    HEAD,
    KEPT_MOST,
    LETTER_MOST,
    PIECE_MOST,
    Agree,
    Ask,
    Define,
    Keep,
    Post,
    Refusal,
    Refused,
)
from australis.policy.machines import ENCODE

TRUSTS = ("lab", "shop", "evil")
FILTER = {"box": "filter", "predicates": ["k > 3"]}


def network() -> Network:
    net = australis.NetworkBuilder("granting")
    net.input("n", SCHEMA).output("seen")
    net.input("m", SCHEMA).output("secret")
    return net.build()


@dataclass
class Scene:
    """The node that grants, a friend with a piece, and strangers."""

    folder: Path
    a: Linked
    b: Linked
    pushed: int = 0
    strangers: list[Stranger] = field(default_factory=list)

    def stranger(self, name: str = "lab/x") -> Stranger:
        identity(self.folder, name, TRUSTS)
        found = Stranger(self.folder, self.a.place, name)
        self.strangers.append(found)
        return found

    def sealed(self, signer: str = "shop/a", **changes: Any) -> bytes:
        return sealed(self.folder, grant(**changes), signer).data

    def refused(self, why: str = "") -> int:
        found = self.a.cluster.status().refused
        return found.get(why, 0) if why else sum(found.values())

    def pieces(self) -> list[str]:
        return sorted(each.holder for each in self.a.cluster.status().pieces)

    def check(self) -> None:
        """The friend's piece runs as before, alone."""
        while self.strangers:
            self.strangers.pop().close()
        self.pushed += 1
        self.a.node.push("n", numbers(self.pushed))
        until(lambda: self.b.seen() == list(range(1, self.pushed + 1)))
        assert self.pieces() == ["lab/b/n"]
        assert len(self.a.node.attached()) == 1


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("attacks")
    place = hold(folder, sealed(folder, grant(holders=("lab/b",))))
    with (
        Linked(folder, "shop/a", network(), trusts=TRUSTS, watch_s=0.5, offers={"*": ["lab/*"]}) as a,
        Linked(folder, "lab/b", reading(big(1)), trusts=TRUSTS, grants=[place]) as b,
    ):
        b.cluster.connect(a.name, a.place)
        b.cluster.arrange({"n": ("shop/a/seen", 1.0)})
        found = Scene(folder, a, b)
        until(lambda: found.pieces() == ["lab/b/n"])
        until(lambda: b.cluster.status().links_in[0].state == "running")
        found.check()
        yield found


def ask(
    stranger: Stranger, piece: str | bytes, shown: bytes, output: str = "seen", **how: Any
) -> Refusal | Agree:
    """Define a piece, and wait for the answer."""
    data = piece.encode() if isinstance(piece, str) else piece
    number = secrets.randbelow(1 << 30) + 1
    stranger.say(Define(number, output, how.get("input", "x"), 1.0, how.get("version", 1), data, shown))
    while True:
        found = stranger.hear(object).said
        if isinstance(found, Refusal | Agree) and found.link == number:
            return found


# --- grants that do not hold


def forged(scene: Scene) -> bytes:
    """Signed by the holder itself, who says that it is the granter."""
    said = grant()
    seal = Credentials.load(scene.folder / "lab-b").seal(b"australis grant\n" + ENCODE(said))
    return Signed(said, seal).data


def of_others(scene: Scene) -> bytes:
    """Signed by a node of a participant that is trusted, for that participant."""
    return sealed(scene.folder, grant(granter="evil", nodes=("*",)), "evil/a").data


def with_a_borrowed_seal(scene: Scene) -> bytes:
    """The seal of another grant."""
    other = sealed(scene.folder, grant())
    return Signed(grant(outputs=("*",)), other.seal).data


def with_greater_limits(scene: Scene) -> bytes:
    made = sealed(scene.folder, grant(limits={"rate": 1.0}))
    limits = msgspec.structs.replace(made.said.limits, rate=1e9)  # type: ignore[union-attr]
    return Signed(msgspec.structs.replace(made.said, limits=limits), made.seal).data


def with_another_certificate(scene: Scene) -> bytes:
    made = sealed(scene.folder, grant())
    other = Credentials.load(scene.folder / "lab-b")
    return Signed(made.said, msgspec.structs.replace(made.seal, certificate=other.certificate)).data


def a_withdrawal(scene: Scene) -> bytes:
    return sealed(scene.folder, withdrawal(grant())).data


def withdrawn(scene: Scene) -> bytes:
    said = grant(id="f" * 32, serial=5)
    scene.a.cluster.withdraw_grant(sealed(scene.folder, withdrawal(said)))
    # An older one of the same id, whatever else it says.
    return scene.sealed(id="f" * 32, serial=4, outputs=("*",))


GRANTS: dict[str, Callable[[Scene], bytes]] = {
    "none": lambda scene: b"",
    "nonsense": lambda scene: b"nonsense",
    "nested": lambda scene: b"[" * 10_000,
    "forged": forged,
    "of others": of_others,
    "borrowed seal": with_a_borrowed_seal,
    "greater limits": with_greater_limits,
    "another certificate": with_another_certificate,
    "a withdrawal": a_withdrawal,
    "withdrawn": withdrawn,
    "stolen": lambda scene: scene.sealed(holders=("lab/b",)),
    "another output": lambda scene: scene.sealed(outputs=("secret",)),
    "another node": lambda scene: scene.sealed(nodes=("shop/c",)),
    "ended": lambda scene: scene.sealed(expires=now_us() - 1),
    "not begun": lambda scene: scene.sealed(
        begins=now_us() + 3_600_000_000, expires=now_us() + 7_200_000_000
    ),
}


@pytest.mark.parametrize("name", ["lab/x", "evil/x"])
@pytest.mark.parametrize("case", GRANTS)
def test_a_grant_that_does_not_hold(scene: Scene, case: str, name: str) -> None:
    before = scene.refused("piece_grant")
    answer = ask(scene.stranger(name), definition(FILTER), GRANTS[case](scene))
    assert isinstance(answer, Refusal)
    assert answer.code is Refused.GRANT
    assert scene.refused("piece_grant") == before + 1
    scene.check()


def test_a_grant_that_holds_is_refused_to_nobody_it_is_for(scene: Scene) -> None:
    """What the other tests change one thing of."""
    stranger = scene.stranger()
    assert isinstance(ask(stranger, definition(FILTER), scene.sealed()), Agree)
    assert scene.pieces() == ["lab/b/n", "lab/x/x"]
    stranger.say(Keep(()))
    until(lambda: scene.pieces() == ["lab/b/n"])
    scene.check()


# --- pieces that make no sense, or are not offered


PIECES: dict[str, str | bytes] = {
    "nothing": "",
    "no document": "[]",
    "no text": b"\xff\xfe",
    "nested": "[" * 20_000,
    "no boxes": definition(),
    "no schema": json.dumps({"before": [FILTER]}),
    "more fields": definition(FILTER, more=1),
    "boxes that are none": json.dumps({"before": [3], "schema": {"k": "long"}}),
    "schema that is none": json.dumps({"before": [FILTER], "schema": []}),
    "types that are none": json.dumps({"before": [FILTER], "schema": {"k": "mystery"}}),
    "types that are no texts": json.dumps({"before": [FILTER], "schema": {"k": 7}}),
    "an unknown box": definition({"box": "nothing"}),
    "a box without a name": definition({"predicates": ["k > 3"]}),
    "a box with a name that is no text": definition({"box": {"a": 1}}),
    "a system box": definition({"box": "drop", "probability": 0.5}),
    "two inputs": definition({"box": "join", "predicate": "k = k", "size": 3}),
    "sources of its own": definition({**FILTER, "from": "m"}),
    "an unknown attribute": definition({"box": "filter", "predicates": ["salary > 3"]}),
    "a wrong type": definition({"box": "filter", "predicates": ["v"]}),
    "an expression without end": definition({"box": "filter", "predicates": ["(" * 10_000]}),
    "another schema than it says": definition(
        FILTER, schema={"k": "long not null"}, reads={"k": "long not null", "v": "double"}
    ),
    "attributes that are not there": definition(
        FILTER, reads={"k": "long not null", "v": "double", "w": "int"}
    ),
    "another timezone": definition(FILTER, timezone="Europe/Berlin"),
    "a box that is not offered": definition(
        {"box": "number", "attribute": "n"},
        schema={"k": "long not null", "v": "double", "n": "long not null"},
    ),
    "a function that is not offered": definition({"box": "filter", "predicates": ["sqrt(v) > 3"]}),
    "a function of a user": definition({"box": "filter", "predicates": ["`shady:one`(k) > 3"]}),
    "too many boxes": definition(*[FILTER] * 4),
    "very many boxes": definition(*[FILTER] * 200),
}


@pytest.fixture(scope="module", autouse=True)
def _function_of_a_user() -> None:
    register_function("shady:one", lambda k: k, takes=("long",), returns="long")


@pytest.mark.parametrize("case", PIECES)
def test_a_piece_that_makes_no_sense_or_is_not_offered(scene: Scene, case: str) -> None:
    before = scene.refused("piece_piece")
    shown = scene.sealed(functions=("abs", "shady*"), limits={"boxes": 3})
    answer = ask(scene.stranger(), PIECES[case], shown)
    assert isinstance(answer, Refusal)
    assert answer.code is Refused.PIECE, answer.why
    assert scene.refused("piece_piece") == before + 1
    scene.check()


@pytest.mark.parametrize("output", ["nothing", "quarantine", "piece"])
def test_boxes_behind_what_is_no_output_of_the_network(scene: Scene, output: str) -> None:
    (piece,) = scene.a.cluster.status().pieces
    asked = piece.name if output == "piece" else output
    answer = ask(scene.stranger(), definition(FILTER), scene.sealed(outputs=("*",)), asked)
    assert isinstance(answer, Refusal)
    assert answer.code is Refused.NOT_OFFERED
    scene.check()


def test_what_a_piece_emits_is_for_its_holder_alone(scene: Scene) -> None:
    """Though an offer is for all outputs."""
    (piece,) = scene.a.cluster.status().pieces
    stranger, before = scene.stranger(), scene.refused("not_offered")
    stranger.say(Ask(7, piece.name, "x", 1.0))
    answer = stranger.hear(Refusal).said
    assert isinstance(answer, Refusal)
    assert answer.code is Refused.NOT_OFFERED
    assert scene.refused("not_offered") == before + 1
    scene.check()


# --- out of order, too often, too much


def test_an_older_definition_does_not_replace_a_later_one(scene: Scene) -> None:
    stranger, shown = scene.stranger(), scene.sealed()
    later, older = definition({"box": "filter", "predicates": ["k > 9"]}), definition(FILTER)
    assert isinstance(ask(stranger, later, shown, version=9), Agree)
    running = scene.a.node.attached()
    for version in (8, 9):
        answer = ask(stranger, older, shown, version=version)
        assert isinstance(answer, Refusal)
        assert answer.code is Refused.PIECE
    assert scene.a.node.attached() == running
    # The same again, whatever its version, changes nothing.
    for version in (3, 9, 10):
        assert isinstance(ask(stranger, later, shown, version=version), Agree)
    assert scene.a.node.attached() == running
    stranger.say(Keep(()))
    until(lambda: scene.pieces() == ["lab/b/n"])
    scene.check()


def test_more_pieces_than_a_grant_admits(scene: Scene) -> None:
    stranger, shown = scene.stranger(), scene.sealed(limits={"pieces": 2})
    answers = [ask(stranger, definition(FILTER), shown, input=f"x{number}") for number in range(3)]
    assert [type(each) for each in answers] == [Agree, Agree, Refusal]
    refusal = answers[2]
    assert isinstance(refusal, Refusal)
    assert refusal.code is Refused.LIMIT
    stranger.say(Keep(()))
    until(lambda: scene.pieces() == ["lab/b/n"])
    scene.check()


def test_a_link_number_twice(scene: Scene) -> None:
    stranger, shown, before = scene.stranger(), scene.sealed(), scene.refused("link_twice")
    one = Define(5, "seen", "x", 1.0, 1, definition(FILTER).encode(), shown)
    stranger.say(one, one)
    stranger.hear(Agree)
    until(lambda: scene.refused("link_twice") == before + 1)
    stranger.say(one)
    until(lambda: scene.refused("link_twice") == before + 2)
    stranger.say(Keep(()))
    until(lambda: scene.pieces() == ["lab/b/n"])
    scene.check()


@pytest.mark.parametrize("inputs", [(), ("n",), ("x",)])
def test_what_is_kept_or_not_of_others(scene: Scene, inputs: tuple[str, ...]) -> None:
    """A node speaks of its own pieces only."""
    for name in ("lab/x", "evil/x"):
        stranger = scene.stranger(name)
        stranger.say(Keep(inputs))
        assert stranger.is_answered()
    scene.check()


LARGE: dict[str, Any] = {
    "piece": Define(1, "seen", "x", 1.0, 1, b"x" * (PIECE_MOST + 1)),
    "grant": Define(1, "seen", "x", 1.0, 1, b"", b"x" * (GRANT_MOST + 1)),
    "inputs": Keep(tuple(f"x{number}" for number in range(KEPT_MOST + 1))),
    "input": Keep(("x" * 256,)),
    "no input": Keep(("",)),
    "link": Define(0, "seen", "x", 1.0, 1, b""),
    "version": Define(1, "seen", "x", 1.0, 0, b""),
    "weight": Define(1, "seen", "x", 0.0, 1, b""),
    "letter": Post(WITHDRAWALS, b"x" * (LETTER_MOST + 1)),
}


@pytest.mark.parametrize("case", LARGE)
def test_out_of_bounds(scene: Scene, case: str) -> None:
    stranger = scene.stranger()
    text = msgspec.json.encode(LARGE[case])
    data = struct.pack(">I", len(text)) + text
    stranger.send(HEAD.pack(0, 1, len(data)) + data) if len(data) <= 64 << 10 else stranger.say(LARGE[case])
    assert stranger.is_ended()
    scene.check()


# --- withdrawals


def letter(*withdrawals: Signed) -> bytes:
    return ENCODE({"type": "_Letter", "withdrawals": withdrawals})


def friends(scene: Scene) -> Any:
    """The grant that the friend shows."""
    (held,) = scene.b.cluster.status().grants
    return held.grant


FORGED: dict[str, Callable[[Scene], tuple[str, bytes]]] = {
    "of a stranger": lambda scene: (
        "lab/x",
        letter(sealed(scene.folder, withdrawal(friends(scene)))),
    ),
    "nonsense": lambda scene: ("shop/x", b"nonsense"),
    "a grant": lambda scene: ("shop/x", letter(sealed(scene.folder, grant()))),
    "signed by another participant": lambda scene: (
        "shop/x",
        letter(
            Signed(
                withdrawal(friends(scene)),
                Credentials.load(scene.folder / "lab-b").seal(
                    b"australis grant\n" + ENCODE(withdrawal(friends(scene)))
                ),
            )
        ),
    ),
    "changed": lambda scene: (
        "shop/x",
        letter(
            Signed(withdrawal(friends(scene)), sealed(scene.folder, withdrawal(grant())).seal),
        ),
    ),
    "of an earlier serial": lambda scene: (
        "shop/x",
        letter(
            sealed(
                scene.folder,
                msgspec.structs.replace(withdrawal(grant(id="0" * 32)), serial=1),
            )
        ),
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_withdrawal_that_is_none(scene: Scene, case: str) -> None:
    name, data = FORGED[case](scene)
    stranger = scene.stranger(name)
    stranger.say(Post(WITHDRAWALS, data))
    assert stranger.is_answered()
    # What is left to do for it is done before what is asked next.
    answer = ask(stranger, definition(FILTER), b"no grant")
    assert isinstance(answer, Refusal)
    scene.check()
