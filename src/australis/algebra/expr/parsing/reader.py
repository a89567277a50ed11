"""Reading tokens from left to right, and refusing those that do not belong."""

from __future__ import annotations

from typing import NoReturn

from australis.algebra.expr.failure import refuse
from australis.algebra.expr.parsing.syntax import DEPTH_MAX, HEIGHT_MAX, SIZE_MAX, Apply, Syntax
from australis.algebra.expr.parsing.tokens import Kind, Token, tokens

LENGTH_MAX = 10_000
"""How many characters a text may have."""
OPEN_MAX = 4 * DEPTH_MAX + 16
"""How many constructs may be open at once: a level has at most a function, its cast and parentheses."""

_REASONS = {
    "OVER": "no OVER: windows belong to Aggregate, Tumble and Resample boxes",
    "SELECT": "no subquery: a Join box reads a second stream",
    "*": "no star: name the attributes",
    "->": "no lambda",
    "?": "no parameter",
    ":": "no parameter",
    "::": "no '::': write CAST(x AS type)",
    "ESCAPE": "no ESCAPE: the escape character of LIKE is the backslash",
    "ILIKE": "no ILIKE: write lower(x) LIKE 'pattern' or x RLIKE '(?i)pattern'",
}


class Reader:
    """A position in the tokens of a text."""

    def __init__(self, text: str) -> None:
        if len(text) > LENGTH_MAX:
            refuse(
                text[:LENGTH_MAX], LENGTH_MAX, f"a text of {len(text)} characters", f"at most {LENGTH_MAX}"
            )
        self.text = text
        self._tokens = tokens(text)
        self._index = 0
        self._open = 0

    def enter(self) -> None:
        """Open a construct; all recursion goes through here, so the stack is never exhausted."""
        self._open += 1
        if self._open > OPEN_MAX:
            self.refuse_depth(self.here.position)

    def leave(self) -> None:
        """Close a construct."""
        self._open -= 1

    @property
    def here(self) -> Token:
        """The token that is read next."""
        return self._tokens[self._index]

    def advance(self) -> Token:
        """Read a token; the end token stays."""
        token = self.here
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def at(self, *values: str) -> bool:
        """Whether the next token is one of these words or signs."""
        return self.here.kind in (Kind.WORD, Kind.SIGN) and self.here.value in values

    def take(self, *values: str) -> Token | None:
        """Read a word or sign if it is one of these."""
        return self.advance() if self.at(*values) else None

    def expect(self, value: str) -> None:
        """Read a word or sign that must be there."""
        if not self.take(value):
            self.refuse_here(repr(value))

    def end(self) -> None:
        """Refuse anything that follows."""
        if self.here.kind is not Kind.END:
            self.refuse_here("an operator or the end of the text")

    def refuse_here(self, expected: str) -> NoReturn:
        """Refuse the next token."""
        token = self.here
        reason = _REASONS.get(token.value) if token.kind in (Kind.WORD, Kind.SIGN) else None
        what = f"unexpected {str(token).removeprefix('the ')}"
        refuse(self.text, token.position, what, f"{expected} ({reason})" if reason else expected)

    def apply(self, position: int, function: str, *args: Syntax) -> Syntax:
        """A call, if it is within the limits."""
        return self.limited(Apply(function, args, position=position))

    def limited(self, node: Syntax) -> Syntax:
        """The node, if it is not too deep, too high or too large."""
        if node.depth > DEPTH_MAX:
            self.refuse_depth(node.position)
        if node.height > HEIGHT_MAX:
            refuse(self.text, node.position, "a chain that is too long", f"at most {HEIGHT_MAX} operations")
        if node.size > SIZE_MAX:
            refuse(
                self.text, node.position, "an expression that is too large", f"at most {SIZE_MAX} operations"
            )
        return node

    def refuse_depth(self, position: int) -> NoReturn:
        """Refuse something at a position that is nested too deep."""
        refuse(self.text, position, "an expression that is nested too deep", f"at most {DEPTH_MAX} levels")
