r"""Reads regular expressions: Java's syntax, as far as RE2 and Python give it the same meaning.

What is refused has another meaning in one of them (`$`, `\b`, `\p{...}`, nested classes), needs more than
linear time (back-references, look-around), or matches nothing several times (`(a*)*`), where engines differ.
"""

from __future__ import annotations

from functools import lru_cache

from australis.algebra.expr.patterns.characters import (
    DIGITS,
    LINE_ENDS,
    SPACES,
    WORDS,
    Ranges,
    complement,
    either_case,
    one,
    span,
    union,
)
from australis.algebra.expr.patterns.failure import PatternError
from australis.algebra.expr.patterns.regular import (
    Alternatives,
    Chain,
    Character,
    Edge,
    Group,
    Node,
    Regular,
    Repeated,
    may_be_empty,
    repeated_groups,
    size_of,
)

REPEAT_MAX = 1_000
"""How often a part may be repeated by count; RE2 has the same limit, also for counts inside counts."""
SIZE_MAX = 20_000
"""How many ranges of characters a pattern may have when its counts are written out."""
DEPTH_MAX = 50
"""How deep parentheses may be nested."""

_SETS: dict[str, Ranges] = {
    "d": DIGITS,
    "w": WORDS,
    "s": SPACES,
    "D": complement(DIGITS),
    "W": complement(WORDS),
    "S": complement(SPACES),
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_HEX = frozenset("0123456789abcdefABCDEF")
_FOREIGN = {
    "b": ("its meaning depends on the Java version", "the characters at the boundary, as in (^|[^a-z])"),
    "B": ("its meaning depends on the Java version", "the characters around it"),
    "Z": (r"RE2 has no \Z", r"\z, the end of the text"),
    "G": (r"RE2 has no \G", "another pattern"),
    "p": ("Unicode's classes differ between versions", "a class such as [A-Za-z]"),
    "P": ("Unicode's classes differ between versions", "a class such as [^A-Za-z]"),
    "h": (r"RE2 has no \h", r"[ \t]"),
    "v": (r"\v is one character in RE2, several in Java", r"[\n\x0B\f\r]"),
    "R": (r"RE2 has no \R", r"(\r\n|\n|\r)"),
    "X": (r"RE2 has no \X", "a class of characters"),
    "Q": (r"no \Q...\E", "a backslash before each sign"),
    "k": ("back-references take more than linear time", "a pattern without them"),
    "0": ("no octal numbers", r"\x41 or \u0041"),
}
_EXTENSIONS = {
    "=": "look-ahead takes more than RE2 has",
    "!": "look-ahead takes more than RE2 has",
    "<": "no look-behind and no named groups",
    ">": "RE2 has no atomic groups",
}


@lru_cache(maxsize=256)
def regular(text: str) -> Regular:
    """The tree of a pattern; raises a PatternError that says what to write instead.

    >>> regular("([a-c]+)d?").groups
    1
    """
    return _Reader(text).whole()


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, text: str) -> None:
        self._folds = text.startswith("(?i)")
        self._text = text
        self._place = 4 if self._folds else 0
        self._groups = self._depth = 0

    def whole(self) -> Regular:
        root = self._alternatives()
        if self._place < len(self._text):
            raise self._error("a ) without its (", r"\) for the sign itself")
        if size_of(root) > SIZE_MAX:
            what = f"a pattern of {size_of(root)} parts when its counts are written out"
            raise PatternError(what, f"at most {SIZE_MAX}")
        return Regular(root, self._groups, frozenset(repeated_groups(root)))

    # --- parts

    def _alternatives(self) -> Node:
        branches = [self._chain()]
        while self._take("|"):
            branches.append(self._chain())
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def _chain(self) -> Node:
        parts: list[Node] = []
        while self._place < len(self._text) and self._here not in "|)":
            parts.append(self._counted(self._part()))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _part(self) -> Node:
        sign = self._next()
        match sign:
            case "(":
                return self._group()
            case "[":
                return self._character(self._class())
            case ".":
                return Character(complement(LINE_ENDS))
            case "^":
                return Edge(is_end=False)
            case "\\":
                return self._escape()
            case "$":
                expected = r"\z for the end of the text (in quotes '\\z'), or \n?\z with a last line break"
                raise self._error("$ also means before a last line break in Java, but not in RE2", expected)
            case "*" | "+" | "?" | "{":
                raise self._error(f"{sign} repeats nothing", rf"\{sign} for the sign itself")
        return self._character(one(sign))

    def _group(self) -> Node:
        number = 0
        if self._take("?"):
            if not self._take(":"):
                sign = self._here
                why = _EXTENSIONS.get(sign, "flags are known only as (?i) at the very beginning")
                raise self._error(f"(?{sign}: {why}", "(...) or (?:...)")
        else:
            self._groups += 1
            number = self._groups
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._error(f"more than {DEPTH_MAX} parentheses inside each other", "fewer")
        part = self._alternatives()
        self._depth -= 1
        if not self._take(")"):
            raise self._error("a ( without its )", r"\( for the sign itself")
        # Parentheses without a number still keep what is inside them together: see Regular.text.
        return Group(part, number) if number else Alternatives((part,))

    def _escape(self) -> Node:
        sign = self._here
        if sign in ("A", "z"):
            self._next()
            return Edge(is_end=sign == "z")
        if sign.isdigit() and sign != "0":
            raise self._error("back-references take more than linear time", "a pattern without them")
        return self._character(self._escaped())

    def _counted(self, part: Node) -> Node:
        """A part with the count that follows it, if there is one."""
        bounds = self._bounds()
        if bounds is None:
            return part
        least, most = bounds
        if may_be_empty(part):
            what = "what is repeated can be empty, and engines differ in how often"
            raise self._error(what, "a part of at least one character, such as (a+)* in place of (a*)*")
        if most is not None and (most < least or most == 0):
            raise self._error(f"no {{{least},{most}}}", "the smaller number first, and the second above 0")
        lazy = self._take("?")
        if self._here in ("+", "*", "?", "{"):
            what = "possessive counts take more than RE2 has" if self._here == "+" else "two counts in a row"
            raise self._error(what, "one of * + ? {n,m}, and ? after it for as few as possible")
        repeated = Repeated(part, least, most, lazy)
        if _counts(repeated) > REPEAT_MAX:
            what = f"a count of more than {REPEAT_MAX}, multiplied by the counts inside it"
            raise self._error(what, f"at most {REPEAT_MAX}")
        return repeated

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        if not self._take("{"):
            return None
        least = self._digits()
        most = least
        if self._take(","):
            most = self._digits() if self._here != "}" else None
        if least is None or not self._take("}"):
            raise self._error("{ without numbers", r"{n}, {n,} or {n,m}, or \{ for the sign itself")
        if (least, most) == (0, 1):
            raise self._error("{0,1}, whose groups Java treats in another way than those of ?", "?")
        return least, most

    def _digits(self) -> int | None:
        start = self._place
        while self._here.isascii() and self._here.isdigit():
            self._place += 1
        digits = self._text[start : self._place]
        return min(int(digits), REPEAT_MAX + 1) if 0 < len(digits) < 10 else None

    # --- characters

    def _character(self, ranges: Ranges) -> Node:
        return Character(either_case(ranges) if self._folds else ranges)

    def _class(self) -> Ranges:
        """A set between brackets."""
        negated = self._take("^")
        sets: list[Ranges] = []
        while not (sets and self._take("]")):
            sets.append(self._member(first=not sets))
        # The other case is added before the complement is taken: (?i)[^a] matches neither a nor A.
        members = union(sets)
        members = either_case(members) if self._folds else members
        return complement(members) if negated else members

    def _member(self, first: bool) -> Ranges:
        """A character of a class, a range, or a set such as \\d."""
        low = self._class_character()
        if self._here != "-":
            return low
        at_end = self._text[self._place + 1 : self._place + 2] == "]"
        if at_end:
            return low
        if not first and low == one("-"):
            raise self._error("a - between ranges", r"\- for the sign itself")
        self._next()
        high = self._class_character()
        if not _is_single(low) or not _is_single(high) or high[0][0] < low[0][0]:
            what = "a range without two single characters in order"
            raise self._error(what, r"[a-z], or \- for the sign itself")
        if self._here == "-" and self._text[self._place + 1 : self._place + 2] != "]":
            raise self._error("a - after a range", r"\- for the sign itself")
        return span(chr(low[0][0]), chr(high[0][0]))

    def _class_character(self) -> Ranges:
        sign = self._next()
        if sign == "\\":
            return self._escaped()
        if sign == "[":
            raise self._error("a class inside a class", r"\[ for the sign itself")
        if sign == "&" and self._here == "&":
            raise self._error("&& means both in Java, but not in RE2", r"\&")
        if sign == "]":
            raise self._error("a ] where a character of the class is expected", r"\]")
        return one(sign)

    def _escaped(self) -> Ranges:
        """What a backslash and the signs after it mean."""
        sign = self._next()
        if sign in _SETS:
            return _SETS[sign]
        if sign in _CONTROLS:
            return one(_CONTROLS[sign])
        if sign in ("x", "u"):
            return one(self._code_point(sign))
        if sign in _FOREIGN:
            why, expected = _FOREIGN[sign]
            raise self._error(f"\\{sign}: {why}", expected)
        if sign.isascii() and not sign.isalnum() and sign.isprintable():
            return one(sign)
        expected = "a backslash only before a sign, or one of d w s D W S n t r f a e x u A z"
        raise self._error(f"a backslash before {sign!r}", expected)

    def _code_point(self, sign: str) -> str:
        width = 2 if sign == "x" else 4
        if sign == "x" and self._take("{"):
            end = self._text.find("}", self._place)
            digits, after = self._text[self._place : end], end + 1
            valid = end > 0 and 0 < len(digits) <= 6
        else:
            digits, after = self._text[self._place : self._place + width], self._place + width
            valid = len(digits) == width
        code = int(digits, 16) if valid and set(digits) <= _HEX else -1
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code < 0xE000:
            raise self._error(f"\\{sign} without the number of a character", r"\x41, \u0041 or \x{1F600}")
        self._place = after
        return chr(code)

    # --- the text

    @property
    def _here(self) -> str:
        """The sign at the place, empty at the end."""
        return self._text[self._place : self._place + 1]

    def _next(self) -> str:
        sign = self._here
        if not sign:
            raise self._error("the pattern ends too early", r"a closing ], or \\ for a backslash")
        self._place += 1
        return sign

    def _take(self, sign: str) -> bool:
        found = self._here == sign
        self._place += found
        return found

    def _error(self, what: str, expected: str) -> PatternError:
        return PatternError(f"{what}, at {self._text[: self._place]!r}", expected)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _counts(node: Node) -> int:
    """The largest product of counts inside each other, as RE2 limits it."""
    match node:
        case Repeated(part=part, least=least, most=most):
            own = max(least, most or 0)
            return max(1, own) * _counts(part) if own > 1 else _counts(part)
        case Chain(parts=parts) | Alternatives(branches=parts):
            return max(map(_counts, parts), default=1)
        case Group(part=part):
            return _counts(part)
        case _:
            return 1
