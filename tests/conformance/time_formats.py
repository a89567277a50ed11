"""Random formats of times, and texts that nearly fit them."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from australis.algebra.expr import parse
from australis.algebra.expr.patterns import PatternError, read_times, written_times
from australis.algebra.expr.text import string_text
from australis.algebra.schema import parse_schema
from australis.reference.expressions import evaluate

Text = st.SearchStrategy[str]
_FIELDS = (
    "yyyy",
    "M",
    "MM",
    "MMM",
    "MMMM",
    "d",
    "dd",
    "H",
    "HH",
    "h",
    "hh",
    "m",
    "mm",
    "s",
    "ss",
    "S",
    "SSS",
    "SSSSSS",
    "a",
)
_MORE = ("D", "DDD", "E", "EEE", "EEEE", "SSSSSSSSS")
_BETWEEN = ("", "-", ":", " ", "'T'", ".", "/", "''", "'at'", ",")
_USUAL = (
    *(
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss",
        "dd.MM.yyyy HH:mm",
        "yyyyMMddHHmmss",
        "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
    ),
    *("MM/dd/yyyy hh:mm a", "dd MMM yyyy", "d MMMM yyyy, h:m:s a", "HH:mm:ss.SSSSSS", "yyyy"),
)
_SCHEMA = parse_schema("t timestamp")


def _formats(fields: tuple[str, ...]) -> Text:
    parts = st.lists(
        st.tuples(st.sampled_from(fields), st.sampled_from(_BETWEEN)).map("".join), min_size=1, max_size=6
    )
    return parts.map("".join)


def written() -> Text:
    """Formats for DATE_FORMAT."""
    drawn = _formats((*_FIELDS, *_MORE)).filter(lambda pattern: _is_known(pattern, written_times))
    return st.sampled_from(_USUAL) | drawn | st.sampled_from(("", "''", "-", "é"))


def read() -> Text:
    """Formats for TO_TIMESTAMP."""
    return st.sampled_from(_USUAL) | _formats(_FIELDS).filter(lambda pattern: _is_known(pattern, read_times))


def _is_known(pattern: str, reader: Callable[[str], object]) -> bool:
    try:
        reader(pattern)
    except PatternError:
        # The reader says why; its tests look at that.
        return False
    return True


@st.composite
def fitting(draw: st.DrawFn, pattern: str) -> str:
    """A text that a format wrote, perhaps with a character changed."""
    micros = draw(st.integers(-(10**15), 4 * 10**15))
    format_call = parse(f"date_format(t, {string_text(pattern)})").bind(_SCHEMA)
    text = str(evaluate(format_call, {"t": micros}))
    match draw(st.integers(0, 7)):
        case 0:
            return text.lower()
        case 1:
            place = draw(st.integers(0, len(text)))
            return text[:place] + draw(st.sampled_from(("0", "9", " ", "x", "-", "+", "é"))) + text[place:]
        case 2:
            place = draw(st.integers(0, max(0, len(text) - 1)))
            return text[:place] + draw(st.sampled_from(("", "0", "3", "9"))) + text[place + 1 :]
    return text
