"""Addresses of topics: `kafka:TOPIC?servers=HOST:PORT&option=value`, as in a URL, and without secrets."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from australis.algebra.spans import microseconds
from australis.errors import AlgebraError, EngineError, Problem

KAFKA = "kafka:"
SERVERS, PROPERTIES = "servers", "properties"
HEADER = "header."
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_FORM = "kafka:TOPIC?servers=HOST:PORT, and options as in a URL, each after a &"


@dataclass(frozen=True)
class Address:
    """A topic, the brokers that know where it is, and options.

    >>> found = parse_address("kafka:reports?servers=127.0.0.1:9092&key=car", ["key"])
    >>> found.topic, found.options
    ('reports', {'servers': '127.0.0.1:9092', 'key': 'car'})
    """

    text: str
    topic: str
    options: dict[str, str] = field(hash=False)

    @property
    def name(self) -> str:
        """The topic as messages name it."""
        return f"{KAFKA}{self.topic}"

    def option(self, name: str, default: str, known: Collection[str] = ()) -> str:
        """An option, which may have to be one of a few words."""
        value = self.options.get(name, default)
        if known and value not in known:
            raise self.problem(f"{name} is {value!r}", f"one of {', '.join(known)}")
        return value

    def whole(self, name: str, default: int, least: int = 1) -> int:
        """An option that is a whole number."""
        value = self.options.get(name, str(default))
        if not (value.isascii() and value.isdecimal() and int(value) >= least):
            raise self.problem(f"{name} is {value!r}", f"a whole number from {least}")
        return int(value)

    def seconds(self, name: str, default: float) -> float:
        """An option that is a length of time."""
        if name not in self.options:
            return default
        try:
            return microseconds(self.options[name]) / 1e6
        except AlgebraError:
            expected = "a length of time, such as 30 s"
            raise self.problem(f"{name} is {self.options[name]!r}", expected) from None

    @property
    def headers(self) -> dict[str, str]:
        """The attribute of each header that is asked for, by the header's name."""
        found = self.options.items()
        return {name.removeprefix(HEADER): value for name, value in found if name.startswith(HEADER)}

    def problem(self, what: str, expected: str = "") -> EngineError:
        return EngineError(Problem(self.name, what, expected))


def parse_address(text: str, known: Collection[str]) -> Address:
    """The topic and the options of a text; `known` are the options beside those of every client."""
    head, _, query = text.removeprefix(KAFKA).partition("?")
    topic = unquote(head)
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise EngineError(Problem(f"{KAFKA}{head}", f"{topic!r} is no name of a topic", _FORM))
    address = Address(text, topic, {})
    pairs = parse_qsl(query, keep_blank_values=True)
    if len(pairs) != len([part for part in query.split("&") if part]):
        raise address.problem("an option has no value", _FORM)
    for name, value in pairs:
        _check_option(address, name, value, known)
        address.options[name] = value
    if SERVERS not in address.options and PROPERTIES not in address.options:
        raise address.problem("servers is missing", _FORM)
    return address


def _check_option(address: Address, name: str, value: str, known: Collection[str]) -> None:
    options = (SERVERS, PROPERTIES, *(each for each in known if each != HEADER))
    if name not in options and not (HEADER in known and name.startswith(HEADER) and name != HEADER):
        also = f", {HEADER}NAME" if HEADER in known else ""
        raise address.problem(f"there is no option {name!r}", f"some of {', '.join(options)}{also}")
    if name in address.options:
        raise address.problem(f"{name} is given twice", "each option once")
    if not value:
        raise address.problem(f"{name} is empty", _FORM)
    if name == SERVERS and "@" in value:
        raise EngineError(
            Problem(address.name, "servers has a user in it", "HOST:PORT; users and passwords are in a file")
        )
