"""The experiments on hot spots, compared with the paper's numbers.

In: options. Out: a report as text, JSON or charts.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.hotspot import report
    from australis.app.papers.hotspot.command import hotspots
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "command": ("hotspots",),
        },
        modules=("report",),
    )

__all__ = [
    "hotspots",
    "report",
]
