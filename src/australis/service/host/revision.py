"""The revision of a network: which one a caller has seen, so that no change overwrites another unseen."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from australis.algebra.form import to_json
from australis.algebra.network import Network


class Deployed(NamedTuple):
    """A network, and its revision."""

    network: Network
    revision: str


class Revisions:
    """Finds revisions, and remembers that of the last network: it is asked for with every call."""

    def __init__(self) -> None:
        self._last: Deployed | None = None

    def of(self, network: Network) -> Deployed:
        """A network with its revision."""
        last = self._last
        if last is None or last.network is not network:
            last = self._last = Deployed(network, revision_of(network))
        return last


def revision_of(network: Network) -> str:
    """The revision of a network: equal networks have the same one, on any node.

    >>> import australis
    >>> net = australis.NetworkBuilder("n")
    >>> stream = net.input("a", "x int").output("b")
    >>> len(revision_of(net.build()))
    16
    """
    text = json.dumps(to_json(network), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
