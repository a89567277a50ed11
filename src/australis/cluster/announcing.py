"""Announces what a node has: the query that runs there and its outputs, as the network changes."""

from __future__ import annotations

from typing import NamedTuple

from australis.algebra.network import Network
from australis.cluster.catalogue import DETAIL_MOST, Kind
from australis.cluster.directory import Directory
from australis.cluster.links import LinkedNode, Offers


class _Entry(NamedTuple):
    """Something that is announced."""

    kind: Kind
    detail: str
    is_public: bool


class Announcing:
    """Compares what runs with what was announced; outputs that others may read are public."""

    def __init__(self, node: LinkedNode, directory: Directory, offers: Offers) -> None:
        self._node, self._directory, self._offers = node, directory, offers
        self._seen: Network | None = None
        self._announced: set[str] = set()

    def refresh(self) -> None:
        """Announce what is new, and withdraw what has gone."""
        network = self._node.recorded()
        if network is self._seen:
            return
        found = {} if network is None else self._entries(network)
        for gone in sorted(self._announced - {*found}):
            self._directory.withdraw(gone, self._directory.moved(gone))
        for name, (kind, detail, is_public) in found.items():
            self._directory.announce(name, kind, detail, is_public=is_public)
        self._seen, self._announced = network, {*found}

    def _entries(self, network: Network) -> dict[str, _Entry]:
        home = self._directory.name.participant
        # A query may run in pieces on several nodes: each says which boxes are there.
        boxes = ", ".join(sorted(network.boxes))[:DETAIL_MOST]
        found = {f"{home}/{network.name}": _Entry(Kind.QUERY, boxes, False)}
        for output in network.outputs:
            schema = str(network.output_schema(output))[:DETAIL_MOST]
            found[f"{home}/{output}"] = _Entry(Kind.STREAM, schema, self._offers.is_public(output))
        return found
