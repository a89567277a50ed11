"""The JSON and YAML form of networks, version 1: it names every problem, and what it writes reads back equal.

In: a text or a file. Out: a `Network`, and back. The published JSON Schema is `json_schema()`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from australis.algebra.boxes import BOXES, Box
from australis.algebra.expr import nearest
from australis.algebra.form.codecs import (
    ATTRIBUTES,
    FILE_FORMAT,
    FLAG,
    HISTORY,
    IMPORTANCE,
    PROGRESS,
    QUALITY,
    STORE,
    TEXT,
    Codec,
    Json,
    box_codec,
    expect,
    gather_fields,
    object_schema,
    read_fields,
    record,
)
from australis.algebra.form.documents import parse_json, parse_yaml, write_json, write_yaml
from australis.algebra.form.stand_ins import without_faults
from australis.algebra.guards import Gathering, shown
from australis.algebra.network import (
    NAME_PATTERN,
    PATH_PATTERN,
    QUARANTINE,
    ConnectionPoint,
    Draft,
    Group,
    Input,
    Network,
    Node,
    Output,
    Ref,
    query_inputs,
)
from australis.errors import AlgebraError, FormError, Problem

VERSION = 1
SUFFIXES = (".json", ".yaml", ".yml")

REF = Codec(
    {"type": "string"}, lambda v: Ref.parse(expect(v, str, "a stream such as 'pos' or 'route.1'")), str
)


def _read_refs(value: Json) -> tuple[Ref, ...]:
    texts = [value] if isinstance(value, str) else expect(value, list, "a stream or a list of streams")
    return tuple(REF.read(text) for text in texts)


def _write_refs(refs: tuple[Ref, ...]) -> Json:
    return str(refs[0]) if len(refs) == 1 else [str(ref) for ref in refs]


def _refs_schema(arity: tuple[int, int | None]) -> dict[str, Json]:
    """The schema of as many streams as a box takes; a single one needs no brackets."""
    least, most = arity
    items = {"type": "array", "items": {"type": "string"}, "minItems": least}
    several = items if most is None else {**items, "maxItems": most}
    return several if least > 1 else {**several, "type": ["string", "array"]}


REFS = Codec(_refs_schema((1, None)), _read_refs, _write_refs)


def _read_box(value: Json, system: bool = False) -> Box:
    """A box by its name, without its place in a network."""
    expect(value, dict, "an object: a box")
    kind = _kind_of(value, system)
    box: Box = box_codec(BOXES[kind]).read({k: v for k, v in value.items() if k != "box"})
    return box


def _read_chain(value: Json) -> tuple[Box, ...]:
    with Gathering() as gathering:
        found = []
        for index, item in enumerate(expect(value, list, "a list of boxes")):
            with gathering.at(f"[{index}]"):
                found.append(_read_box(item))
    return tuple(found)


def _write_box(box: Box) -> Json:
    return {"box": box.kind, **box_codec(type(box)).write(box)}


def _kind_of(value: Json, system: bool) -> str:
    """The kind of a box in a document."""
    kind = value.get("box")
    known = isinstance(kind, str) and kind in BOXES
    if not known or (BOXES[kind].system and not system):
        reason = "is a system box, which only load shedding adds"
        kinds = [name for name, box in BOXES.items() if not box.system]
        meant = None if known else nearest(str(kind), kinds)
        perhaps = f" (perhaps {meant!r})" if meant else ""
        what = f"{kind!r} {reason}" if known else f"unknown box {shown(kind)}{perhaps}"
        raise FormError(Problem("box", what, f"one of {', '.join(kinds)}"))
    return str(kind)


def _chained_schema(kind: str) -> dict[str, Json]:
    box = box_codec(BOXES[kind]).schema
    required = ["box", *box.get("required", ())]
    return object_schema({"box": {"const": kind}, **box["properties"]}, required, box["title"])


CHAIN = Codec(
    {
        "type": "array",
        "items": {
            "oneOf": [_chained_schema(k) for k, box in BOXES.items() if not box.system and box.arity[0] < 2]
        },
        "minItems": 1,
    },
    _read_chain,
    lambda boxes: [_write_box(box) for box in boxes],
)
"""Boxes that read one stream each, one after the other."""
INPUT = record(
    Input,
    {
        "schema": ATTRIBUTES,
        "from": TEXT,
        "before": CHAIN,
        "reads": ATTRIBUTES,
        "table": FLAG,
        "store": STORE,
        "format": FILE_FORMAT,
        "progress": PROGRESS,
        "weight": TEXT,
        "description": TEXT,
    },
    "a stream or a stored table",
    renamed={"source": "from"},
)
OUTPUT = record(
    Output,
    {"from": REF, "quality": QUALITY, "description": TEXT},
    "a stream to applications",
    renamed={"source": "from"},
)
POINT = record(
    ConnectionPoint,
    {"at": REF, "history": HISTORY, "key": TEXT, "description": TEXT, "importance": IMPORTANCE},
    "an arc that keeps history",
)
GROUP = record(Group, {"tag": TEXT, "description": TEXT}, "a named part of the network")
_PLACE = {"box": TEXT, "from": REFS, "tag": TEXT, "description": TEXT}
_SECTIONS = ("inputs", "boxes", "connection_points", "groups", "outputs")
_TEXTS = {"name": TEXT, "description": TEXT, "timezone": TEXT}
_NAME, _PATH = {"pattern": f"^{NAME_PATTERN}$"}, {"pattern": f"^{PATH_PATTERN}$"}
_KEYS: dict[str, Json] = {
    "inputs": _NAME,
    "boxes": _PATH,
    "connection_points": _NAME,
    "groups": _PATH,
    "outputs": {**_NAME, "not": {"const": QUARANTINE}},
}
"""The pattern of the ids in each section."""


def load(path: str | Path, *, as_written: bool = False, query: bool = False) -> Network:
    """The network in a .json, .yaml or .yml file.

    Relative paths of stores begin at the folder of the file; `as_written` leaves them as they are. With
    `query` it is an ad hoc query: marks come with its connection points.
    """
    file = Path(path)
    _check_suffix(file.suffix, str(path))
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormError(Problem(str(path), f"cannot be read: {error}", "a text file in UTF-8")) from error
    network = loads(text, file.suffix, query=query)
    return network if as_written else network.located(str(file.parent.resolve()))


def _check_suffix(suffix: str, path: str) -> None:
    if suffix.lower() not in SUFFIXES:
        raise FormError(Problem(path, "is not a network file", f"a name that ends in {', '.join(SUFFIXES)}"))


def loads(text: str, suffix: str = ".json", *, query: bool = False) -> Network:
    """The network in a text; with `query` an ad hoc query.

    >>> loads('{"australis": 2}')
    Traceback (most recent call last):
    australis.errors.FormError: australis: version 2 of the form is not supported; expected 1
    """
    _check_suffix(suffix, suffix)
    try:
        document = parse_json(text) if suffix.lower() == ".json" else parse_yaml(text)
        return from_json(document, query=query)
    except RecursionError:
        raise FormError(Problem("", "is nested too deeply", "a network")) from None


def dumps(network: Network, suffix: str = ".json") -> str:
    """The network as a text that `loads` reads back as an equal network."""
    _check_suffix(suffix, suffix)
    if suffix.lower() == ".json":
        return write_json(to_json(network))
    return write_yaml(to_json(network))


def from_json(document: Json, *, system: bool = False, query: bool = False) -> Network:
    """The network that a parsed document describes; `system` admits the boxes that only Australis adds.

    With `query` it is an ad hoc query, whose marks come with its connection points.
    If anything is wrong, the error has every problem that can be found: of the parts that cannot be read, and
    of the others as parts of a network.
    """
    _check_version(document)
    rest = {key: value for key, value in document.items() if key != "australis"}
    sections: dict[str, Callable[[Json], Any]] = {
        "inputs": INPUT.read,
        "boxes": lambda value: _read_node(value, system),
        "connection_points": POINT.read,
        "groups": GROUP.read,
        "outputs": _read_output,
    }
    parts = _PartProblems()
    codecs = {name: Codec({}, _collecting(sections[name], name, parts)) for name in _SECTIONS}
    gathering = Gathering()
    found = gather_fields(rest, {**_TEXTS, **codecs}, ["name"], gathering)
    found = {"inputs": {}, "boxes": {}, "outputs": {}, **found}
    if query:
        found["inputs"] = query_inputs(found["inputs"], found["boxes"])
    problems = [*gathering.problems, *(each.under(found.get("name", "")) for each in parts.problems)]
    if problems:
        raise FormError([*problems, *_draft_problems(rest, found, parts)])
    return Network(**found)


@dataclass
class _PartProblems:
    """The problems of inputs, boxes and other parts on their own, and what is unknown about them."""

    problems: list[Problem] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    doubtful: dict[str, frozenset[str]] = field(default_factory=dict)


def _draft_problems(document: Json, found: Mapping[str, Any], parts: _PartProblems) -> list[Problem]:
    """The problems of the network that the readable parts form; none if a whole section is missing."""
    if "name" not in found or any(name in document and name not in found for name in _SECTIONS):
        return []
    known = {name: value for name, value in found.items() if name != "description"}
    return Draft(**known, unread=frozenset(parts.unread), doubtful=parts.doubtful).problems()


def to_json(network: Network) -> dict[str, Json]:
    """The document of a network; default values are omitted."""
    texts = {"name": network.name, "description": network.description, "timezone": network.timezone}
    shown = {key: value for key, value in texts.items() if value and (key, value) != ("timezone", "UTC")}
    writers: dict[str, Callable[[Any], Json]] = {
        "inputs": INPUT.write,
        "boxes": _write_node,
        "connection_points": POINT.write,
        "groups": GROUP.write,
        "outputs": OUTPUT.write,
    }
    sections = {name: {k: writers[name](v) for k, v in getattr(network, name).items()} for name in _SECTIONS}
    return {"australis": VERSION, **shown, **{name: items for name, items in sections.items() if items}}


def json_schema() -> dict[str, Json]:
    """The JSON Schema of version 1, made from the codecs that read it."""
    boxes = [_node_schema(kind) for kind, box in BOXES.items() if not box.system]
    items = {
        "inputs": INPUT.schema,
        "boxes": {"oneOf": boxes},
        "connection_points": POINT.schema,
        "groups": GROUP.schema,
        "outputs": OUTPUT.schema,
    }
    properties: dict[str, Json] = {
        "australis": {"const": VERSION},
        **{k: c.schema for k, c in _TEXTS.items()},
    }
    properties["name"] = {**TEXT.schema, **_NAME}
    properties |= {
        name: {"type": "object", "propertyNames": _KEYS[name], "additionalProperties": item}
        for name, item in items.items()
    }
    whole = object_schema(properties, ["australis", "name"], "An Australis network")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}


def _check_version(document: Json) -> None:
    expect(document, dict, "an object: a network")
    if "australis" not in document:
        raise FormError(Problem("australis", "is missing", f"the version of the form, {VERSION}"))
    if document["australis"] != VERSION or isinstance(document["australis"], bool):
        what = f"version {shown(document['australis'])} of the form is not supported"
        raise FormError(Problem("australis", what, str(VERSION)))


def _collecting(read: Callable[[Json], Any], section: str, parts: _PartProblems) -> Callable[[Json], Any]:
    """Read all items of a section and collect the problems of each instead of stopping at the first."""

    def read_all(value: Json) -> dict[str, Any]:
        found = {}
        for key, item in expect(value, dict, "an object").items():
            try:
                found[key] = read(item)
            except AlgebraError as error:
                place = key if section == "boxes" else f"{section}.{key}"
                parts.problems += error.under(place).problems
                stand_in = _stand_in(read, item, error)
                if stand_in is None:
                    parts.unread.add(key if section in ("inputs", "boxes") else place)
                else:
                    found[key], parts.doubtful[key] = stand_in
        return found

    return read_all


def _stand_in(
    read: Callable[[Json], Any], item: Json, error: AlgebraError
) -> tuple[Any, frozenset[str]] | None:
    """A part without its faults, so that others can be checked with it, and the attributes that it lacks."""
    repaired = without_faults(item, error.problems)
    if repaired is None:
        return None
    # What is wrong with the part is already reported; a stand-in is only a help for the others.
    with suppress(AlgebraError):
        return read(repaired[0]), repaired[1]
    return None


def _read_node(value: Json, system: bool) -> Node:
    expect(value, dict, "an object: a box")
    kind = _kind_of(value, system)
    with Gathering() as gathering:
        with gathering.at():
            place = read_fields({k: v for k, v in value.items() if k in _PLACE}, _PLACE, ["box"])
        box = box_codec(BOXES[kind]).read({k: v for k, v in value.items() if k not in _PLACE})
    return Node(box, place.get("from", ()), place.get("tag", ""), place.get("description", ""))


def _write_node(node: Node) -> Json:
    texts = {"tag": node.tag, "description": node.description}
    head = {"box": node.box.kind, "from": REFS.write(node.sources)}
    return {**head, **box_codec(type(node.box)).write(node.box), **{k: v for k, v in texts.items() if v}}


def _read_output(value: Json) -> Output:
    expect(value, dict, "an object: an output")
    if "source" in value:
        raise FormError(Problem("source", "unknown field", "'from'"))
    output: Output = OUTPUT.read(value)
    return output


def _node_schema(kind: str) -> dict[str, Json]:
    box = box_codec(BOXES[kind]).schema
    sources = _refs_schema(BOXES[kind].arity)
    place = {"box": {"const": kind}, "from": sources, "tag": TEXT.schema, "description": TEXT.schema}
    required = ["box", "from", *box.get("required", ())]
    return object_schema({**place, **box["properties"]}, required, box["title"])


def schema_text() -> str:
    """The published JSON Schema as a text."""
    return json.dumps(json_schema(), indent=2) + "\n"
