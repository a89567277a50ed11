"""Tokens: 256 random bits each, of which the file keeps only digests."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from australis.algebra.spans import microseconds
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access.caller import ANONYMOUS
from australis.service.access.roles import Role

PREFIX = "australis_"
"""How every token begins, so that tools that look for secrets know one."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MODE = 0o600


@dataclass(frozen=True)
class Token:
    """What is known of a token: not the token itself."""

    name: str
    role: Role
    digest: str
    created: str
    expires: str | None = None

    def is_expired(self, now: datetime) -> bool:
        """Whether it is no longer of use."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now

    def as_dict(self) -> dict[str, Any]:
        """What may be shown: all but the digest."""
        return {name: value for name, value in asdict(self).items() if name != "digest"}


class TokenFile:
    """A file of tokens; each change replaces it whole, and concurrent ones follow each other."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Token]:
        """The tokens by name; none if there is no file."""
        try:
            text = self.path.read_text(encoding="utf-8")
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            # There are none yet, or none any more.
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise self._refused(f"cannot be read: {error}", "a file made by `australis token new`") from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise self._refused(f"can be read by others (mode {stat.S_IMODE(mode):o})", "mode 600: chmod 600")
        try:
            found = json.loads(text)["tokens"]
            tokens = [Token(**{**each, "role": Role(each["role"])}) for each in found]
        except (ValueError, KeyError, TypeError):
            raise self._refused("is damaged", "a file made by `australis token new`") from None
        return {token.name: token for token in tokens}

    def new(self, name: str, role: Role, lasts: str | None = None) -> str:
        """Add a token; returns its text, which nobody can be told again. It `lasts` such as "90 days"."""
        if not _NAME.fullmatch(name) or name == ANONYMOUS:
            hint = "a name of letters, digits, '.', '_' and '-'"
            raise self._refused(f"cannot have a token {name!r}", hint)
        text, now = PREFIX + secrets.token_urlsafe(32), datetime.now(UTC)
        end = None if lasts is None else now + timedelta(microseconds=microseconds(lasts))
        with self._changed() as tokens:
            if name in tokens:
                hint = "another name, or `australis token revoke`"
                raise self._refused(f"has a token {name!r} already", hint)
            tokens[name] = Token(name, role, digest(text), _text(now), None if end is None else _text(end))
        return text

    def revoke(self, name: str) -> None:
        """Remove a token; services that use the file refuse it from the next call on."""
        with self._changed() as tokens:
            if name not in tokens:
                known = ", ".join(tokens) or "no token"
                raise self._refused(f"has no token {name!r}", f"one of {known}")
            del tokens[name]

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Token]]:
        """The tokens, written back at the end of the block."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, _MODE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self.read()
            yield tokens
            self._write(tokens)
        finally:
            os.close(lock)

    def _write(self, tokens: dict[str, Token]) -> None:
        text = json.dumps({"tokens": [asdict(token) for token in tokens.values()]}, indent=2) + "\n"
        fresh = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(file)
        fresh.replace(self.path)

    def _refused(self, what: str, expected: str) -> ServiceError:
        return ServiceError(ErrorCode.INVALID_REQUEST, Problem(str(self.path), what, expected))


class TokenCheck:
    """Finds the token that a text is, in a file that may change at any time."""

    def __init__(self, path: Path) -> None:
        self._file = TokenFile(path)
        self._seen: tuple[int, ...] | None = None
        self._tokens: list[Token] = []
        self._look()

    def find(self, text: str) -> Token | None:
        """The token of a text, if it is one that has not expired."""
        self._look()
        presented, found = digest(text), None
        for token in self._tokens:
            # All are compared, each in constant time: how long it takes says nothing about any of them.
            if hmac.compare_digest(presented, token.digest):
                found = token
        return None if found is None or found.is_expired(datetime.now(UTC)) else found

    def _look(self) -> None:
        """Read the file again if it is another one than last time."""
        try:
            status = self._file.path.stat()
            seen: tuple[int, ...] = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
        except FileNotFoundError:
            # All tokens are revoked.
            seen = ()
        if seen != self._seen:
            self._tokens, self._seen = list(self._file.read().values()), seen


def digest(text: str) -> str:
    """What is kept of a token: of 256 random bits, a plain SHA-256 cannot be reversed by guessing."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
