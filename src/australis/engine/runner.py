"""Runners: what runs the tasks of a train. Spark is one, and the default; a node takes any.

A waybill comes in, the manifests of its tasks go out. A runner commits nothing: a train that fails in it
never happened.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from australis.engine.settings import Way
from australis.engine.store.root import Root
from australis.engine.worker.waybill import Manifest, Waybill
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Run = Callable[[Waybill], list[Manifest]]
"""Runs a train; everything that its tasks did is in their manifests."""

SPARK, LIGHT = "spark", "light"
MASTER = "local[2]"
_LIGHT = re.compile(rf"{LIGHT}(?:\[([1-9][0-9]{{0,3}})\])?")


class TrainFailed(EngineError):
    """A train that its runner could not finish, though it may when it is tried again."""


@runtime_checkable
class Runner(Protocol):
    """Runs the trains of one node, or of several."""

    @property
    def tasks(self) -> int:
        """How many tasks can run at a time."""

    def prepare(self, root: Root, plan: Plan) -> Run:
        """What runs the trains of a plan; called again for every plan that takes its place."""

    def abandon(self, root: Root) -> None:
        """Give up the trains of a root that are running: whoever waits for one gets `TrainFailed`."""

    def close(self) -> None:
        """End; nothing runs any more."""


def choose_runner(
    given: str | Runner | SparkSession,
    *,
    way: Way = Way.FUSED,
    master: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Callable[[], Runner]:
    """What makes the runner of a node: the one of a name, the one that is given, or one on a given session.

    `master` and `options` are for a Spark that is started here, the way `spark` for any Spark.
    """
    if given == SPARK:
        return partial(_started, master or MASTER, way, options)
    _refuse("master", master is not None, given)
    _refuse("spark_options", options is not None, given)
    if isinstance(given, str | Runner):
        _refuse("way='spark'", way is Way.SPARK, given)
    if isinstance(given, str):
        return partial(_light, light_tasks(given))
    return (lambda: given) if isinstance(given, Runner) else partial(_on_session, given, way)


def light_tasks(name: str) -> int | None:
    """How many tasks a light runner runs at a time, by its name; None is one for each core.

    >>> light_tasks("light[4]"), light_tasks("light")
    (4, None)
    """
    found = _LIGHT.fullmatch(name)
    if found is None:
        expected = f"{SPARK}, {LIGHT}, {LIGHT}[4] for four tasks at a time, a Runner or a SparkSession"
        raise EngineError(Problem("runner", f"is {name!r}", expected))
    return int(found[1]) if found[1] else None


def _refuse(option: str, is_given: bool, runner: object) -> None:
    """Say that an option is for a Spark that the node starts."""
    if is_given:
        name = repr(runner) if isinstance(runner, str) else f"a {type(runner).__name__}"
        raise EngineError(Problem(option, f"is not for the runner {name}", f"runner={SPARK!r}"))


# Each is loaded when it is chosen: Spark takes its time, and may not be there.


def _light(tasks: int | None) -> Runner:
    made: Runner = importlib.import_module("australis.engine.light.runner").LightRunner(tasks)
    return made


def _started(master: str, way: Way, options: Mapping[str, str] | None) -> Runner:
    made: Runner = importlib.import_module("australis.engine.spark.runner").started(master, way, options)
    return made


def _on_session(session: SparkSession, way: Way) -> Runner:
    made: Runner = importlib.import_module("australis.engine.spark.runner").on_session(session, way)
    return made
