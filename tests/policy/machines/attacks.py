"""The attacks on a machine by letters: each must be refused and counted, and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from tests.policy.machines.hosting import letter

from australis.policy.machines import ENCODE, MOST_BYTES, Letter, Machine, Received, Value

STRANGER = "eve"


@dataclass(frozen=True)
class Scene:
    """A machine in which a message of a partner has an effect, or is at least understood."""

    machine: Machine
    sender: str
    message: Value
    now: int = 0
    number: int = 50
    """Of the letter: earlier ones have made the scene."""
    incarnation: int = 1


def _twisted(scene: Scene, **fields: Any) -> bytes:
    """The message with other fields."""
    return ENCODE({**msgspec.json.decode(ENCODE(scene.message)), **fields})


def _write(scene: Scene, message: Any = None, **changes: Any) -> Received:
    message = scene.message if message is None else message
    identity = changes.pop("identity", changes.get("sender", scene.sender))
    sender = changes.pop("sender", scene.sender)
    incarnation = changes.pop("incarnation", scene.incarnation)
    data = letter(scene.machine, sender, message, scene.number, incarnation, **changes)
    return Received(identity, data)


def _replayed(scene: Scene) -> Received:
    event = _write(scene)
    scene.machine.handle(event, scene.now)
    # What was refused the first time is not remembered, and is refused for its own reason again.
    return event


def _overtaken(scene: Scene) -> Received:
    """A letter of an incarnation that is over."""
    later = letter(scene.machine, scene.sender, scene.message, 1, scene.incarnation + 1)
    scene.machine._post.note(msgspec.json.decode(later, type=Letter))
    return _write(scene)


def _oversized(scene: Scene) -> Received:
    return Received(scene.sender, _write(scene).letter + b" " * MOST_BYTES)


def _cut(scene: Scene) -> Received:
    return Received(scene.sender, _write(scene).letter[:-3])


ATTACKS: dict[str, tuple[Callable[[Scene], Received], str]] = {
    "forged sender": (lambda s: _write(s, identity=STRANGER), "identity"),
    "wrong identity": (lambda s: _write(s, identity=s.machine.name), "identity"),
    "stranger": (lambda s: _write(s, sender=STRANGER), "stranger"),
    "another's letter": (lambda s: _write(s, to="somebody"), "address"),
    "another policy's letter": (lambda s: _write(s, policy="weather"), "address"),
    "replayed": (_replayed, "repeat"),
    "earlier incarnation": (_overtaken, "stale"),
    "oversized": (_oversized, "oversized"),
    "cut off": (_cut, "malformed"),
    "not JSON": (lambda s: Received(s.sender, b"\xff\x00"), "malformed"),
    "nested without end": (lambda s: Received(s.sender, b'{"message":' + b"[" * 100_000), "malformed"),
    "unknown version": (lambda s: _write(s, version=2), "version"),
    "incarnation below 1": (lambda s: _write(s, incarnation=0), "malformed"),
    "number beyond bounds": (
        lambda s: Received(s.sender, _write(s).letter.replace(b'"number":50', b'"number":1e30')),
        "malformed",
    ),
    "unknown message": (lambda s: _write(s, b'{"type":"Nonsense"}'), "message"),
    "unknown field": (lambda s: _write(s, _twisted(s, extra=1)), "message"),
    "no message": (lambda s: _write(s, b"null"), "message"),
}


def attacked(scene: Scene, attack: str) -> None:
    """Let an attack happen: refused for its reason, counted, without any effect."""
    make, why = ATTACKS[attack]
    event = make(scene)
    refused_before = +scene.machine.refused
    before = scene.machine.snapshot()
    assert scene.machine.handle(event, scene.now) == []
    assert scene.machine.snapshot() == before
    new = scene.machine.refused - refused_before
    if attack == "replayed" and why not in new:
        # It made no sense the first time either.
        why = next(iter(new))
    assert new == {why: 1}


def handed_over(scene: Scene) -> list[Any]:
    """What the machine does about the true letter."""
    return scene.machine.handle(_write(scene), scene.now)


def said_again(scene: Scene) -> None:
    """The same message in a later letter and in an earlier one has no second effect on the state."""
    handed_over(scene)
    before = msgspec.json.decode(scene.machine.snapshot())["state"]
    for number in (scene.number + 1, scene.number - 1):
        data = letter(scene.machine, scene.sender, scene.message, number, scene.incarnation)
        scene.machine.handle(Received(scene.sender, data), scene.now)
        assert msgspec.json.decode(scene.machine.snapshot())["state"] == before
