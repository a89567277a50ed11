"""Where a node is, and how it is reached: its address, the token, whom to trust, and whether by a proxy."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from australis.errors import ErrorCode, Problem, ServiceError

TOKEN = "AUSTRALIS_TOKEN"
NODE = "AUSTRALIS_NODE"
CA = "AUSTRALIS_CA"


@dataclass(frozen=True)
class Place:
    """A node's address, and what is needed to reach it; the token is in no representation."""

    url: str
    token: str | None = field(default=None, repr=False)
    ca: str | None = None

    @classmethod
    def of(cls, url: str, token: str | None = None, ca: str | Path | None = None) -> Place:
        """A place as a user gives it; the environment may have the token and the certificates.

        >>> Place.of("127.0.0.1:8400").url
        'http://127.0.0.1:8400'
        """
        text = url.strip()
        if "://" not in text:
            text = f"http://{text}"
        parts = urlsplit(text)
        try:
            is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            # Refused below, with what would be right.
            is_right = False
        if not is_right or parts.username or parts.password or parts.query or parts.fragment:
            # A token in it would end in a log.
            shown = parts.hostname or "it"
            expected = "https://HOST:PORT, and the token apart from it: token=..."
            raise ServiceError(ErrorCode.INVALID_REQUEST, Problem("url", f"{shown} is no address", expected))
        return cls(
            text.rstrip("/"),
            token or os.environ.get(TOKEN) or None,
            str(ca) if ca is not None else os.environ.get(CA) or None,
        )

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def is_secure(self) -> bool:
        return self.url.startswith("https://")

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine; no proxy can reach it then.

        >>> Place.of("http://localhost:8400").is_loopback, Place.of("https://node.example").is_loopback
        (True, False)
        """
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            # A name, which may be of any machine.
            return False

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of every request."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def http(self) -> dict[str, Any]:
        """How an HTTP client is made."""
        self._refuse_bare_token()
        return {
            "base_url": self.url,
            "headers": dict(self.headers),
            "trust_env": not self.is_loopback,
            "verify": self._context() if self.is_secure else True,
        }

    def _context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            problem = Problem("ca", f"{self.ca} cannot be read: {error}", "a file of certificates (PEM)")
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None

    def _refuse_bare_token(self) -> None:
        """Refuse to send a token through a network where anybody may read it."""
        if self.token is not None and not self.is_secure and not self.is_loopback:
            problem = Problem("url", f"a token would go to {self.host} unencrypted", f"https://{self.host}")
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem)
