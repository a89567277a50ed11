"""The analyses of `australis check`: do the rows of a file fit, and can a machine handle the expected load?

In: files, rates and costs. Out: warnings, an analysis and, under overload, the drop boxes that the shedder
would place.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.checking.capacity import CapacityReport, analyse_load
    from australis.app.checking.question import CapacityQuestion, analysis_options
    from australis.app.checking.samples import Sample, read_samples
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
            "samples": (
                "Sample",
                "read_samples",
            ),
        },
    )

__all__ = [
    "CapacityQuestion",
    "CapacityReport",
    "Sample",
    "analyse_load",
    "analysis_options",
    "read_samples",
]
