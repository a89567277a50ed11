"""Regular expressions as a tree: what Java, RE2 and Python agree on, with all sets of characters spelled out.

The tree, not the text, is what evaluators read: `Regular.text` writes it in the syntax that RE2 and Python
share, so that no evaluator depends on what `.` or `\\s` means in its own library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from australis.algebra.expr.patterns.characters import Ranges

_PUNCTUATION = frozenset(r"""!"#$%&'()*+,-./:;<=>?@[\]^`{|}~""")

_FOLDED = tuple(tuple((ord(letter), ord(letter)) for letter in pair) for pair in ("Kk", "Ss"))
"""Sets that RE2 takes for a letter in either case, and then at times for U+212A or U+017F as well."""


@dataclass(frozen=True)
class Character:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True)
class Edge:
    """The beginning of the whole text, or its end."""

    is_end: bool


@dataclass(frozen=True)
class Chain:
    """Parts that follow each other; the empty chain matches the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """The first branch with which the rest of the pattern matches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True)
class Repeated:
    """A part several times: as often as possible, or as rarely as possible if `lazy`."""

    part: Node
    least: int
    most: int | None
    lazy: bool


@dataclass(frozen=True)
class Group:
    """A part in parentheses, with the number by which calls refer to it."""

    part: Node
    number: int


Node = Character | Edge | Chain | Alternatives | Repeated | Group


@dataclass(frozen=True)
class Regular:
    """A pattern that was read."""

    root: Node
    groups: int
    repeated: frozenset[int] = frozenset()
    """The groups inside a repetition, which no call may read."""

    @property
    def may_be_empty(self) -> bool:
        """Whether the pattern matches a text of no characters."""
        return may_be_empty(self.root)

    def text(self, group: int | None = None, end: str = r"\z") -> str:
        r"""The pattern in the syntax of RE2; Python has another sign for the end of a text.

        Its groups have numbers. With `group`, only that one can be read, by the name `g`; 0 is the whole.

        >>> Regular(Repeated(Character(((48, 57),)), 1, None, False), 0).text()
        '[0-9]+'
        """
        body = _written(self.root, group, end)
        return f"(?P<g>{body})" if group == 0 else body


def may_be_empty(node: Node) -> bool:
    """Whether a part matches the empty text somewhere."""
    match node:
        case Character():
            return False
        case Edge():
            return True
        case Chain(parts=parts):
            return all(map(may_be_empty, parts))
        case Alternatives(branches=branches):
            return any(map(may_be_empty, branches))
        case Repeated(part=part, least=least):
            return least == 0 or may_be_empty(part)
        case Group(part=part):
            return may_be_empty(part)


def repeated_groups(node: Node, inside: bool = False) -> Iterator[int]:
    """The groups inside a repetition: engines differ in what these hold after a round that failed."""
    match node:
        case Chain(parts=parts) | Alternatives(branches=parts):
            for part in parts:
                yield from repeated_groups(part, inside)
        case Repeated(part=part, least=least, most=most):
            yield from repeated_groups(part, inside or (least, most) != (0, 1))
        case Group(part=part, number=number):
            if inside:
                yield number
            yield from repeated_groups(part, inside)


def size_of(node: Node) -> int:
    """How many ranges of characters a part has when its repetitions are written out."""
    match node:
        case Character(ranges=ranges):
            return max(1, len(ranges))
        case Edge():
            return 1
        case Chain(parts=parts) | Alternatives(branches=parts):
            return 1 + sum(map(size_of, parts))
        case Repeated(part=part, least=least, most=most):
            return size_of(part) * max(1, least, most or 0)
        case Group(part=part):
            return 1 + size_of(part)


def _written(node: Node, group: int | None, end: str) -> str:
    match node:
        case Character(ranges=ranges):
            return _set(ranges)
        case Edge(is_end=is_end):
            return end if is_end else r"\A"
        case Chain(parts=parts):
            return "".join(_written(part, group, end) for part in parts)
        case Alternatives(branches=branches):
            return f"(?:{'|'.join(_written(branch, group, end) for branch in branches)})"
        case Repeated(part=part):
            body = _written(part, group, end)
            return f"(?:{body}){_count(node)}" if _is_long(part) else f"{body}{_count(node)}"
        case Group(part=part, number=number):
            opening = "(" if group is None else "(?P<g>" if number == group else "(?:"
            return f"{opening}{_written(part, group, end)})"


def _is_long(part: Node) -> bool:
    """Whether a part needs parentheses before its count."""
    return not isinstance(part, Character | Group | Alternatives)


def _count(node: Repeated) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    most = "" if node.most is None else str(node.most)
    written = f"{{{node.least}}}" if node.most == node.least else f"{{{node.least},{most}}}"
    return signs.get((node.least, node.most), written) + ("?" if node.lazy else "")


def _set(ranges: Ranges) -> str:
    """A set of characters; the empty set is the complement of all."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(ranges[0][0])
    if ranges in _FOLDED:
        upper, lower = (chr(low) for low, _ in ranges)
        return f"(?:{upper}{{1}}|{lower})"
    if not ranges:
        return "[^\0-\U0010ffff]"
    return f"[{''.join(_range(low, high) for low, high in ranges)}]"


def _range(low: int, high: int) -> str:
    if low == high:
        return _escaped(low)
    return f"{_escaped(low)}-{_escaped(high)}"


def _escaped(code: int) -> str:
    character = chr(code)
    return f"\\{character}" if character in _PUNCTUATION else character
