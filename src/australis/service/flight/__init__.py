"""Arrow Flight: tuples in volume, in and out, in the format in which they are processed.

In: batches of an input, numbered by their source; tickets for outputs and history. Out: acknowledgements once
tuples are durable, and batches. Each call takes a thread, so their number is limited.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.service.flight.door import FlightDoor
else:
    # gRPC is not safe across a fork, and slow to load: not before it is served.
    __getattr__ = lazy_exports(__name__, {"door": ("FlightDoor",)})

__all__ = ["FlightDoor"]
