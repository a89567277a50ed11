"""Queries on history without a node, and where their tuples go.

In: a query and a root. Out: a table, JSON lines or files.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.asking.delivery import Destination, deliver, open_destination
    from australis.app.asking.history import history_files, history_of
    from australis.app.asking.offline import query_history
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "delivery": (
                "Destination",
                "deliver",
                "open_destination",
            ),
            "history": (
                "history_files",
                "history_of",
            ),
            "offline": ("query_history",),
        },
    )

__all__ = [
    "Destination",
    "deliver",
    "history_files",
    "history_of",
    "open_destination",
    "query_history",
]
