"""Runners: what runs the tasks of a train. Spark is one, and the default; a node takes any.

In: a waybill. Out: the manifests of its tasks. A runner commits nothing: a failed train leaves no trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from australis.engine import light, spark
from australis.engine.settings import Way
from australis.engine.store import Root
from australis.engine.worker import RunTrain
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK, LIGHT = "spark", "light"
MASTER = "local[2]"
_LIGHT = re.compile(rf"{LIGHT}(?:\[([1-9][0-9]{{0,3}})\])?")


@runtime_checkable
class Runner(Protocol):
    """Runs the trains of one node, or of several."""

    @property
    def tasks(self) -> int:
        """How many tasks can run at a time."""

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        """Prepare to run the trains of a plan; called again for every plan that replaces it."""

    def abandon(self, root: Root) -> None:
        """Give up the running trains of a root: whoever waits for one gets `TrainFailed`."""

    def close(self) -> None:
        """End; nothing runs any more."""


@runtime_checkable
class SessionRunner(Runner, Protocol):
    """Runs trains in a Spark session."""

    @property
    def session(self) -> SparkSession:
        """The session, which Spark jobs of the user may share."""


def choose_runner(
    given: str | Runner,
    *,
    session: SparkSession | None = None,
    way: Way = Way.FUSED,
    master: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Callable[[], Runner]:
    """Choose what makes the runner of a node: by name, as given, or on a given Spark session.

    `master` and `options` apply to a Spark session that is started here, the way `spark` to any Spark.
    """
    if session is not None:
        _refuse_beside_session(runner=None if given == SPARK else given, master=master, spark_options=options)
        return partial(_on_session, session, way)
    if given == SPARK:
        return partial(_start_spark, master or MASTER, way, options)
    _refuse("master", master is not None, given)
    _refuse("spark_options", options is not None, given)
    if isinstance(given, str | Runner):
        _refuse("way='spark'", way is Way.SPARK, given)
    if isinstance(given, str):
        return partial(_start_light, light_tasks(given))
    _check_runner(given)
    return lambda: given


def light_tasks(name: str) -> int | None:
    """How many tasks a light runner runs at a time, by its name; None means one per core.

    >>> light_tasks("light[4]"), light_tasks("light")
    (4, None)
    """
    found = _LIGHT.fullmatch(name)
    if found is None:
        expected = f"{SPARK}, {LIGHT}, {LIGHT}[4] for four tasks at a time, or a Runner"
        raise EngineError(Problem("runner", f"is {name!r}", expected))
    return int(found[1]) if found[1] else None


def _check_runner(given: object) -> None:
    if not isinstance(given, Runner):
        expected = "a Runner, or spark=session for a SparkSession"
        raise EngineError(Problem("runner", f"is a {type(given).__name__}", expected))


def _refuse(option: str, is_given: bool, runner: object) -> None:
    """Refuse an option that only applies to a Spark session started by the node."""
    if is_given:
        name = repr(runner) if isinstance(runner, str) else f"a {type(runner).__name__}"
        raise EngineError(Problem(option, f"is not for the runner {name}", f"runner={SPARK!r}"))


def _refuse_beside_session(**given: object) -> None:
    """Refuse what a session of the user has decided already."""
    for option, value in given.items():
        if value is not None:
            what = "is not for a session of your own, which runs already"
            raise EngineError(Problem(option, what, "spark=session alone, or the options without it"))


# Each is imported when it is chosen, by its package: Spark is slow to load, and may not be installed.


def _start_light(tasks: int | None) -> Runner:
    return light.LightRunner(tasks)


def _start_spark(master: str, way: Way, options: Mapping[str, str] | None) -> Runner:
    return spark.start(master, way, options)


def _on_session(session: SparkSession, way: Way) -> Runner:
    return spark.on_session(session, way)
