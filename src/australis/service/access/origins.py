"""Which names the service answers to, and which web pages may call it: browsers are steered by others."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.settings import ServiceSettings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name: only this one is known to be of this machine alone.
        return host.lower() == "localhost"


class Origins:
    """Checks the headers `Host` and `Origin`.

    A page of another site can make a browser call a service on its own machine, under a name that leads there
    (DNS rebinding) or not: neither has a `Host` and an `Origin` of ours.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        host, _ = settings.place
        own = {host.lower(), *(name.lower() for name in settings.access.host_names)}
        is_open = _is_any(host) and not settings.access.host_names
        self._names = None if is_open else own | _LOOPBACK
        self._origins = frozenset(origin.lower().rstrip("/") for origin in settings.access.origins)

    def check(self, host: str | None, origin: str | None) -> None:
        """Refuse a call under a name that is not ours, or by a page that is not ours."""
        name = _part(f"//{host}", "hostname") if _is_plain(host) else ""
        if self._names is not None and name not in self._names:
            what = f"{host!r} is no name of this service"
            known = ", ".join(sorted(self._names))
            raise _refused("host", what, f"one of {known}; access.host_names has more")
        if origin is None or origin.lower() in self._origins:
            return
        if _part(origin, "netloc") != (host or "").lower():
            hint = "a page of the service itself, or one in access.origins"
            raise _refused("origin", f"a page of {origin!r} may not call", hint)


def _part(url: str, name: str) -> str:
    """A part of an address in small letters; none of what is no address."""
    try:
        return (getattr(urlsplit(url), name) or "").lower()
    except ValueError:
        # Such as a bracket that is not closed: it is refused like any other name that is not ours.
        return ""


def _is_plain(host: str | None) -> bool:
    return host is not None and not set("/\\@?#") & set(host)


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        # A name is one address.
        return False


def _refused(path: str, what: str, expected: str) -> ServiceError:
    return ServiceError(ErrorCode.FORBIDDEN, Problem(path, what, expected))
