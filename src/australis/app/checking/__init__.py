"""The capacity analysis of `australis check --rate`: can a machine handle the expected load?

In: rates and costs. Out: an analysis and, under overload, the drop boxes that the shedder would place.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.checking.capacity import CapacityReport, analyse_load
    from australis.app.checking.question import CapacityQuestion, analysis_options
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "capacity": (
                "CapacityReport",
                "analyse_load",
            ),
            "question": (
                "CapacityQuestion",
                "analysis_options",
            ),
        },
    )

__all__ = [
    "CapacityQuestion",
    "CapacityReport",
    "analyse_load",
    "analysis_options",
]
