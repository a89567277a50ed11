"""What runs in a worker process: one share of a train, from segments to segments.

In: a waybill. Out: a manifest. Tuples and states travel as files below the root.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.worker.counts import binned
    from australis.engine.worker.plan_files import write_plan
    from australis.engine.worker.shedding import let_in
    from australis.engine.worker.task import Task, ready_for
    from australis.engine.worker.warm import warm_up
    from australis.engine.worker.waybill import (
        ARRIVAL_STEP_US,
        GateDropBox,
        Manifest,
        MarkRun,
        OutOfMemory,
        Overran,
        RunTrain,
        Share,
        TaskFault,
        TimeSlice,
        TooLarge,
        TrainFailed,
        Waybill,
        WrittenState,
        answer,
        answer_or_fault,
        failure,
        logged_at,
        manifest_of,
        ran_out_of_memory,
    )
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "plan_files": ("write_plan",),
            "shedding": ("let_in",),
            "task": (
                "Task",
                "ready_for",
            ),
            "counts": ("binned",),
            "warm": ("warm_up",),
            "waybill": (
                "ARRIVAL_STEP_US",
                "GateDropBox",
                "Manifest",
                "MarkRun",
                "OutOfMemory",
                "Overran",
                "RunTrain",
                "Share",
                "TaskFault",
                "TimeSlice",
                "TooLarge",
                "TrainFailed",
                "Waybill",
                "WrittenState",
                "answer",
                "answer_or_fault",
                "failure",
                "logged_at",
                "manifest_of",
                "ran_out_of_memory",
            ),
        },
    )

__all__ = [
    "ARRIVAL_STEP_US",
    "GateDropBox",
    "Manifest",
    "MarkRun",
    "OutOfMemory",
    "Overran",
    "RunTrain",
    "Share",
    "Task",
    "TaskFault",
    "TimeSlice",
    "TooLarge",
    "TrainFailed",
    "Waybill",
    "WrittenState",
    "answer",
    "answer_or_fault",
    "binned",
    "failure",
    "let_in",
    "logged_at",
    "manifest_of",
    "ran_out_of_memory",
    "ready_for",
    "warm_up",
    "write_plan",
]
