"""Connects the node of a service with others for as long as it runs a network."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from australis.algebra.network import Network
from australis.cluster import Cluster, ClusterStatus
from australis.cluster.identity import Credentials
from australis.cluster.sliding import TOPIC, Slider
from australis.engine import Node
from australis.errors import AustralisError, ErrorCode, Problem, ServiceError
from australis.policy.place import Limits, Manners, Site
from australis.service.settings import ClusterSettings, place_of

_log = logging.getLogger(__name__)


class Neighbours:
    """The other nodes, if the settings name an identity; all methods may be called from any thread."""

    def __init__(self, settings: ClusterSettings) -> None:
        self._settings = settings
        self._credentials = None if settings.identity is None else Credentials.load(settings.identity)
        self._listen = None if settings.listen is None else place_of(settings.listen, "cluster.listen")
        self._address = None if settings.address is None else place_of(settings.address, "cluster.address")
        self._seeds = [place_of(at, "cluster.seeds") for at in settings.seeds]
        self._places = {name: place_of(at, f"cluster.nodes.{name}") for name, at in settings.nodes.items()}
        self._lock = threading.RLock()
        self._node: Node | None = None
        self._cluster: Cluster | None = None
        self._slider: Slider | None = None
        self._closing = 0
        """How many threads end what there was; nothing is arranged meanwhile."""
        self.on_redrawn: Callable[[], None] = lambda: None
        """Called when boxes have come from another node, or gone to one."""

    def arrange(self, node: Node | None, network: Network | None) -> None:
        """Connect the node if it runs a network, and link its inputs as the settings and the network say."""
        if node is not self._node:
            self._close()
        with self._lock:
            if self._closing or node is None or network is None or self._credentials is None:
                return
            if self._cluster is None:
                self._open(node, self._credentials)
            assert self._cluster is not None
            self._cluster.arrange(self._wanted(network))

    def close(self) -> None:
        """End all connections."""
        self._close()

    @property
    def status(self) -> ClusterStatus | None:
        """How it stands with other nodes; None if there are none."""
        with self._lock:
            return None if self._cluster is None else self._cluster.status()

    @property
    def cluster(self) -> Cluster:
        """The node among the others."""
        with self._lock:
            if self._cluster is None:
                expected = "cluster.identity in the settings, and a network"
                problem = Problem("cluster", "this node is not among others", expected)
                raise ServiceError(ErrorCode.CONFLICT, problem)
            return self._cluster

    def _open(self, node: Node, credentials: Credentials) -> None:
        cluster = Cluster(
            node,
            credentials,
            listen=self._listen,
            offers=self._settings.offers,
            grants=self._settings.grants,
            seeds=self._seeds,
            advertise=self._address,
            redrawn=self.on_redrawn,
        )
        # The same port again, should the node be replaced by another one.
        self._listen, self._node, self._cluster = cluster.listens, node, cluster
        for name, place in self._places.items():
            try:
                cluster.connect(name, place)
            except AustralisError as error:
                _log.error("%s is not connected: %s", name, error)
        self._place(node, cluster)

    def _place(self, node: Node, cluster: Cluster) -> None:
        """Let boxes slide by themselves, or at least hear what neighbours report without heeding it."""
        if not self._settings.place:
            cluster.hear(TOPIC, lambda *_: None)
            return
        try:
            self._slider = self._open_slider(node, cluster)
        except AustralisError as error:
            _log.error("no boxes slide by themselves: %s", error)
        else:
            self._slider.start()

    def _open_slider(self, node: Node, cluster: Cluster) -> Slider:
        given = self._settings
        after_s = given.place_after_s
        # No part of a box can run at another node yet.
        manners = Manners(
            Limits(splits=False), persists_s=after_s, settle_s=after_s, rest_s=given.place_rest_s
        )
        cores = given.place_cores or float(node.workers)
        return Slider(
            node,
            cluster,
            Site(cores),
            manners,
            width=given.place_link_mb_s * 1e6,
            journal=given.place_journal,
        )

    def _close(self) -> None:
        """End what there is; not with the lock, for which threads that are waited for may want to arrange."""
        with self._lock:
            slider, cluster = self._slider, self._cluster
            self._slider = self._cluster = self._node = None
            self._closing += 1
        try:
            if slider is not None:
                slider.close()
            if cluster is not None:
                cluster.close()
        finally:
            with self._lock:
                self._closing -= 1

    def _wanted(self, network: Network) -> dict[str, tuple[str, float]]:
        """The sources and weights of inputs; the settings come before what is drawn."""
        given = self._settings.inputs
        drawn = {name: each.source for name, each in network.inputs.items() if each.source is not None}
        sources = {**drawn, **{name: source for name, source in given.items() if name in network.inputs}}
        return {name: (source, self._settings.weights.get(name, 1.0)) for name, source in sources.items()}
