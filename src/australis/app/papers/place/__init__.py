"""The experiments on placement, compared with the paper's numbers.

In: options. Out: a report as text, JSON or charts.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.place import report
    from australis.app.papers.place.command import placement
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "command": ("placement",),
        },
        modules=("report",),
    )

__all__ = [
    "placement",
    "report",
]
