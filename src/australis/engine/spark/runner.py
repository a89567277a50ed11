"""The Spark runner: trains as jobs of a Spark application, started by the node or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from pyspark.sql import SparkSession

from australis.engine.settings import Way
from australis.engine.spark.cluster import check_workers
from australis.engine.spark.fused import FusedRunner
from australis.engine.spark.session import GONE, SESSION_OPTIONS, is_running, local_session
from australis.engine.spark.sql_runner import SqlRunner
from australis.engine.spark.train_jobs import cancel_jobs
from australis.engine.store import Root
from australis.engine.worker import RunTrain
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Plan


def start(master: str, way: Way, options: Mapping[str, str] | None) -> SparkRunner:
    """Start a runner on the Spark of this process; if none runs, it starts one, and stops it at the end."""
    if is_running():
        return _beside(SparkSession.Builder().getOrCreate(), way, options or {})
    session = local_session(master=master, light=way is Way.FUSED, options=options)
    return SparkRunner(session, session, way, is_own=True)


def on_session(session: object, way: Way) -> SparkRunner:
    """A runner on a user's session, which it neither changes nor stops: trains have their own settings."""
    if not isinstance(session, SparkSession):
        kind = f"{type(session).__module__}.{type(session).__qualname__}"
        is_remote = kind.startswith("pyspark.sql.connect")
        what = "is a session of Spark Connect, whose tasks cannot be reached" if is_remote else f"is a {kind}"
        raise EngineError(Problem("spark", what, "a SparkSession of this process"))
    if session.sparkContext._jsc is None:
        raise EngineError(Problem("spark", "is a SparkSession that was stopped", "one that runs"))
    return _beside(session, way, {})


def _beside(session: SparkSession, way: Way, options: Mapping[str, str]) -> SparkRunner:
    """A runner in the application of a session that is not changed."""
    apart = session.newSession()
    for name, value in {**SESSION_OPTIONS, **options}.items():
        if apart.conf.isModifiable(name):
            apart.conf.set(name, value)
    return SparkRunner(session, apart, way, is_own=False)


class SparkRunner:
    """Runs trains as jobs, in either way; those of a root form one group, which tells them from others."""

    def __init__(self, session: SparkSession, trains: SparkSession, way: Way, *, is_own: bool) -> None:
        self.session, self._trains = session, trains
        self._way, self._is_own = way, is_own
        self._fused = FusedRunner(trains)
        self._seen: set[str] = set()
        """The roots that the workers are known to see."""

    @property
    def tasks(self) -> int:
        """How many tasks can run at a time."""
        return self.session.sparkContext.defaultParallelism

    def prepare(self, root: Root, plan: Plan) -> RunTrain:
        """Prepare a plan; the fused way serves every plan, and Spark keeps the one job that it runs."""
        if root.uri not in self._seen:
            check_workers(self.session, root)
            self._seen.add(root.uri)
        return SqlRunner(self._trains, root, plan).run if self._way is Way.SPARK else self._fused.run

    def abandon(self, root: Root) -> None:
        """Cancel the jobs of a root."""
        # If Spark has stopped, so have its jobs.
        with suppress(*GONE):
            cancel_jobs(self.session.sparkContext, root.uri)

    def close(self) -> None:
        """Stop Spark, if it was started for this runner."""
        if self._is_own:
            # It may have stopped by itself.
            with suppress(*GONE):
                self.session.stop()
