"""The options of the data source, and what they mean; a token is in none of Spark's plans."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from australis.client import CA, NODE, TOKEN, Client
from australis.errors import ErrorCode, Problem, ServiceError

KNOWN = (
    "url",
    "output",
    "point",
    "input",
    "where",
    "since",
    "until",
    "begin",
    "end",
    "rowsPerPartition",
    "maxTuplesPerTrigger",
    "startingSeq",
    "consumer",
    "commit",
    "failOnLoss",
    "tokenFile",
    "ca",
    "path",
    # Spark hands on its own.
    "checkpointLocation",
    "queryName",
)
_NUMBERS = ("begin", "end", "rowsPerPartition", "maxTuplesPerTrigger")
ROWS_PER_PARTITION = 1_000_000


@dataclass(frozen=True)
class SourceOptions:
    """The options as they were given, with names in lower case."""

    given: Mapping[str, str]

    @classmethod
    def of(cls, options: Mapping[str, str]) -> SourceOptions:
        """Take the options, and refuse unknown ones and a token."""
        given = {name.lower(): value for name, value in options.items()}
        if "token" in given:
            expected = f"option('tokenFile', PATH), or the environment: {TOKEN}"
            raise refused("token", "would be in Spark's plans and logs", expected)
        for name in given:
            if name not in {each.lower() for each in KNOWN}:
                raise refused(name, "is no option of australis", f"one of {', '.join(KNOWN)}")
        return cls(given)

    def text(self, name: str) -> str | None:
        """An option, if it was given."""
        return self.given.get(name.lower()) or None

    def number(self, name: str) -> int | None:
        """An option that is a number."""
        text = self.text(name)
        if text is None:
            return None
        try:
            number = int(text)
        except ValueError:
            number = -1
        if number < 0:
            raise refused(name, f"is {text!r}", "a number from 0")
        return number

    def needed(self, name: str) -> str:
        """An option that must be given; `load(NAME)` and `start(NAME)` give it as a path."""
        text = self.text(name) or self.text("path")
        if text is None:
            raise refused(name, "is missing", f"option({name!r}, NAME)")
        return text

    def client(self) -> Client:
        """A client of the node; the token comes from a file or the environment of this process."""
        url = self.text("url") or os.environ.get(NODE)
        if not url:
            raise refused("url", "is missing", f"option('url', 'https://HOST:8400'), or ${NODE}")
        token, file = os.environ.get(TOKEN), self.text("tokenFile")
        if file is not None:
            try:
                token = Path(file).read_text().strip()
            except OSError as error:
                raise refused(
                    "tokenFile", f"{file} cannot be read: {error.strerror}", "a file on every worker"
                ) from None
        return Client(url, token=token, ca=self.text("ca") or os.environ.get(CA))


def refused(option: str, what: str, expected: str) -> ServiceError:
    """The error for an option that cannot be used."""
    return ServiceError(ErrorCode.INVALID_REQUEST, Problem(option, what, expected))
