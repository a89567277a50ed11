"""Independent jobs as tasks of one Spark job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from australis.engine.spark.session import is_running, local_session
from australis.errors import AustralisError

Job = TypeVar("Job")
Result = TypeVar("Result")


def on_spark(master: str, function: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
    """Apply a function to each job, in order; Spark is stopped afterwards, if it was started for this.

    The function and the jobs are pickled, so workers must be able to import what they refer to.
    """
    before = is_running()
    session = local_session("australis-sweep", master=master, light=True)
    try:
        tasks = session.sparkContext.parallelize(jobs, len(jobs))
        return [_got(each) for each in tasks.map(partial(_attempt, function)).collect()]
    finally:
        if not before:
            session.stop()


def _attempt(function: Callable[[Job], Result], job: Job) -> Result | AustralisError:
    """Run a job, and return an error of ours: Spark would retry and bury it in a traceback."""
    try:
        return function(job)
    except AustralisError as error:
        return error


def _got(outcome: Result | AustralisError) -> Result:
    if isinstance(outcome, AustralisError):
        raise outcome
    return outcome
