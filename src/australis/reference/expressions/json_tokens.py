"""The tokens of the JSON value that a text begins with, as Spark reads it.

Strings may also be in single quotes, and may have control characters; what follows the value does not matter,
except directly after a number or a word that is the whole value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEPTH_MAX = 1_000
DIGITS_MAX = 1_000
_BLANKS = " \t\n\r"
_NUMBER = re.compile(r"-?(?P<whole>0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<power>[eE][+-]?[0-9]+)?")
_WORDS = ("true", "false", "null")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "'": "'", "/": "/", "\\": "\\"}
_HEX = re.compile("[0-9a-fA-F]{4}")


class NoJson(Exception):
    """The text does not begin with a JSON value."""


@dataclass(frozen=True)
class Token:
    """A sign, a string without its quotes, a number or a word."""

    kind: str
    """One of `{ } [ ]`, or `name`, `string`, `number`, `word`."""
    text: str = ""


def tokens_of(text: str) -> list[Token]:
    """The tokens of the first value; names of fields precede their values.

    >>> [token.kind for token in tokens_of('{"a": [1]} and more')]
    ['{', 'name', '[', 'number', ']', '}']
    """
    reader = _Reader(text)
    reader.value()
    while reader.open:
        reader.inside()
    return reader.tokens


class _Reader:
    """Reads a text from left to right; `open` has the brackets that are not closed yet."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self.tokens: list[Token] = []
        self.open: list[str] = []

    def value(self) -> None:
        """A scalar, or the opening bracket of a container."""
        sign = self._sign()
        if sign in ("{", "["):
            self.open.append(sign)
            self._add(sign, 1)
            if len(self.open) > DEPTH_MAX:
                raise NoJson
        elif sign in ('"', "'"):
            self.tokens.append(Token("string", self._string(sign)))
        elif found := _NUMBER.match(self._text, self._place):
            self._number(found)
        else:
            self._word()

    def inside(self) -> None:
        """The next member of the innermost container, or its closing bracket."""
        closing = {"{": "}", "[": "]"}[self.open[-1]]
        first = self.tokens[-1].kind == self.open[-1]
        sign = self._sign()
        if sign == closing:
            self.open.pop()
            self._add(sign, 1)
            return
        if not first:
            self._expect(",")
        if closing == "}":
            quote = self._sign()
            if quote not in ('"', "'"):
                raise NoJson
            self.tokens.append(Token("name", self._string(quote)))
            self._expect(":")
        self.value()

    def _number(self, found: re.Match[str]) -> None:
        whole, fraction, power = found["whole"], found["fraction"] or "", found["power"] or ""
        counted = 0 if whole == "0" else len(whole)
        if counted + sum(sign.isdigit() for sign in fraction + power) > DIGITS_MAX:
            raise NoJson
        self._add("number", len(found[0]))
        if not self.open and self._here not in ("", *_BLANKS):
            raise NoJson

    def _word(self) -> None:
        word = next((word for word in _WORDS if self._text.startswith(word, self._place)), None)
        if word is None:
            raise NoJson
        self._add("word", len(word))
        if self._here.isalnum() or self._here in ("_", "\x7f") or self._here > "\x7f":
            raise NoJson

    def _string(self, quote: str) -> str:
        """The characters of a string; surrogates that form a pair are one of them."""
        self._place += 1
        found = ""
        while self._here != quote:
            if not self._here:
                raise NoJson
            found += self._escaped() if self._here == "\\" else self._here
            self._place += 1
        self._place += 1
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def _escaped(self) -> str:
        self._place += 1
        if self._here == "u":
            digits = _HEX.match(self._text, self._place + 1)
            if not digits:
                raise NoJson
            self._place += 4
            return chr(int(digits[0], 16))
        if self._here not in _ESCAPES:
            raise NoJson
        return _ESCAPES[self._here]

    def _sign(self) -> str:
        """The next sign that is not blank."""
        while self._here and self._here in _BLANKS:
            self._place += 1
        return self._here

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise NoJson
        self._place += 1

    @property
    def _here(self) -> str:
        return self._text[self._place : self._place + 1]

    def _add(self, kind: str, size: int) -> None:
        self.tokens.append(Token(kind, self._text[self._place : self._place + size]))
        self._place += size
