"""Terminal output: progress, tables, summaries, how a network would run.

In: statistics and reports. Out: text.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.showing import statistics_tables
    from australis.app.showing.capacity import show_capacity
    from australis.app.showing.losses import Loss, losses_between
    from australis.app.showing.number_tables import print_columns, print_table
    from australis.app.showing.physical_plan import physical_plan_of, physical_tree
    from australis.app.showing.progress import ProgressSample, announce, draw_live
    from australis.app.showing.run_losses import OutputResult, RunLosses, result_lines
    from australis.app.showing.served_quality import Service
    from australis.app.showing.steps import show_steps
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "capacity": ("show_capacity",),
            "losses": (
                "Loss",
                "losses_between",
            ),
            "number_tables": ("print_columns", "print_table"),
            "physical_plan": (
                "physical_plan_of",
                "physical_tree",
            ),
            "progress": (
                "ProgressSample",
                "announce",
                "draw_live",
            ),
            "run_losses": (
                "OutputResult",
                "RunLosses",
                "result_lines",
            ),
            "served_quality": ("Service",),
            "steps": ("show_steps",),
        },
        modules=("statistics_tables",),
    )

__all__ = [
    "Loss",
    "OutputResult",
    "ProgressSample",
    "RunLosses",
    "Service",
    "announce",
    "draw_live",
    "losses_between",
    "physical_plan_of",
    "physical_tree",
    "print_columns",
    "print_table",
    "result_lines",
    "show_capacity",
    "show_steps",
    "statistics_tables",
]
