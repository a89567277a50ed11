"""Random regular expressions and replacements, as texts; most are in the subset."""

from __future__ import annotations

from hypothesis import strategies as st

from australis.algebra.expr.patterns import PatternError, regular
from australis.algebra.expr.patterns.replacement import GROUP_MAX
from australis.algebra.expr.text import string_text

Text = st.SearchStrategy[str]
ALPHABET = "abAB01_ -.,$\n\r\u2028é😀Kſ"
"""The characters of texts: those that classes, dots, anchors and cases treat in different ways."""

_PLAIN = ("a", "b", "A", "ab", "0", "_", "é", "😀", "-", ",", "k", "s")
_ESCAPED = (
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    r"\.",
    r"\$",
    r"\n",
    r"\x61",
    r"\u0041",
    r"\x{1F600}",
    r"\-",
)
_MEMBERS = (
    "a",
    "b",
    "0-9",
    "a-z",
    "A-b",
    r"\d",
    r"\s",
    r"\W",
    "é",
    "😀",
    "_",
    ".",
    "$",
    r"\n",
    r"\]",
    r"\-",
    "&",
)
_COUNTS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}", "{1,}", "{0,2}?", "{2,3}?")


def texts() -> Text:
    """Texts for patterns to match."""
    return st.text(st.sampled_from(ALPHABET), max_size=10) | st.text(st.sampled_from("aab"), max_size=10)


def classes() -> Text:
    """Sets of characters between brackets."""
    members = st.lists(st.sampled_from(_MEMBERS), min_size=1, max_size=3).map("".join)
    return st.tuples(st.sampled_from(("[", "[^")), members, st.sampled_from(("]", "]", "-]"))).map("".join)


def bodies() -> Text:
    """Patterns, of which those that repeat what may be empty are refused."""
    atom = st.sampled_from(_PLAIN) | st.sampled_from(_ESCAPED) | classes() | st.just(".")
    edges = st.sampled_from(("^", r"\A", r"\z"))
    return st.recursive(
        atom | atom | atom | edges,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner, inner).map("".join),
            st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
            st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
            inner.map(lambda one: f"({one}|)"),
            inner.map(lambda one: f"({one})"),
            st.tuples(inner, st.sampled_from(_COUNTS)).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
            st.tuples(inner, st.sampled_from(_COUNTS)).map(lambda parts: f"({parts[0]}){parts[1]}"),
            st.tuples(atom, st.sampled_from(_COUNTS)).map("".join),
        ),
        max_leaves=6,
    )


def patterns() -> Text:
    """Patterns in the subset."""
    flagged = st.tuples(st.sampled_from(("", "", "", "(?i)")), bodies()).map("".join)
    return flagged.filter(is_in_subset)


def is_in_subset(pattern: str) -> bool:
    """Whether a pattern is one that all engines read alike."""
    try:
        regular(pattern)
    except PatternError:
        # The reader says why; the tests of it look at that.
        return False
    return True


def readable(pattern: str) -> list[int]:
    """The groups of a pattern that a call may read."""
    read = regular(pattern)
    return [number for number in range(read.groups + 1) if number not in read.repeated]


def extracting() -> Text:
    """The literals of a pattern and of the number of one of its groups."""
    return patterns().flatmap(
        lambda pattern: st.sampled_from(readable(pattern)).map(
            lambda group: f"{string_text(pattern)}, {group}"
        )
    )


@st.composite
def replacing(draw: st.DrawFn) -> str:
    """The literals of a pattern of at least a character, and of a replacement that names its groups."""
    pattern = draw(patterns().filter(lambda text: not regular(text).may_be_empty))
    groups = (f"${number}" for number in readable(pattern) if number <= GROUP_MAX)
    pieces = ("x", "", "<", ">", r"\$", r"\\", "é", *groups)
    new = "".join(draw(st.lists(st.sampled_from(pieces), max_size=4)))
    return f"{string_text(pattern)}, {string_text(new)}"
