"""How the parts of a network are written in JSON: each part's schema, reader and writer.

The published JSON Schema is made from these, so what it says and what is read cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from itertools import takewhile
from sys import float_info
from typing import Any

from australis.algebra.boxes import SIDES, UNMATCHED, Box, at, constant_text
from australis.algebra.expr import nearest
from australis.algebra.form.stand_ins import UNKNOWN_FIELD
from australis.algebra.guards import Gathering, is_a, shown
from australis.algebra.network import NAME_PATTERN
from australis.algebra.order import SLACK_MAX, Order
from australis.algebra.progress import Progress
from australis.algebra.quality import Points, Quality, Since, ValueGraph
from australis.algebra.schema import Schema, schema_of
from australis.algebra.store import KINDS, FileFormat, Pull, Store, file_format_of
from australis.errors import AlgebraError, FormError, Problem

Json = Any


@dataclass(frozen=True)
class Codec:
    """One kind of value: its JSON Schema, its reader and its writer."""

    schema: dict[str, Json]
    read: Callable[[Json], Any]
    write: Callable[[Any], Json] = lambda value: value


def expect(value: Json, kinds: type | tuple[type, ...], expected: str) -> Json:
    """A JSON value of an expected kind; true and false do not count as numbers."""
    if not is_a(value, kinds):
        raise FormError(Problem("", f"is {shown(value)}", expected))
    return value


def _texts(value: Json) -> tuple[str, ...]:
    with Gathering() as gathering:
        for index, item in enumerate(expect(value, list, "a list of texts")):
            with gathering.at(f"[{index}]"):
                expect(item, str, "a text")
    return tuple(value)


def _named(value: Json) -> tuple[tuple[str, str], ...]:
    expect(value, dict, "an object of texts")
    _refuse_split(list(value.items()))
    with Gathering() as gathering:
        for name, text in value.items():
            with gathering.at(name):
                expect(text, str, "a text")
    return tuple(value.items())


def _expressions(value: Json) -> tuple[tuple[str, str], ...]:
    """Expressions by name; a number, true and false stand for themselves."""
    expect(value, dict, "an object of expressions")
    return _named({name: constant_text(each) for name, each in value.items()})


def _refuse_split(items: list[tuple[str, Json]]) -> None:
    """Say so where YAML has split a text inside `{...}` at its commas, as in `{fare: decimal(6,2)}`."""
    for index, (name, text) in enumerate(items):
        rest = [str(key) for key, _ in takewhile(lambda item: item[1] is None, items[index + 1 :])]
        if isinstance(text, str) and text.count("(") > text.count(")") and rest and rest[-1].endswith(")"):
            whole = ",".join((text, *rest))
            raise FormError(Problem(name, "YAML splits it at the comma", f'quotes inside {{...}}: "{whole}"'))


def _points(value: Json) -> tuple[tuple[float, float], ...]:
    for index, pair in enumerate(expect(value, list, "a list of [position, utility] pairs")):
        with at(f"[{index}]"):
            if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair))):
                raise FormError(Problem("", f"is {shown(pair)}", "a pair [position, utility] of numbers"))
    return tuple((x, utility) for x, utility in value)


def _is_number(value: Json) -> bool:
    """Whether a value is a number that fits a double: JSON allows longer ones, and Python's reader NaN."""
    return is_a(value, (int, float)) and -float_info.max <= value <= float_info.max


def _number(value: Json) -> Json:
    if not _is_number(value):
        raise FormError(Problem("", f"is {shown(value)}", "a number"))
    return value


def _span(value: Json) -> Json:
    if not isinstance(value, str) and not _is_number(value):
        raise FormError(Problem("", f"is {shown(value)}", "a number or a length of time"))
    return value


_OF_TEXTS = {
    "type": "object",
    "propertyNames": {"pattern": f"^{NAME_PATTERN}$"},
    "additionalProperties": {"type": "string"},
    "minProperties": 1,
}
_UTILITY = {"type": "number", "minimum": 0, "maximum": 1}
_PAIR = {"type": "array", "prefixItems": [{"type": "number"}, _UTILITY], "minItems": 2, "maxItems": 2}

TEXT = Codec({"type": "string"}, lambda v: expect(v, str, "a text"))
LENGTH = Codec(TEXT.schema, lambda v: expect(v, str, "a length of time such as '30 s'"))
TEXTS = Codec({"type": "array", "items": {"type": "string"}}, _texts, list)
SOME_TEXTS = Codec({**TEXTS.schema, "minItems": 1}, _texts, list)
NAMED = Codec(_OF_TEXTS, _named, dict)
EXPRESSIONS = Codec(
    {**_OF_TEXTS, "additionalProperties": {"type": ["string", "number", "boolean"]}}, _expressions, dict
)
SPAN = Codec({"type": ["number", "string"], "minimum": 0}, _span)
HOW = Codec({"enum": list(UNMATCHED)}, TEXT.read)
SIDE = Codec({"enum": list(SIDES)}, TEXT.read)
FLAG = Codec({"type": "boolean"}, lambda v: expect(v, bool, "true or false"))
NUMBER = Codec({"type": "number"}, _number)
WEIGHT = Codec({"type": "number", "exclusiveMinimum": 0}, _number)
IMPORTANCE = Codec({"type": "number", "minimum": 0}, _number)
WHOLE = Codec({"type": "integer"}, lambda v: expect(v, int, "a whole number"))
SLACK = Codec(
    {"type": ["integer", "string"], "minimum": 0, "maximum": SLACK_MAX},
    lambda v: expect(v, (int, str), "a whole number of tuples, or a length such as '10 s'"),
)
HISTORY = Codec(
    {"type": ["integer", "string"], "minimum": 0},
    lambda v: expect(v, (int, str), "a number of tuples, or a time"),
)
POINTS = Codec({"type": "array", "items": _PAIR}, _points, lambda v: [list(pair) for pair in v])
CATEGORIES = Codec(
    {"type": "object", "additionalProperties": _UTILITY},
    lambda v: tuple((name, NUMBER.read(u)) for name, u in expect(v, dict, "an object of numbers").items()),
    dict,
)
ATTRIBUTES = Codec(_OF_TEXTS, lambda v: schema_of(dict(_named(v))), Schema.as_dict)


def record(
    made: type[Any], codecs: Mapping[str, Codec], title: str, renamed: Mapping[str, str] | None = None
) -> Codec:
    """The codec of a dataclass: an object with a codec for each field; defaults are omitted when written.

    `renamed` has the fields whose name in a document is another one.
    """
    written = {f.name: (renamed or {}).get(f.name, f.name) for f in fields(made)}
    own = {name: field for field, name in written.items()}
    required = [
        written[f.name]
        for f in fields(made)
        if f.init and f.default is MISSING and f.default_factory is MISSING
    ]
    defaults = {written[f.name]: f.default for f in fields(made)}

    def read(value: Json) -> Any:
        expect(value, dict, f"an object: {title}")
        return made(**{own[name]: read for name, read in read_fields(value, codecs, required).items()})

    def write(item: Any) -> Json:
        values = {name: getattr(item, own[name]) for name in codecs}
        return {n: codecs[n].write(v) for n, v in values.items() if n in required or v != defaults[n]}

    schema = object_schema({name: codec.schema for name, codec in codecs.items()}, required, title)
    return Codec(schema, read, write)


def read_fields(
    value: Mapping[str, Json], codecs: Mapping[str, Codec], required: list[str]
) -> dict[str, Any]:
    """Read each field through its codec; refuse unknown and missing ones."""
    with Gathering() as gathering:
        return gather_fields(value, codecs, required, gathering)


def gather_fields(
    value: Mapping[str, Json], codecs: Mapping[str, Codec], required: list[str], gathering: Gathering
) -> dict[str, Any]:
    """The fields that can be read, each through its codec; collects the problems of the others."""
    found = {}
    missing = [name for name in required if name not in value]
    for name in (name for name in value if name not in codecs):
        meant = nearest(str(name), [known for known in codecs if known not in value])
        perhaps = f" (perhaps {meant!r})" if meant else ""
        missing = [each for each in missing if each != meant]
        with gathering.at(str(name)):
            raise FormError(Problem("", f"{UNKNOWN_FIELD}{perhaps}", f"one of {', '.join(codecs)}"))
    for name in missing:
        with gathering.at(name):
            raise FormError(Problem("", "is missing", f"{', '.join(required)}"))
    for name in (name for name in value if name in codecs):
        with gathering.at(name):
            found[name] = codecs[name].read(value[name])
    return found


def object_schema(properties: dict[str, Json], required: list[str], title: str) -> dict[str, Json]:
    """The JSON Schema of an object with exactly these fields."""
    described = {"type": "object", "title": title, "properties": properties, "additionalProperties": False}
    return {**described, "required": required} if required else described


ORDER = record(
    Order,
    {
        "on": TEXT,
        "slack": SLACK,
        "group_by": TEXTS,
        "by": Codec({"enum": ["slack", "progress"]}, TEXT.read),
        "late": FLAG,
    },
    "Order(On, Slack, GroupBy)",
)
PROGRESS = record(
    Progress, {"on": TEXT, "slack": SPAN, "promise": TEXT, "idle": LENGTH}, "how an input makes marks"
)
VALUE_GRAPH = record(
    ValueGraph,
    {"attribute": TEXT, "points": POINTS, "categories": CATEGORIES},
    "utility by the value of an attribute",
)


@dataclass(frozen=True)
class _DelayForm:
    """A delay graph as it is written: its points, and what delays count from."""

    points: Points = ()
    since: str = Since.OLDEST


@dataclass(frozen=True)
class _QualityForm:
    """The graphs of an output as they are written."""

    delay: _DelayForm = _DelayForm()
    loss: Points = ()
    value: ValueGraph | None = None
    weight: float = 1.0


_SINCE = Codec({"enum": [each.value for each in Since]}, TEXT.read, str)
_DELAY = record(_DelayForm, {"since": _SINCE, "points": POINTS}, "utility by delay")


def _read_delay(value: Json) -> _DelayForm:
    form: _DelayForm = _DELAY.read(value) if isinstance(value, dict) else _DelayForm(POINTS.read(value))
    return form


def _write_delay(form: _DelayForm) -> Json:
    return POINTS.write(form.points) if form.since == Since.OLDEST else _DELAY.write(form)


_QUALITY = record(
    _QualityForm,
    {
        "delay": Codec({"oneOf": [POINTS.schema, _DELAY.schema]}, _read_delay, _write_delay),
        "loss": POINTS,
        "value": VALUE_GRAPH,
        "weight": WEIGHT,
    },
    "QoS graphs of an output",
)


def _read_quality(value: Json) -> Quality:
    form: _QualityForm = _QUALITY.read(value)
    try:
        return Quality(form.delay.points, form.loss, form.value, form.weight, form.delay.since)
    except AlgebraError as error:
        nested = isinstance(value.get("delay"), dict)
        raise AlgebraError([_in_delay(each, nested) for each in error.problems]) from None


def _in_delay(problem: Problem, nested: bool) -> Problem:
    """A problem of a Quality at its place in a document, where `since` and points may be inside `delay`."""
    if problem.path == "since":
        return problem.under("delay")
    if nested and problem.path.startswith("delay"):
        return replace(problem, path=f"delay.points{problem.path.removeprefix('delay')}")
    return problem


def _write_quality(quality: Quality) -> Json:
    delay = _DelayForm(quality.delay, quality.since)
    return _QUALITY.write(_QualityForm(delay, quality.loss, quality.value, quality.weight))


QUALITY = Codec(_QUALITY.schema, _read_quality, _write_quality)
"""The graphs of an output; a delay graph may be its points alone."""

_STORE = record(
    Store,
    {
        "at": TEXT,
        "table": TEXT,
        "pull": Codec({"enum": [each.value for each in Pull if each]}, TEXT.read, str),
        "refresh": TEXT,
        "ascending": TEXT,
        "overlap": SPAN,
        "timeout": LENGTH,
    },
    "a stored data set: a file, or a table of a database",
)


def _read_store(value: Json) -> Store:
    store: Store = Store(value) if isinstance(value, str) else _STORE.read(value)
    return store


def _write_store(store: Store) -> Json:
    written = _STORE.write(store)
    return store.at if list(written) == ["at"] else written


STORE = Codec({"oneOf": [{"type": "string"}, _STORE.schema]}, _read_store, _write_store)
"""A store; one that is only a place may be a text."""

_NAMES = {"oneOf": [TEXTS.schema, _OF_TEXTS]}
_CSV_OPTIONS = {
    "header": FLAG.schema,
    "separator": {"type": "string", "minLength": 1},
    "quote": {"type": "string", "maxLength": 1},
    "nulls": TEXTS.schema,
    "columns": _NAMES,
}
FILE_FORMAT = Codec(
    {
        "oneOf": [
            {"enum": list(KINDS)},
            object_schema({"csv": object_schema(_CSV_OPTIONS, [], "separated fields")}, ["csv"], "CSV"),
            object_schema({"zeek": object_schema({"columns": _OF_TEXTS}, [], "Zeek")}, ["zeek"], "Zeek logs"),
        ]
    },
    file_format_of,
    FileFormat.as_json,
)
"""The format of an input's files; one without options may be a text."""

FIELDS: dict[str, Codec] = {
    **dict.fromkeys(("predicates", "group_by", "by", "of", "then"), SOME_TEXTS),
    **dict.fromkeys(("attributes", "previous"), EXPRESSIONS),
    "functions": NAMED,
    **dict.fromkeys(("order", "left", "right"), ORDER),
    **dict.fromkeys(("size", "advance", "offset", "session", "within", "forget"), SPAN),
    **dict.fromkeys(("advance_when", "predicate", "on", "attribute", "array", "position"), TEXT),
    "timeout": LENGTH,
    "how": HOW,
    "table": SIDE,
    "slack": SLACK,
    **dict.fromkeys(("seed", "n", "back", "start"), WHOLE),
    "keep": TEXTS,
    **dict.fromkeys(("align", "empty", "first", "extrapolate", "keep_empty"), FLAG),
    "rate": NUMBER,
}
"""The codec of each parameter of a box, by name; a name means the same in every box."""


@cache
def box_codec(box: type[Box]) -> Codec:
    """The codec of a box's parameters."""
    codecs = {f.name: FIELDS[f.name] for f in fields(box)}  # type: ignore[arg-type]
    return record(box, codecs, (box.__doc__ or "").splitlines()[0].replace("`", ""))
