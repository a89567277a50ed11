"""The experiments on distributed eddies, compared with the paper's numbers.

In: options. Out: a report as text, JSON or charts.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.route import model, report
    from australis.app.papers.route.command import eddies
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "command": ("eddies",),
        },
        modules=(
            "model",
            "report",
        ),
    )

__all__ = [
    "eddies",
    "model",
    "report",
]
