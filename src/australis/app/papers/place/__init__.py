"""The experiments on placement, beside the paper's numbers.

Options come in; a report as text, JSON or charts goes out.
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
