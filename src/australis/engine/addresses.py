"""Addresses of what is outside, such as a broker or a database: texts without secrets, safe to log.

`${AUSTRALIS_NAME}` in an address stands for the environment variable of that name, or for what the file holds
that `AUSTRALIS_NAME_FILE` names. It is filled in only where a connection is made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from australis.algebra.spans import microseconds
from australis.algebra.store import SECRET
from australis.errors import AlgebraError, EngineError, Problem

PREFIX = "AUSTRALIS_"
"""The prefix of environment variables meant for Australis: addresses may name them."""
ALLOWED = "AUSTRALIS_ENV_ALLOWED"
"""The variable that lists others that addresses may name."""
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_SECRET_NAMES = ("password", "secret", "token")


def scheme_of(text: str) -> str:
    """What comes before the colon of an address; nothing for a path.

    >>> scheme_of("mqtt://broker/reports"), scheme_of("reports.csv"), scheme_of("/data/a:b.csv")
    ('mqtt', '', '')
    """
    found = _SCHEME.match(text)
    return found[1].lower() if found else ""


def may_read(name: str) -> bool:
    """Whether an address may name a variable: not any, since it could send its value anywhere."""
    return name.startswith(PREFIX) or name in re.split(r"[,\s]+", os.environ.get(ALLOWED, ""))


def filled_in(text: str, path: str, who: str = "an address", *, quoted: bool = True) -> str:
    """A text with the values of the variables that it names, quoted for a URL unless that is not wanted."""
    values = {name: _value(name, text, path, who) for name in SECRET.findall(text)}
    return SECRET.sub(lambda found: quote(values[found[1]], safe="") if quoted else values[found[1]], text)


def _value(name: str, text: str, path: str, who: str) -> str:
    if not may_read(name):
        what = f"{who} may not read the environment variable {name}"
        expected = f"a variable whose name begins with {PREFIX}, or {ALLOWED}={name} in the environment"
        raise EngineError(Problem(path, what, expected))
    if name in os.environ:
        return os.environ[name]
    file = os.environ.get(f"{name}_FILE")
    if file is None:
        what = f"the environment variable {name} is not set"
        raise EngineError(Problem(path, what, f"its value, for {text}"))
    try:
        return Path(file).read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        what = f"{name}_FILE names a file that cannot be read: {getattr(error, 'strerror', None) or error}"
        raise EngineError(Problem(path, what, "a file that holds the value")) from None


class Settings:
    """The settings of an address, each taken once; what is left over is refused.

    >>> given = Settings("mqtt://broker", "topic=a/%23&wait=2 s&retain=no")
    >>> given.text("topic"), given.seconds("wait", 1.0), given.flag("retain", True)
    ('a/#', 2.0, False)
    """

    def __init__(self, address: str, text: str) -> None:
        self._address, self._given = address, dict[str, str]()
        self._known: list[str] = []
        for part in filter(None, text.split("&")):
            name, equals, value = part.partition("=")
            if not equals or name in self._given:
                what = f"{shown(part)!r} is {'given twice' if equals else 'no setting'}"
                raise EngineError(Problem(address, what, "NAME=VALUE, with & between two"))
            self._given[name] = unquote(value)
        refuse_secrets(address, self._given)

    def text(self, name: str, usual: str = "") -> str:
        self._known.append(name)
        return self._given.pop(name, usual)

    def one_of(self, name: str, usual: str, words: tuple[str, ...]) -> str:
        value = self.text(name, usual)
        if value not in words:
            raise self.trouble(name, value, f"one of {', '.join(words)}")
        return value

    def flag(self, name: str, usual: bool) -> bool:
        value = self.text(name, "yes" if usual else "no").lower()
        if value not in _WORDS:
            raise self.trouble(name, value, "yes or no")
        return _WORDS[value]

    def whole(self, name: str, usual: int, most: int) -> int:
        value = self.text(name, str(usual))
        if not (value.isascii() and value.isdecimal() and 1 <= int(value) <= most):
            raise self.trouble(name, value, f"a whole number from 1 to {most:,}")
        return int(value)

    def seconds(self, name: str, usual: float) -> float:
        value = self.text(name)
        if not value:
            return usual
        try:
            return microseconds(value) / 1e6
        except AlgebraError:
            raise self.trouble(name, value, "a length of time, such as 30 s") from None

    def rest(self) -> str:
        """What nobody has taken, as it was given: for a driver that has settings of its own."""
        rest, self._given = self._given, {}
        return "&".join(f"{name}={quote(value, safe='${}')}" for name, value in rest.items())

    def end(self) -> None:
        """Refuse what nobody has taken."""
        for name in self._given:
            raise EngineError(
                Problem(self._address, f"{name!r} is no setting of it", f"one of {', '.join(self._known)}")
            )

    def trouble(self, name: str, value: str, expected: str) -> EngineError:
        return EngineError(Problem(self._address, f"{name} is {shown(value)!r}", expected))


def refuse_secrets(address: str, settings: Mapping[str, str] | None = None) -> None:
    """Refuse an address that holds a password itself: it would be in logs and messages."""
    parts = urlsplit(address)
    given = [parts.password]
    # Webhooks have their settings after the #.
    pairs = dict(parse_qsl(parts.query)) | dict(parse_qsl(parts.fragment)) | dict(settings or {})
    given += [value for name, value in pairs.items() if any(word in name.lower() for word in _SECRET_NAMES)]
    if any(value and not SECRET.fullmatch(unquote(value)) for value in given):
        where = scheme_of(address) or "an address"
        expected = (
            "${AUSTRALIS_NAME} for an environment variable, or for a file that AUSTRALIS_NAME_FILE names"
        )
        raise EngineError(Problem(where, "the address holds a password", expected))


def shown(text: str, most: int = 60) -> str:
    """A text that a message may show, shortened."""
    return text if len(text) <= most else f"{text[:most]}..."
