"""How tuples get out: subscriptions, the positions of consumers, and ad hoc queries.

In: segments of output arcs. Out: tables, each tuple once per consumer.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.deliver.attached import Attached
    from australis.engine.deliver.consumers import ROWS_MOST, next_cut
    from australis.engine.deliver.following import Follower, Over, Part
    from australis.engine.deliver.forgetting import forget
    from australis.engine.deliver.holds import Holds
    from australis.engine.deliver.looking import Tap
    from australis.engine.deliver.subscription import Subscription
    from australis.engine.deliver.subscriptions import Subscriptions
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "attached": ("Attached",),
            "consumers": ("ROWS_MOST", "next_cut"),
            "following": ("Follower", "Over", "Part"),
            "forgetting": ("forget",),
            "looking": ("Tap",),
            "holds": ("Holds",),
            "subscription": ("Subscription",),
            "subscriptions": ("Subscriptions",),
        },
    )

__all__ = [
    "ROWS_MOST",
    "Attached",
    "Follower",
    "Holds",
    "Over",
    "Part",
    "Subscription",
    "Subscriptions",
    "Tap",
    "forget",
    "next_cut",
]
