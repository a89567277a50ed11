"""The experiments on recovery, compared with the paper's numbers.

In: options. Out: a report as text, JSON or charts.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.recover import report
    from australis.app.papers.recover.command import recovery
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "command": ("recovery",),
        },
        modules=("report",),
    )

__all__ = [
    "recovery",
    "report",
]
