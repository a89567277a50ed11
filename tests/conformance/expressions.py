"""Random expressions, as texts that are well typed over a schema.

A text has parentheses around every operator, so its shape is the one drawn; `loosened` takes some away, and
what is left tests precedence against Spark's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st
from tests.conformance.json_texts import paths, texts
from tests.conformance.patterns import extracting, patterns, replacing
from tests.conformance.time_formats import read, written
from tests.conformance.values import KINDS, types, values

from australis.algebra.expr import regular
from australis.algebra.expr.functions import TRUNC_UNITS
from australis.algebra.expr.literals import UNITS_US
from australis.algebra.expr.text import string_text, text_of
from australis.algebra.expr.tree import Literal
from australis.algebra.schema import Schema

Text = st.SearchStrategy[str]
ORDERED = ("int", "long", "double", "decimal", "string", "boolean", "timestamp")
NUMBERS = ("int", "long", "double", "decimal")
CALENDAR = (
    "year",
    "quarter",
    "month",
    "day",
    "dayofweek",
    "dayofyear",
    "weekday",
    "hour",
    "minute",
    "second",
)
INEXACT = (
    *("exp", "ln", "log10", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians"),
    *("pow", "atan2"),
)
"""Functions for which the JVM and the C library may differ in the last digits; drawn at the root only."""
_PATTERNS = [
    "%",
    "_",
    "a%",
    "%b",
    "%a%",
    "a_c",
    "_%_",
    "",
    "abc",
    r"100\\%",
    r"a\\_b",
    "%😀%",
    "a%b%c",
    r"\\\\",
    "%\\n%",
]
_MATCHING = ("RLIKE", "NOT RLIKE", "REGEXP")
_INTERVALS = [
    *("INTERVAL 1 DAY", "INTERVAL 10 MINUTES", "INTERVAL '-3' HOUR", "INTERVAL 36 HOURS", "INTERVAL 1 WEEK"),
    *(
        "INTERVAL 1 MICROSECOND",
        "INTERVAL '1.5' SECOND",
        "INTERVAL 400 DAYS",
        "INTERVAL -1 DAY",
        "INTERVAL 1 HOUR 30 MINUTES",
    ),
]


class Texts:
    """Strategies for the texts over one schema, by the kind of their value and how deep they go."""

    def __init__(self, schema: Schema) -> None:
        self._attributes = {kind: [f.name for f in schema if f.type.name == kind] for kind in KINDS}
        self._made: dict[tuple[str, int], Text] = {}

    def any(self, depth: int) -> Text:
        """Texts of every kind."""
        return st.sampled_from(KINDS).flatmap(lambda kind: self.of(kind, depth))

    def inexact(self) -> Text:
        """Texts whose outermost function may differ in the last digits."""
        one = st.tuples(st.sampled_from(INEXACT[:-2]), self.number(1)).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        )
        two = st.tuples(st.sampled_from(INEXACT[-2:]), self.number(1), self.number(1))
        return one | two.map(lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})")

    def number(self, depth: int) -> Text:
        """Texts of numbers."""
        return st.sampled_from(NUMBERS).flatmap(lambda kind: self.of(kind, depth))

    def of(self, kind: str, depth: int) -> Text:
        """Texts of a kind that nest at most `depth` calls."""
        if (kind, depth) not in self._made:
            self._made[kind, depth] = self._make(kind, depth)
        return self._made[kind, depth]

    def _make(self, kind: str, depth: int) -> Text:
        leaf = self._attribute(kind) | self._attribute(kind) | self._attribute(kind) | self._literal(kind)
        if depth <= 0:
            return leaf
        own: Callable[[int], list[Text]] = getattr(self, f"_{kind}s")
        # Drawn lazily: the strategies of all depths together would be a large tree.
        forms = st.deferred(lambda: st.one_of([*own(depth - 1), *self._general(kind, depth - 1)]))
        return st.one_of(leaf, forms, forms, forms)

    def _attribute(self, kind: str) -> Text:
        return st.sampled_from(self._attributes[kind])

    def _literal(self, kind: str) -> Text:
        plain = types(kind).flatmap(
            lambda type_: values(type_).map(lambda value: text_of(Literal(value, type_)))
        )
        null = types(kind).map(lambda type_: f"CAST(NULL AS {type_})")
        return plain | plain | null

    def _calls(self, form: str, *args: Text) -> Text:
        return st.tuples(*args).map(lambda parts: form.format(*parts))

    def _general(self, kind: str, depth: int) -> list[Text]:
        """The attributes of every kind."""
        own, condition = self.of(kind, depth), self.of("boolean", depth)
        maybe_null = own | st.just("NULL")
        same = own if kind == "decimal" else self.of(kind, 0)
        return [
            self._calls("coalesce({}, {})", maybe_null, own),
            self._calls("nvl({}, {})", own, own),
            self._calls("if({}, {}, {})", condition, own, maybe_null),
            self._calls(
                "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END", condition, own, condition, maybe_null, own
            ),
            self._calls("CASE {} WHEN {} THEN {} END", own, same, own),
            self._calls("nullif({}, {})", own, same),
            self._calls("nvl2({}, {}, {})", self.any(0), own, own),
            self._calls("greatest({}, {}, {})", own, maybe_null, own),
            self._calls("least({}, {})", own, own),
        ]

    def _arithmetic(self, kinds: tuple[str, ...], depth: int) -> list[Text]:
        """Two numbers, the first of which has the kind of the result."""
        one = self.of(kinds[0], depth)
        other = st.sampled_from(kinds).flatmap(lambda kind: self.of(kind, depth))
        both = one.flatmap(lambda a: other.map(lambda b: (a, b))) | other.flatmap(
            lambda a: one.map(lambda b: (a, b))
        )
        signs = st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "({} % {})", "pmod({}, {})"])
        return [
            st.tuples(signs, both).map(lambda parts: parts[0].format(*parts[1])),
            self._calls("(- ({}))", one),
            self._calls("abs({})", one),
        ]

    def _ints(self, depth: int) -> list[Text]:
        instant, string = self.of("timestamp", depth), self.of("string", depth)
        return [
            *self._arithmetic(("int",), depth),
            self._calls("{}({})", st.sampled_from(CALENDAR), instant),
            self._calls("{}({})", st.sampled_from(("length", "ascii")), string),
            self._calls("size({})", self._array(depth)),
            self._calls("instr({}, {})", string, self.of("string", 0)),
            self._calls(
                "round({}, {})", self.of("int", depth), st.sampled_from(("-10", "-2", "-1", "0", "3"))
            ),
            self._casts("int", (*NUMBERS, "string", "boolean", "timestamp"), depth),
        ]

    def _longs(self, depth: int) -> list[Text]:
        instant = self.of("timestamp", depth)
        whole = st.sampled_from(("int", "long", "decimal")).flatmap(lambda kind: self.of(kind, depth))
        return [
            *self._arithmetic(("long", "int"), depth),
            self._calls("({} DIV {})", whole, whole),
            self._calls(
                "{}({})", st.sampled_from(("ceil", "floor")), self.of("double", depth) | self.of("int", depth)
            ),
            self._calls("{}({})", st.sampled_from(("unix_seconds", "unix_millis", "unix_micros")), instant),
            self._calls(
                "timestampdiff({}, {}, {})", st.sampled_from(list(UNITS_US)), instant, self.of("timestamp", 0)
            ),
            self._calls("crc32({})", self.of("string", depth)),
            self._calls("xxhash64({})", self._hashable(depth)),
            self._calls("xxhash64({}, {})", self._hashable(depth), self._hashable(depth)),
            self._calls("round({}, {})", self.of("long", depth), st.sampled_from(("-18", "-3", "0", "2"))),
            self._casts("long", (*NUMBERS, "string", "boolean", "timestamp"), depth),
        ]

    def _hashable(self, depth: int) -> Text:
        kinds = [kind for kind in ORDERED if kind != "decimal"]
        return st.sampled_from(kinds).flatmap(lambda kind: self.of(kind, depth)) | st.just("NULL")

    def _doubles(self, depth: int) -> list[Text]:
        number, double = self.number(depth), self.of("double", depth)
        integer = self.of("int", depth) | self.of("long", depth)
        return [
            *self._arithmetic(("double", *NUMBERS), depth),
            self._calls("({} / {})", integer, integer),
            self._calls("({} / {})", double, number),
            self._calls("{}({})", st.sampled_from(("sqrt", "sign")), number),
            self._calls("round({}, {})", double, st.sampled_from(("-18", "-2", "0", "1", "2", "5", "20"))),
            self._calls("nanvl({}, {})", double, number),
            self._casts("double", (*NUMBERS, "string", "boolean", "timestamp"), depth),
        ]

    def _decimals(self, depth: int) -> list[Text]:
        own, whole = self.of("decimal", depth), self.of("int", depth) | self.of("long", depth)
        digits = st.sampled_from(("-5", "-1", "0", "1", "2", "10"))
        return [
            *self._arithmetic(("decimal", "int", "long"), depth),
            self._calls("({} / {})", own, own | whole),
            self._calls("({} / {})", whole, own),
            self._calls("{}({})", st.sampled_from(("ceil", "floor", "round")), own),
            self._calls("round({}, {})", own, digits),
            self._calls("coalesce({}, {})", whole, own),
            self._casts("decimal", (*NUMBERS, "string", "boolean", "timestamp"), depth),
        ]

    def _strings(self, depth: int) -> list[Text]:
        own, leaf, number = self.of("string", depth), self.of("string", 0), self._small(depth)
        one = st.sampled_from(("upper", "lower", "trim", "ltrim", "rtrim", "reverse"))
        return [
            self._calls("{}({})", one, own),
            self._calls("({} || {})", own, own),
            self._calls("concat({}, {}, {})", own, own, leaf),
            self._calls("substring({}, {})", own, number),
            self._calls("substring({}, {}, {})", own, number, number),
            self._calls("{}({}, {})", st.sampled_from(("left", "right")), own, number),
            self._calls("replace({}, {}, {})", own, leaf, leaf),
            self._calls(
                "{}({}, {}, {})",
                st.sampled_from(("lpad", "rpad")),
                own,
                st.sampled_from(("0", "3", "9")),
                leaf,
            ),
            self._calls(
                "{}({}, {})", st.sampled_from(("lpad", "rpad")), own, st.sampled_from(("0", "3", "9"))
            ),
            self._calls("repeat({}, {})", own, st.sampled_from(("0", "1", "3"))),
            self._calls("split_part({}, {}, {})", own, leaf | st.sampled_from(("','", "'X'", "''")), number),
            self._calls("{}[{}]", self._array(depth), number),
            self._calls("element_at({}, {})", self._array(depth), number),
            self._calls("array_join({}, {})", self._array(depth), leaf),
            self._calls("date_format({}, {})", self.of("timestamp", depth), written().map(string_text)),
            self._calls("get_json_object({}, {})", own | _documents(), paths().map(string_text)),
            self._calls("md5({})", own),
            self._calls("sha2({}, 256)", own),
            self._calls("regexp_extract({}, {})", own, extracting()),
            self._calls("regexp_replace({}, {})", own, replacing()),
            self._casts("string", ("int", "long", "decimal", "string", "boolean", "timestamp"), depth),
        ]

    def _array(self, depth: int) -> Text:
        """Arrays of strings."""
        pattern = (patterns() | st.sampled_from((",", "[ ,]+", "X"))).filter(
            lambda text: not regular(text).may_be_empty
        )
        limit = st.sampled_from(("", "", ", 2", ", 1", ", 0", ", -1"))
        return self._calls("split({}, {}{})", self.of("string", depth), pattern.map(string_text), limit)

    def _small(self, depth: int) -> Text:
        """Counts and positions: mostly small, sometimes anything."""
        return st.sampled_from(("-3", "-1", "0", "1", "2", "5", "2147483647")) | self.of("int", depth)

    def _booleans(self, depth: int) -> list[Text]:
        own, string = self.of("boolean", depth), self.of("string", depth)
        signs = st.sampled_from(("=", "<>", "<", "<=", ">", ">=", "<=>"))
        pairs = st.sampled_from(ORDERED).flatmap(
            lambda kind: st.tuples(self.of(kind, depth), signs, self.of(kind, depth))
        )
        mixed = st.tuples(self.number(depth), signs, self.number(depth))
        members = st.sampled_from(ORDERED).flatmap(
            lambda kind: st.tuples(
                self.of(kind, depth), st.lists(self.of(kind, 0) | st.just("NULL"), min_size=1, max_size=4)
            )
        )
        ranges = st.sampled_from(ORDERED).flatmap(
            lambda kind: st.tuples(*[self.of(kind, max(0, depth - 1))] * 3)
        )
        pattern = st.sampled_from(_PATTERNS).map(lambda text: f"'{text}'")
        return [
            (pairs | mixed).map(lambda parts: f"({' '.join(parts)})"),
            self._calls("({} {} {})", own, st.sampled_from(("AND", "OR")), own),
            self._calls("(NOT {})", own),
            self._calls("({} IS {})", self.any(depth), st.sampled_from(("NULL", "NOT NULL"))),
            self._calls("({} IS {})", own, st.sampled_from(("TRUE", "NOT FALSE"))),
            self._calls("({} IS DISTINCT FROM {})", own, own),
            members.map(lambda parts: f"({parts[0]} IN ({', '.join(parts[1])}))"),
            ranges.map(lambda parts: f"({parts[0]} BETWEEN {parts[1]} AND {parts[2]})"),
            self._calls("({} {} {})", string, st.sampled_from(("LIKE", "NOT LIKE")), pattern),
            self._calls("({} {} {})", string, st.sampled_from(_MATCHING), patterns().map(string_text)),
            self._calls(
                "{}({}, {})",
                st.sampled_from(("startswith", "endswith", "contains")),
                string,
                self.of("string", 0),
            ),
            self._calls("isnan({})", self.of("double", depth)),
            self._calls("array_contains({}, {})", self._array(depth), self.of("string", 0)),
            self._casts("boolean", (*NUMBERS, "string"), depth),
        ]

    def _timestamps(self, depth: int) -> list[Text]:
        own = self.of("timestamp", depth)
        integer = self.of("int", depth) | self.of("long", depth)
        local = st.sampled_from(
            ("2020-03-29 02:30:00", "2020-10-25 02:30:00", "2011-03-13 00:01:00", "1890-01-01 00:00:00")
        )
        return [
            self._calls("({} {} {})", own, st.sampled_from("+-"), st.sampled_from(_INTERVALS)),
            self._calls("date_trunc('{}', {})", st.sampled_from(TRUNC_UNITS), own),
            self._calls("timestamp_seconds({})", integer | self.of("double", depth)),
            self._calls("timestamp_seconds(CAST({} AS decimal(20,6)))", self.of("decimal", depth)),
            self._calls("{}({})", st.sampled_from(("timestamp_millis", "timestamp_micros")), integer),
            self._calls("TIMESTAMP '{}'", local),
            self._calls("to_timestamp({}, {})", self.of("string", depth), read().map(string_text)),
            self._casts("timestamp", (*NUMBERS, "string"), depth),
        ]

    def _casts(self, target: str, sources: tuple[str, ...], depth: int) -> Text:
        source = st.sampled_from(sources).flatmap(lambda kind: self.of(kind, depth))
        return self._calls("CAST({} AS {})", source, types(target).map(str))


def _documents() -> Text:
    """Literals of JSON texts."""
    return texts().map(string_text)


@st.composite
def loosened(draw: st.DrawFn, texts: Text) -> str:
    """A text with some of the parentheses around operators taken away; it may no longer be well typed."""
    text = draw(texts)
    inner = re.compile(r"(?<![\w`])\(([^()']*)\)")
    for _ in range(draw(st.integers(0, 6))):
        found = list(inner.finditer(text))
        if not found:
            return text
        match = found[draw(st.integers(0, len(found) - 1))]
        text = f"{text[: match.start()]} {match[1]} {text[match.end() :]}"
    return text
