"""The experiments on hot spots, beside the paper's numbers.

Options come in; a report as text, JSON or charts goes out.
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
