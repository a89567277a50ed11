"""Refuses to serve other machines without a certificate and tokens."""

from __future__ import annotations

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access.origins import is_loopback
from australis.service.access.tokens import TokenFile
from australis.service.settings import ServiceSettings, place_of


def check_exposure(settings: ServiceSettings) -> None:
    """Refuse addresses that others can reach, unless who calls is known and nobody can listen in."""
    places = {"listen": settings.listen}
    if settings.flight.enabled and settings.flight.listen is not None:
        places["flight.listen"] = settings.flight.listen
    for path, text in places.items():
        host, _ = place_of(text, path)
        if is_loopback(host):
            continue
        if settings.tls.certificate is None:
            hint = "tls.certificate and tls.key, or an address of loopback"
            raise _refused(path, text, "without TLS", hint)
        if settings.access.tokens is None or not TokenFile(settings.access.tokens).read():
            hint = "access.tokens, a file made by `australis token new`, or an address of loopback"
            raise _refused(path, text, "without tokens", hint)
        if settings.access.anonymous is not None:
            hint = "no access.anonymous, or an address of loopback"
            raise _refused(path, text, "for callers without a token", hint)


def _refused(path: str, text: str, how: str, expected: str) -> ServiceError:
    problem = Problem(path, f"is {text}, which other machines can reach, {how}", expected)
    return ServiceError(ErrorCode.INVALID_REQUEST, problem)
