"""What a client and a node send each other, apart from tables: proofs of a key, problems, networks."""

from __future__ import annotations

import hmac
import importlib
import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any

from australis import errors
from australis.algebra.form import from_json, to_json
from australis.algebra.network import Network
from australis.engine.control.address import VERSION, check_version
from australis.engine.control.channel import Channel, Message
from australis.errors import AlgebraError, AustralisError, EngineError, Problem

_KINDS: dict[str, Any] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, AustralisError) and kind is not AustralisError
}
"""The errors by name; one that is unknown here is raised as an EngineError."""
_GREETING_MOST = 4096
"""The most bytes in a message from a peer that has not yet proved that it has the key."""


@cache
def australis_version() -> str:
    """The version of Australis; looked up only when it is needed, since that takes a while."""
    return str(importlib.import_module("importlib.metadata").version("australis"))


def welcome(channel: Channel, key: str) -> None:
    """The node's part of a greeting: client and node prove to each other that they have the key."""
    ours = secrets.token_hex(32)
    channel.send({"version": VERSION, "australis": australis_version(), "nonce": ours})
    said = channel.receive(_GREETING_MOST)
    check_version("the client", said.get("version"), said.get("australis"))
    theirs = str(said.get("nonce"))
    if not _is_same(said.get("proof"), _proof(key, "client", ours, theirs)):
        expected = "the key in the file beside the catalogue, as it is now"
        raise EngineError(Problem("key", "is not the key of this node", expected))
    channel.send({"proof": _proof(key, "node", ours, theirs)})


def greet(channel: Channel, key: str, who: str) -> None:
    """The client's part of a greeting, with the node `who`."""
    said = channel.receive(_GREETING_MOST)
    check_version(who, said.get("version"), said.get("australis"))
    ours, theirs = secrets.token_hex(32), str(said.get("nonce"))
    channel.send(
        {
            "version": VERSION,
            "australis": australis_version(),
            "nonce": ours,
            "proof": _proof(key, "client", theirs, ours),
        }
    )
    answer = answered(channel.receive(_GREETING_MOST))
    if not _is_same(answer.get("proof"), _proof(key, "node", theirs, ours)):
        raise EngineError(Problem(who, "has not the key of its own file", "the node that has written it"))


def _proof(key: str, whose: str, *nonces: str) -> str:
    return hmac.new(key.encode(), "\n".join((whose, *nonces)).encode(), "sha256").hexdigest()


def _is_same(given: object, proof: str) -> bool:
    return hmac.compare_digest(str(given).encode(), proof.encode())


# --- problems


def refusal(error: Exception) -> Message:
    """An error as an answer; an unexpected one is reported as it is."""
    if not isinstance(error, AustralisError):
        told = Problem("node", f"failed: {type(error).__name__}: {error}")
        return {"error": EngineError.__name__, "problems": [told.as_dict()]}
    found = error.problems if isinstance(error, AlgebraError) else [_problem_of(error)]
    return {"error": type(error).__name__, "problems": [each.as_dict() for each in found]}


def _problem_of(error: AustralisError) -> Problem:
    found = getattr(error, "problem", None)
    return found if isinstance(found, Problem) else Problem("", str(error))


def answered(message: Message) -> Message:
    """An answer; a refusal is raised as the error that it was in the node."""
    if "error" in message:
        raise _error(message)
    return message


def _error(message: Mapping[str, Any]) -> AustralisError:
    """The same error as in the node."""
    problems = [Problem(**{"path": "", **each}) for each in message["problems"]]
    kind = _KINDS.get(message["error"], EngineError)
    error: AustralisError = kind(problems if issubclass(kind, AlgebraError) else problems[0])
    return error


# --- parts of requests


def part(message: Message, name: str, kind: type) -> Any:
    """A part of a request, which must be present and of the right type."""
    found = message.get(name)
    if not isinstance(found, kind):
        given = "is missing" if name not in message else f"is of type {type(found).__name__}"
        raise EngineError(Problem(f"request.{name}", given, f"one of type {kind.__name__}"))
    return found


def network_of(message: Message, *, system: bool = False, query: bool = False) -> Network:
    """The network in a message; with `query`, an ad hoc query."""
    return from_json(part(message, "network", dict), system=system, query=query)


def networks(found: Mapping[str, Network]) -> dict[str, Any]:
    """Networks by name, for a message."""
    return {name: to_json(network) for name, network in found.items()}
