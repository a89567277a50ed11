"""Jobs that have nothing to do with each other, as tasks of one Spark job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from australis.engine.session import is_running, local_session

Job = TypeVar("Job")
Result = TypeVar("Result")


def on_spark(master: str, function: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
    """What a function makes of each job, in their order; Spark ends then, if it began for them.

    The function and the jobs are pickled: workers need to be able to import what they are made of.
    """
    before = is_running()
    session = local_session("australis-sweep", master=master, light=True)
    try:
        return session.sparkContext.parallelize(jobs, len(jobs)).map(function).collect()
    finally:
        if not before:
            session.stop()
