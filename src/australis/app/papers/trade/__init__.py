"""The experiments on the market of contracts, compared with the paper's numbers.

In: options. Out: a report as text, JSON or charts.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.trade import report
    from australis.app.papers.trade.command import market
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "command": ("market",),
        },
        modules=("report",),
    )

__all__ = [
    "market",
    "report",
]
