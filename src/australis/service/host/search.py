"""Search: parts of the network by name, type, argument, tag or description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from australis.algebra.form import to_json
from australis.algebra.network import Network


class Kind(StrEnum):
    """What is searched for."""

    BOX = "box"
    ARC = "arc"
    INPUT = "input"
    OUTPUT = "output"
    POINT = "point"
    GROUP = "group"


class Found(NamedTuple):
    """A part that has all words."""

    kind: Kind
    id: str
    where: list[str]
    """The fields that have a word."""
    text: str
    """The first of these fields."""


def search(network: Network, words: str, kind: Kind | None = None) -> list[Found]:
    """The parts that have all words somewhere, in any case; those by name come first.

    >>> import australis
    >>> net = australis.NetworkBuilder("n")
    >>> speeds = net.input("speeds", "car int, mph int")
    >>> fast = speeds.filter("mph > 80", as_="fast", tag="police").output("out")
    >>> [(each.kind.value, each.id, each.where) for each in search(net.build(), "MPH 80")]
    [('box', 'fast', ['argument'])]
    """
    wanted = words.lower().split()
    found = []
    for each, name, fields in _parts(network):
        if kind in (None, each) and wanted:
            where = [field for field, text in fields.items() if any(word in text.lower() for word in wanted)]
            everything = " ".join(fields.values()).lower()
            if all(word in everything for word in wanted):
                found.append(Found(each, name, where, fields[where[0]]))
    return sorted(found, key=lambda each: "name" not in each.where)


def _parts(network: Network) -> Iterator[tuple[Kind, str, dict[str, str]]]:
    document = to_json(network)
    sections = {
        Kind.INPUT: document.get("inputs", {}),
        Kind.BOX: document.get("boxes", {}),
        Kind.POINT: document.get("connection_points", {}),
        Kind.GROUP: document.get("groups", {}),
        Kind.OUTPUT: document.get("outputs", {}),
    }
    for kind, parts in sections.items():
        for name, part in parts.items():
            yield kind, name, _fields(name, part)
    for ref, schema in network.schemas.items():
        yield Kind.ARC, str(ref), {"name": str(ref), "type": str(schema)}


def _fields(name: str, part: dict[str, Any]) -> dict[str, str]:
    """What can be searched of a part."""
    rest = {key: value for key, value in part.items() if key not in ("box", "schema", "tag", "description")}
    types = [part[key] for key in ("box", "schema") if key in part]
    return {
        "name": name,
        "type": " ".join(each if isinstance(each, str) else _text(each) for each in types),
        "tag": part.get("tag", ""),
        "description": part.get("description", ""),
        "argument": _text(rest),
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
