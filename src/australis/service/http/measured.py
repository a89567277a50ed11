"""What is measured of requests, and metrics of all that the service has beside the node."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from starlette.types import Scope

from australis.engine.observe import counter, gauge
from australis.service.fanout import Audience
from australis.service.feeds import FeedState, FeedStatus

_EDGES_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Measured:
    """Requests by route, counted and timed."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "australis_http_requests",
            "Requests of the HTTP API that were answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._times = Histogram(
            "australis_http_request_seconds",
            "Time that requests took, streams not counted.",
            ("route",),
            buckets=_EDGES_S,
            registry=self._registry,
        )

    def note(self, scope: Scope, status: int, seconds: float, *, is_stream: bool) -> None:
        """Count a request; one that no route matches has no route of its own, or anybody could make many."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope.get("method", "WS") if route != "none" else "any"
        self._requests.labels(method, route, str(status)).inc()
        if not is_stream:
            self._times.labels(route).observe(seconds)

    def families(self) -> Iterator[Metric]:
        """As metrics for Prometheus."""
        yield from self._registry.collect()


def feed_families(feeds: list[FeedStatus]) -> Iterator[Metric]:
    """The feeds as metrics."""
    labels = ("direction", "feed")
    keyed = [((str(each.direction), each.name), each) for each in feeds]
    told = "Tuples that a feed has brought or taken since the service started."
    yield counter("feed_tuples", told, labels, [(key, float(each.tuples)) for key, each in keyed])
    told = "How often a feed was tried again after a failure since the service started."
    yield counter("feed_restarts", told, labels, [(key, float(each.restarts)) for key, each in keyed])
    states = [((*key, str(state)), float(each.state == state)) for key, each in keyed for state in FeedState]
    told = "1 for the state that a feed is in, 0 for the others."
    yield gauge("feed_state", told, (*labels, "state"), states)


def subscriber_families(audience: Audience) -> Iterator[Metric]:
    """The subscribers as metrics."""
    labels = ("output", "way")
    seen = [((output, str(way)), each) for (output, way), each in audience.seen().items()]
    told = "Subscribers of an output that are connected."
    yield gauge("subscribers", told, labels, [(key, float(each.subscribers)) for key, each in seen])
    told = "How many numbers of the log the slowest subscriber is behind what an output has."
    yield gauge("subscriber_behind_numbers", told, labels, [(key, float(each.behind)) for key, each in seen])
    told = "Tuples that subscribers have taken since the service started."
    yield counter("subscriber_tuples", told, labels, [(key, float(each.taken)) for key, each in seen])
    lost = [(key, float(each.missed)) for key, each in seen]
    told = "Numbers of the log that subscribers were told to have missed since the service started."
    yield counter("subscriber_missed_numbers", told, labels, lost)
