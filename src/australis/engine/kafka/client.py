"""Clients of brokers: their settings, which may be in a file, and what their errors mean.

Librdkafka does not survive a fork, so a client is made in the process that uses it, when it is first used.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from australis.engine.addresses import filled_in
from australis.engine.kafka.address import PROPERTIES, SERVERS, Address
from australis.errors import EngineError, Problem, TryLater

_log = logging.getLogger(__name__)
_OURS = frozenset(
    {
        "auto.offset.reset",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "enable.idempotence",
        "enable.partition.eof",
        "group.id",
        "isolation.level",
        "transactional.id",
    }
)
"""Settings on which exactly-once delivery rests; they are no business of a file."""


def load_client() -> Any:
    """The client library, which is loaded now."""
    try:
        return importlib.import_module("confluent_kafka")
    except ImportError:
        what = "confluent-kafka is not installed, which speaks to brokers"
        raise EngineError(Problem("kafka", what, "pip install 'australis[kafka]'")) from None


def load_admin() -> Any:
    """The part of the client library that asks about topics, and makes them."""
    load_client()
    return importlib.import_module("confluent_kafka.admin")


def client_settings(address: Address) -> dict[str, Any]:
    """The settings of a client: those of the file that `properties` names, and the brokers."""
    found: dict[str, Any] = {}
    if PROPERTIES in address.options:
        found |= _properties(address, Path(address.options[PROPERTIES]))
    if SERVERS in address.options:
        found["bootstrap.servers"] = address.options[SERVERS]
    if "bootstrap.servers" not in found:
        raise address.problem("servers is missing", "servers=HOST:PORT, or bootstrap.servers in the file")
    # The library would write to standard error by itself.
    return {"client.id": "australis", "reconnect.backoff.max.ms": 3000, **found, "logger": _log}


def _properties(address: Address, path: Path) -> dict[str, str]:
    """The settings of a file: `name=value` lines, in which `${NAME}` is an environment variable."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError(
            Problem(str(path), f"cannot be read: {error}", "a file of client settings")
        ) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        name, equals, value = (side.strip() for side in line.partition("="))
        place = f"{path}, line {number}"
        if not equals or not name:
            raise EngineError(Problem(place, "is no setting", "name=value"))
        if name in _OURS:
            raise EngineError(Problem(place, f"{name} is set by {address.name}", "a file without it"))
        found[name] = filled_in(value, place, "a file of settings", quoted=False)
    return found


_HOPELESS = frozenset(
    {
        "_AUTHENTICATION",
        "_BAD_COMPRESSION",
        "_BAD_MSG",
        "_INVALID_ARG",
        "_SSL",
        "_UNKNOWN_PARTITION",
        "_UNKNOWN_TOPIC",
        "BAD_MSG",
        "MSG_SIZE_TOO_LARGE",
        "SASL_AUTHENTICATION_FAILED",
        "UNKNOWN_TOPIC_OR_PART",
    }
)
"""Errors that do not pass by waiting."""


@contextmanager
def trouble(path: str, doing: str) -> Iterator[None]:
    """Report an error of the client library as ours."""
    client = load_client()
    try:
        yield
    except client.KafkaException as error:
        raise failure(path, doing, error.args[0]) from None
    except (ValueError, TypeError) as error:
        raise EngineError(Problem(path, f"{doing}: {error}", "settings that the client knows")) from None


def failure(path: str, doing: str, error: Any) -> EngineError:
    """The error for one that a broker or the client reports; most pass by waiting."""
    text, name = " ".join((error.str() or error.name()).split()), error.name()
    problem = Problem(path, f"{doing}: {text} ({name})", _advice(name))
    return EngineError(problem) if name in _HOPELESS or "AUTHORIZATION" in name else TryLater(problem)


def _advice(name: str) -> str:
    if name in ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE"):
        return "a broker that answers: are servers and its listeners right?"
    if name in ("_AUTHENTICATION", "_SSL", "SASL_AUTHENTICATION_FAILED") or "AUTHORIZATION" in name:
        return "settings in the file of properties that the broker accepts"
    if name in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
        return "a topic that is there"
    return ""
