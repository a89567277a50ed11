"""The routes: a family of calls in each file, and its models.

In: the host and the caller. Out: routers, which the application includes all; a new family has its line here.
"""

from australis.service.http.routes import (
    arcs,
    breakpoints,
    feeds,
    following,
    health,
    live,
    neighbours,
    network,
    node,
    observing,
    operations,
    parts,
    pushing,
    queries,
    splits,
    streams,
    tapping,
)

ROUTERS = (
    health.router,
    node.router,
    network.router,
    operations.router,
    parts.router,
    arcs.router,
    breakpoints.router,
    queries.router,
    splits.router,
    streams.router,
    feeds.router,
    neighbours.router,
    observing.router,
    observing.metrics_router,
    pushing.router,
    following.router,
    tapping.router,
    live.router,
)

__all__ = ["ROUTERS"]
