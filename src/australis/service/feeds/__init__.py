"""Feeds: declared sources and sinks that run with the service's node, each in a thread of its own.

In: a node, the texts of sources and sinks by the name of an input or output, and the network as it changes.
Out: tuples that are pushed and written, each feed's status; one that fails stops neither the node nor others.
"""

from australis.service.feeds.feed import Direction, FeedState, FeedStatus
from australis.service.feeds.feeds import Feeds
from australis.service.feeds.ways import FeedNode

__all__ = ["Direction", "FeedNode", "FeedState", "FeedStatus", "Feeds"]
