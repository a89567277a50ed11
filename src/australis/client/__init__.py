"""The client of a node somewhere else: the calls of `Node`, over HTTP and Arrow Flight.

In: an address, a token, networks, tuples, queries. Out: Arrow tables, receipts, and errors as the node says
them. `Client` waits for its calls, `AsyncClient` has them as coroutines; each call is written once. It needs
no engine, and starts nothing.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.client.async_client import AsyncAttached, AsyncClient, AsyncSubscription, connect_async
    from australis.client.client import Attached, Client, Subscription, connect
    from australis.client.networks import Change, Checked
    from australis.client.place import CA, NODE, TOKEN, Place
    from australis.client.reading import Missed
    from australis.client.tuples import Receipt
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "async_client": ("AsyncAttached", "AsyncClient", "AsyncSubscription", "connect_async"),
            "client": ("Attached", "Client", "Subscription", "connect"),
            "networks": ("Change", "Checked"),
            "place": ("CA", "NODE", "TOKEN", "Place"),
            "reading": ("Missed",),
            "tuples": ("Receipt",),
        },
    )

__all__ = [
    "CA",
    "NODE",
    "TOKEN",
    "AsyncAttached",
    "AsyncClient",
    "AsyncSubscription",
    "Attached",
    "Change",
    "Checked",
    "Client",
    "Missed",
    "Place",
    "Receipt",
    "Subscription",
    "connect",
    "connect_async",
]
