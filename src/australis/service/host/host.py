"""The host: owns the node, and does what callers ask of it."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from australis.algebra.network import Network
from australis.engine import Node
from australis.engine.store import Root
from australis.errors import AustralisError, ErrorCode, Problem, ServiceError
from australis.service.access import NetworkRules
from australis.service.feeds import Feeds
from australis.service.host.once import Once
from australis.service.host.operations import Operations
from australis.service.host.revision import Deployed, Revisions
from australis.service.host.state import State
from australis.service.neighbours import Neighbours
from australis.service.settings import AccessSettings, ClusterSettings, FeedSettings, NodeSection
from australis.service.tracing import Traces

_log = logging.getLogger(__name__)
FEEDS_END_S = 10.0
"""How long feeds have to end when the service stops; one that waits for room ends with the node."""
RETRY_S = 1.0
"""When a caller may try again who came before the node was ready."""


class Host:
    """One node, from its start to its end; every method may be called from any thread."""

    def __init__(
        self,
        settings: NodeSection,
        feeds: Feeds | None = None,
        *,
        rules: NetworkRules | None = None,
        traces: Traces | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.traces = traces or Traces()
        """What is told of calls, pushes and trains."""
        self.settings, self.rules = settings, rules or NetworkRules(AccessSettings())
        self.feeds = feeds or Feeds(FeedSettings())
        """What is pushed and written by the service itself."""
        self.neighbours = neighbours or Neighbours(ClusterSettings())
        """The other nodes."""
        self.neighbours.on_redrawn = self.tell
        self.started_at = datetime.now(UTC)
        self.started = threading.Event()
        """Set when the node is open, and its network resumed where there was one."""
        self.stopping = threading.Event()
        """Set when the service begins to stop: streams end then."""
        self.operations, self.once = Operations(), Once()
        self.changing = threading.RLock()
        """Its holder changes the network, or which node there is."""
        self._telling = threading.RLock()
        """Whoever follows the network hears of its changes in their order."""
        self.on_network: list[Callable[[], None]] = []
        """Called after every change of the network, and after the start: what runs beside it follows."""
        self._node: Node | None = None
        self._failure: AustralisError | None = None
        self._revisions = Revisions()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    # --- life

    def start(self) -> None:
        """Open the root and resume the network that it holds; a network that fails to is no reason to end."""
        with self.changing:
            self._node = self._opened()
            self.resume_recorded(self._node)
        self.started.set()
        self.tell()

    def resume_recorded(self, node: Node) -> None:
        """Deploy the network that the root holds, if any; what fails is the state of the host."""
        self._failure = None
        try:
            network = node.recorded()
            if network is not None:
                node.deploy(network)
        except AustralisError as error:
            _log.error("the network of %s could not be resumed: %s", node.root.uri, error)
            self._failure = error

    def replace_node(self, between: Callable[[Node], None]) -> None:
        """Stop the node, do something to a fresh one on its root before anything runs there, and keep that.

        The caller holds `changing`. If it fails, the node is as if it had been started again.
        """
        with self._telling:
            # Whoever tells of this node is done, and nobody begins to.
            before, self._node = self.node, None
        self.feeds.arrange(None, None)
        self.neighbours.arrange(None, None)
        before.stop()
        fresh = self._opened()
        try:
            between(fresh)
        finally:
            self._node = fresh
            self.resume_recorded(fresh)
        self.tell()

    def tell(self) -> None:
        """Let what runs beside the network follow it; the failure of one stops no other."""
        with self._telling:
            node = self._node
            is_there = node is not None and node.is_deployed and not self.stopping.is_set()
            network = node.recorded() if node and is_there else None
            self.feeds.arrange(node if is_there else None, network)
            self._arrange_neighbours(node if is_there else None, network)
            for heard in self.on_network:
                try:
                    heard()
                except AustralisError as error:
                    _log.error("after a change of the network: %s", error)

    def _arrange_neighbours(self, node: Node | None, network: Network | None) -> None:
        try:
            self.neighbours.arrange(node, network)
        except AustralisError as error:
            _log.error("links with other nodes: %s", error)

    def stop(self, *, now: bool = False) -> None:
        """Stop the node; what it has is safe in its root."""
        self.stopping.set()
        with self._telling:
            # Whoever began to tell before that is done: nothing starts again what ends now.
            pass
        self.neighbours.close()
        self.feeds.close(0.0 if now else FEEDS_END_S)
        if self._node is not None:
            self._node.stop(now=now)
        self.operations.close()
        self.traces.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _opened(self) -> Node:
        """A node on the root; without one in the settings, on a folder that lasts as long as the service."""
        if self.settings.root is not None:
            return _node(self.settings, self.settings.root, self.traces)
        self._temporary = self._temporary or tempfile.TemporaryDirectory(prefix="australis-")
        return _node(self.settings, self._temporary.name, self.traces)

    # --- what it is doing

    @property
    def state(self) -> State:
        """What the host is doing."""
        node = self._node
        if self.stopping.is_set():
            return State.STOPPING
        if node is None or not self.started.is_set():
            return State.STARTING
        if self.failure is not None:
            return State.FAILED
        if not node.is_deployed:
            return State.EMPTY
        return State.PAUSED if node.is_paused else State.RUNNING

    @property
    def failure(self) -> AustralisError | None:
        """Why the network does not run, if something failed."""
        node = self._node
        if self._failure is not None or node is None or not node.is_deployed:
            return self._failure
        try:
            node.check()
        except AustralisError as error:
            return error
        return None

    @property
    def node(self) -> Node:
        """The node; raises `not_ready` or `stopping` where there is none."""
        node = self._node
        if self.stopping.is_set():
            problem = Problem("", "the service is stopping", "another one, or this one when it runs again")
            raise ServiceError(ErrorCode.STOPPING, problem, RETRY_S)
        if node is None or not self.started.is_set():
            problem = Problem("", "the node is starting", "the same request in a moment")
            raise ServiceError(ErrorCode.NOT_READY, problem, RETRY_S)
        return node

    @property
    def root(self) -> Root:
        """The root of the node, whatever it is doing."""
        assert self._node is not None, "the host has started"
        return self._node.root

    @property
    def running(self) -> Node | None:
        """The node, if it runs a network now."""
        node = self._node
        return node if node is not None and node.is_deployed and not self.stopping.is_set() else None

    @property
    def deployed(self) -> Node:
        """The node, if it runs a network; else raises `conflict`."""
        node = self.node
        if not node.is_deployed:
            why = f", since it could not be resumed: {self._failure}" if self._failure else ""
            hint = "POST /v1/network/resume" if self._failure else "PUT /v1/network first"
            raise ServiceError(ErrorCode.CONFLICT, Problem("", f"the node runs no network{why}", hint))
        return node

    @property
    def current(self) -> Deployed | None:
        """The network that the root holds, and its revision; None if it holds none."""
        network = self.node.recorded()
        return None if network is None else self._revisions.of(network)


def _node(settings: NodeSection, root: str, traces: Traces) -> Node:
    """A node as the settings describe it, on a root."""
    return Node(
        root,
        catalog=settings.catalog,
        runner=settings.runner,
        master=settings.master,
        partitions=settings.partitions,
        train=settings.train,
        train_limit=settings.train_limit,
        in_flight=settings.in_flight,
        discipline=settings.discipline,
        schedule=settings.schedule,
        shed=settings.shed,
        headroom=settings.headroom,
        fairness=settings.fairness,
        optimise=settings.optimise,
        disk=settings.disk,
        way=settings.way,
        spark_options=settings.spark or None,
        observer=traces.observer,
    )
