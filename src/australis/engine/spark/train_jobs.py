"""The Spark job of a train: its waybill, its owner, and when it is cancelled."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from australis.engine.spark.session import GONE
from australis.engine.worker import Overran, TooLarge, TrainFailed, Waybill, failure
from australis.errors import Problem

WAYBILL_PROPERTY = "australis.waybill"
"""The local property of a job that holds a train's waybill."""
START_S = 60.0
"""How much longer the first train may take: workers start with it, and load what they need."""
_WORKER_LOST = "Python worker exited unexpectedly"
"""How Spark reports that a Python worker has ended, for whatever reason."""


@contextmanager
def train_job(context: SparkContext, waybill: Waybill, *, is_first: bool) -> Iterator[None]:
    """Make the jobs of this thread the train's; a failure of Spark is raised as one of the train."""
    limit = _Limit(context, waybill, START_S if is_first else 0.0)
    try:
        _describe(context, waybill)
        with limit:
            yield
    except (Py4JError, PySparkException, OSError) as error:
        raise Overran.after(waybill) if limit.is_over else _failed(waybill, error) from error


def cancel_jobs(context: SparkContext, root: str) -> None:
    """Cancel the jobs of the node on a root."""
    context.cancelJobsWithTag(_tag_of(root))


def _describe(context: SparkContext, waybill: Waybill) -> None:
    """Tell the tasks of this thread's next job what to do, and Spark whose job it is."""
    context.setLocalProperty(WAYBILL_PROPERTY, waybill.to_json())
    context.setLocalProperty("spark.scheduler.pool", waybill.superbox)
    context.addJobTag(_tag_of(waybill.root))
    context.setJobGroup(_group_of(waybill), f"train {waybill.train} of {waybill.superbox}")


def _failed(waybill: Waybill, error: Exception) -> TrainFailed:
    """A failed job, with the last line of Spark's report."""
    if isinstance(error, GONE):
        expected = "a new process; nothing that was committed is lost"
        return TrainFailed(Problem(waybill.superbox, f"Spark's JVM has ended: {error}", expected))
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Exception" in line or "Error" in line] or lines
    kind = TooLarge if _WORKER_LOST in str(error) else TrainFailed
    return kind(failure(waybill.superbox, told[-1] if told else "unknown"))


def _tag_of(root: str) -> str:
    """The tag by which the jobs of the node on a root are told from others; it may not have a comma."""
    return f"australis-{hashlib.sha256(root.encode()).hexdigest()[:16]}"


def _group_of(waybill: Waybill) -> str:
    """The group of the jobs of one train."""
    return f"australis {waybill.root}, train {waybill.train}"


class _Limit:
    """Cancels the job of a train that takes too long. Time in which no task runs does not count."""

    def __init__(self, context: SparkContext, waybill: Waybill, more_s: float) -> None:
        self._context, self._waybill, self._more_s = context, waybill, more_s
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._has_ended = False
        self.is_over = False

    def __enter__(self) -> None:
        self._start()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._has_ended = True
            if self._timer is not None:
                self._timer.cancel()

    def _start(self) -> None:
        if self._waybill.limit_s is not None:
            self._timer = threading.Timer(self._waybill.limit_s + self._more_s, self._end)
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        """Cancel the train, unless it waits for executors: then its time starts again."""
        # If Spark has stopped, so has the job.
        with suppress(*GONE, Py4JError), self._lock:
            if self._has_ended:
                return
            if self._is_running():
                self.is_over = True
                self._context.cancelJobGroup(_group_of(self._waybill))
            else:
                self._start()

    def _is_running(self) -> bool:
        """Whether a task of the train is running."""
        tracker = self._context.statusTracker()
        jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(_group_of(self._waybill)))
        stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
        return any(stage is not None and stage.numActiveTasks for stage in stages)
