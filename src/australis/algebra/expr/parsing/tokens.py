"""The words, signs, numbers and strings of an expression's text, each with its position.

The lexical rules are Spark SQL's: strings in either quote with backslash escapes, names in backticks, `--`
and `/* */` comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from australis.algebra.expr.failure import refuse


class Kind(Enum):
    """The kind of a token."""

    NUMBER = "a number"
    STRING = "a string"
    QUOTED = "a name in backticks"
    WORD = "a word"
    SIGN = "a sign"
    END = "the end of the text"


@dataclass(frozen=True)
class Token:
    """A piece of the text: `value` is a string or quoted name without its quotes, a word in upper case."""

    kind: Kind
    value: str
    position: int
    text: str

    def __str__(self) -> str:
        return "the end of the text" if self.kind is Kind.END else f"{self.text!r}"


_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<NUMBER>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*)
  | (?P<STRING>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
  | (?P<QUOTED>`(?:[^`]|``)*`)
  | (?P<WORD>[A-Za-z_]\w*)
  | (?!/\*)(?P<SIGN><=>|<=|>=|<>|!=|==|\|\||->|=>|::|<<|>>|[-+*/%(),.<>=!~&|^?:;@\[\]{}$\#\\])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(
    r"""\\u(?P<u4>[0-9a-fA-F]{4}) | \\U(?P<u8>[0-9a-fA-F]{8}) | \\(?P<octal>[01][0-7]{2}) | \\(?P<one>.)
      | (?P<twice>\'\'|"")""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, with one for its end.

    >>> [str(token) for token in tokens("pos >= 30")]
    ["'pos'", "'>='", "'30'", 'the end of the text']
    """
    return (*_tokens(text), Token(Kind.END, "", len(text), ""))


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position) or _refuse_character(text, position)
        if match.lastgroup not in ("skip", None):
            kind = Kind[str(match.lastgroup)]
            yield Token(kind, _value(text, kind, match[0], position), position, match[0])
        position = match.end()


def _refuse_character(text: str, position: int) -> re.Match[str]:
    closing = {"'": "'", '"': '"', "`": "`", "/": "*/"}.get(text[position])
    if closing:
        refuse(text, position, "a quote or comment that does not end", f"a closing {closing}")
    refuse(text, position, f"unexpected character {text[position]!r}", "part of an expression")


def _value(text: str, kind: Kind, found: str, position: int) -> str:
    match kind:
        case Kind.STRING:
            return _unquoted(text, found, position)
        case Kind.QUOTED:
            return found[1:-1].replace("``", "`")
        case Kind.WORD:
            return found.upper()
        case _:
            return found


def _unquoted(text: str, found: str, position: int) -> str:
    def unescaped(match: re.Match[str]) -> str:
        if match["twice"]:
            # A quote of the other kind is not special inside this one, even doubled.
            return found[0] if match[0][0] == found[0] else match[0]
        if match["one"]:
            return _ESCAPED.get(match["one"], match["one"])
        code = int(match["octal"], 8) if match["octal"] else int(match["u4"] or match["u8"], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            at = position + 1 + match.start()
            refuse(text, at, f"{match[0]} is not a character", r"a code point, such as \u00e9 or \U0001F600")
        return chr(code)

    return _ESCAPE.sub(unescaped, found[1:-1])
