"""Addresses to listen on, as texts."""

from __future__ import annotations

from australis.errors import ErrorCode, Problem, ServiceError


def place_of(text: str, path: str) -> tuple[str, int]:
    """The host and the port of `HOST:PORT`.

    >>> place_of("127.0.0.1:8400", "listen"), place_of("[::1]:0", "listen")
    (('127.0.0.1', 8400), ('::1', 0))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        problem = Problem(path, f"is {text!r}", "HOST:PORT, such as 127.0.0.1:8400")
        raise ServiceError(ErrorCode.INVALID_REQUEST, problem)
    return host.removeprefix("[").removesuffix("]"), int(port)
