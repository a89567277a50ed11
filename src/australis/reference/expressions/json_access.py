"""GET_JSON_OBJECT: the part of a JSON text to which a path leads, as text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

from australis.algebra.expr import Step, Value, json_path
from australis.reference.expressions.json_tokens import NoJson, Token, tokens_of
from australis.reference.expressions.site import CallSite, Function

_SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}
_SURROGATES = re.compile("[\ud800-\udfff]")


def get_json_object(_: CallSite, text: str, path: str) -> Value:
    """A string without quotes and escapes, anything else as compact JSON; NULL if there is none.

    A string with half of a pair of surrogates, which is no text, is NULL.
    """
    try:
        tokens = tokens_of(text)
    except NoJson:
        # NULL, as for a path that leads nowhere.
        return None
    found = _found(tokens, json_path(path))
    if found and found[0].kind == "string":
        return None if _SURROGATES.search(found[0].text) else found[0].text
    return _written(found) if found else None


def _found(value: Sequence[Token], path: Sequence[Step]) -> Sequence[Token]:
    """The tokens of the value to which a path leads: of fields with one name, the first that leads there."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if value[0].kind == "[" and isinstance(step, int):
        elements = _members(value)
        return _found(elements[step], rest) if step < len(elements) else ()
    if value[0].kind == "{" and isinstance(step, str):
        for name, *member in _members(value):
            if name.text == step and member[0] != Token("word", "null"):
                found = _found(member, rest)
                if found:
                    return found
    return ()


def _members(container: Sequence[Token]) -> list[Sequence[Token]]:
    """The tokens of each member of a container, a field's with its name first."""
    members: list[Sequence[Token]] = []
    start, depth = 1, 0
    for place, token in enumerate(container[1:-1], 1):
        depth += (token.kind in "{[") - (token.kind in "}]")
        if depth == 0 and token.kind != "name":
            members.append(container[start : place + 1])
            start = place + 1
    return members


def _written(tokens: Sequence[Token]) -> str:
    """Some tokens as JSON without blanks."""
    text, comma = "", ""
    for token in tokens:
        if token.kind in "}]":
            text, comma = text + token.kind, ","
            continue
        written = _token_text(token)
        text += comma + written
        comma = "" if token.kind in ("{", "[", "name") else ","
    return text


def _token_text(token: Token) -> str:
    match token.kind:
        case "name":
            return f'"{_escaped(token.text)}":'
        case "string":
            return f'"{_escaped(token.text)}"'
        case "number":
            return _number(token.text)
        case _:
            return token.text


def _number(text: str) -> str:
    """Whole numbers as they are; others as Java writes a double."""
    if not re.search("[.eE]", text):
        return "0" if text == "-0" else text
    value = float(text)
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return java_double(value)


def java_double(value: float) -> str:
    """The shortest digits of a double, with an exponent below 0.001 and from ten million on.

    >>> java_double(1e7), java_double(0.001), java_double(-2.5e-7)
    ('1.0E7', '0.001', '-2.5E-7')
    """
    sign, numerals, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, numerals)).rstrip("0") or "0"
    point = len(numerals) + int(exponent)
    minus = "-" if sign else ""
    if value == 0:
        return f"{minus}0.0"
    if not -2 <= point <= 7:
        return f"{minus}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    padded = "0" * max(0, 1 - point) + digits.ljust(point, "0")
    whole = max(point, 1)
    return f"{minus}{padded[:whole]}.{padded[whole:] or '0'}"


def _escaped(text: str) -> str:
    return "".join(map(_character, text))


def _character(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code > 0xFFFF:
        return f"\\u{0xD800 + (code - 0x10000 >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
    return f"\\u{code:04X}" if code < 0x20 or 0xD800 <= code < 0xE000 else character


FUNCTIONS: dict[str, Function] = {"get_json_object": get_json_object}
