"""The papers' experiments: `australis simulate`.

One sub-room per policy, named as in `policy` and `sim`; each has its command, its report and its charts. In:
options. Out: a report as text, JSON or charts. The simulator is loaded only when it runs.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.papers.hotspot import hotspots
    from australis.app.papers.place import placement
    from australis.app.papers.recover import recovery
    from australis.app.papers.route import eddies
    from australis.app.papers.trade import market
    from australis.app.papers.worlds import replay, trials
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "hotspot": ("hotspots",),
            "place": ("placement",),
            "recover": ("recovery",),
            "route": ("eddies",),
            "trade": ("market",),
            "worlds": ("replay", "trials"),
        },
    )

__all__ = [
    "eddies",
    "hotspots",
    "market",
    "placement",
    "recovery",
    "replay",
    "trials",
]
