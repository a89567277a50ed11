"""What a network that comes over the network may name: stores under allowed roots, on allowed hosts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from australis.algebra.network import Network
from australis.algebra.store import SECRET, Store, StoreKind
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.settings import AccessSettings

_PARAMETERS = frozenset({"sslmode", "connect_timeout", "application_name", "password"})
"""The parameters of a PostgreSQL address that lead to no other host and no file."""
_PORT = 5432
_ADDRESS = re.compile(
    r"postgres(?:ql)?://(?:[^@/?#\s]*@)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/[^?#\s]*)?(?:\?(?P<query>[^#\s]*))?"
)


class NetworkRules:
    """What stores of a deployed network, or of an attached query, may name.

    Functions of users need no rule: a network can only name those that the program has registered.
    """

    def __init__(self, settings: AccessSettings, environment: Mapping[str, str] = os.environ) -> None:
        self._roots = [Path(root).resolve() for root in settings.roots]
        self._variables = frozenset(settings.variables)
        self._hosts = frozenset(host.lower() for host in settings.hosts)
        self._environment = environment

    def check(self, network: Network) -> None:
        """Refuse a network that names what is not allowed."""
        for problem in self.problems(network):
            raise ServiceError(ErrorCode.FORBIDDEN, problem)

    def problems(self, network: Network) -> Iterator[Problem]:
        """All that is not allowed."""
        for name, given in network.inputs.items():
            if given.store is not None:
                path = f"{network.name}.{name}.store.at"
                yield from (problem.under(path) for problem in self._store_problems(given.store))

    def _store_problems(self, store: Store) -> Iterator[Problem]:
        names = SECRET.findall(store.at)
        if unknown := [name for name in names if name not in self._variables]:
            allowed = ", ".join(sorted(self._variables)) or "none"
            what = f"names the variable {unknown[0]}, which a deployed network may not read"
            yield Problem("", what, f"one of access.variables: {allowed}")
        elif missing := [name for name in names if name not in self._environment]:
            yield Problem("", f"names the variable {missing[0]}, which is not set", "its value")
        elif store.kind is StoreKind.POSTGRESQL:
            yield from self._host_problems(self._filled(store.at, is_url=True))
        else:
            yield from self._file_problems(store)

    def _filled(self, text: str, *, is_url: bool) -> str:
        values = {name: self._environment[name] for name in SECRET.findall(text)}
        if is_url:
            values = {name: quote(value, safe="") for name, value in values.items()}
        return SECRET.sub(lambda found: values[found[1]], text)

    def _file_problems(self, store: Store) -> Iterator[Problem]:
        """A file must be below an allowed root, however its path gets there."""
        is_url = store.kind is not StoreKind.FILE
        at = self._filled(store.at, is_url=is_url)
        parts = urlsplit(at)
        place = unquote(parts.netloc + parts.path)[1:] if is_url else at
        if is_url and (parts.query or parts.fragment):
            yield Problem("", "has parameters", "the address of a file, without any")
            return
        # What is checked is what the system would open: links followed, `..` applied.
        found = Path(os.path.realpath(place))
        if not any(found.is_relative_to(root) for root in self._roots):
            allowed = ", ".join(map(str, self._roots)) or "none"
            what = "is outside the folders that a deployed network may read"
            yield Problem("", what, f"a file below one of access.roots: {allowed}")

    def _host_problems(self, at: str) -> Iterator[Problem]:
        """A database must be on an allowed host; what drivers might read in another way is refused."""
        found = _ADDRESS.fullmatch(at)
        if found is None:
            yield Problem("", "is no address of one host", "postgresql://USER@HOST:PORT/DATABASE")
            return
        host, port = found["host"].strip("[]").lower(), int(found["port"] or _PORT)
        given = parse_qsl(found["query"] or "", keep_blank_values=True)
        if others := [name for name, _ in given if name not in _PARAMETERS]:
            known = ", ".join(sorted(_PARAMETERS))
            yield Problem("", f"has the parameter {others[0]!r}", f"none, or one of {known}")
        elif not {host, f"{host}:{port}"} & self._hosts:
            allowed = ", ".join(sorted(self._hosts)) or "none"
            what = f"names the host {host}:{port}, which a deployed network may not reach"
            yield Problem("", what, f"one of access.hosts: {allowed}")
