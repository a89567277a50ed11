"""Random networks on a cluster, held to the reference: `tests.spark_cluster.journeys MASTER FIRST END`.

The numbers are seeds. It says `kill NAME` when an executor is to be lost, for a task of a train has begun
there; then `done` and what came to pass, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any, ClassVar

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from tests.conformance.engine_runs import Journey, Setting, several_tasks
from tests.conformance.test_engine import any_journey, keyed_journey

from australis.engine.settings import Way
from australis.engine.spark.session import local_session

OPTIONS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
KILL, DONE = "kill", "done"
KILL_EVERY = 4
"""Of so many networks one loses an executor, by one way and the other in turn."""
TASKS_BEFORE = 4
"""Fewer tasks than that begin before the one whose executor is lost."""


@dataclass
class Done:
    """What came to pass."""

    networks: int = 0
    runs: int = 0
    tasks: int = 0
    kills: int = 0
    lost: int = 0
    """The tasks that ended with their executor."""


class Tasks:
    """Hears from Spark where tasks begin and how they end, and says which executors are to be lost."""

    class Java:
        implements: ClassVar = ["org.apache.spark.scheduler.SparkListenerInterface"]

    def __init__(self, spark: SparkSession, done: Done) -> None:
        self._application, self._done = spark.sparkContext.applicationId, done
        self._wanted: list[int] = []
        self._killed: set[str] = set()
        ensure_callback_server_started(spark.sparkContext._gateway)
        spark.sparkContext._jsc.sc().addSparkListener(self)

    def kill(self, before: int) -> None:
        """Lose the executor of a task that begins, when so many have begun before it."""
        self._wanted.append(before)

    def onTaskStart(self, event: Any) -> None:
        executor = event.taskInfo().executorId()
        self._done.tasks += 1
        # Spark may hear late of the end of an executor, and start tasks on it that never run.
        if not self._wanted or executor in self._killed:
            return
        self._wanted[0] -= 1
        if self._wanted[0] < 0:
            self._wanted.pop(0)
            self._killed.add(executor)
            self._done.kills += 1
            say(KILL, f"{self._application}/{executor}")

    def onTaskEnd(self, event: Any) -> None:
        self._done.lost += "ExecutorLostFailure" in event.reason().toString()

    def __getattr__(self, name: str) -> Callable[..., None]:
        """All else that Spark tells."""
        if not name.startswith("on"):
            raise AttributeError(name)
        return lambda event: None


def say(*words: str) -> None:
    print(*words, flush=True)  # noqa: T201


def drawn(seed: int, way: Way, spark: SparkSession) -> tuple[Journey, int]:
    """A network with its events and settings, the same both ways, and how many tuples make a task."""
    random = Random(seed)
    journey = random.choice([any_journey, keyed_journey])(random)
    journey.runner = spark
    # By way of Spark a train takes a second or so until its code is compiled: fewer of them are enough.
    journey.held = random.random() < 0.5 or way is Way.SPARK
    journey.setting = _by(journey.setting, way)
    journey.restarts = [replace(each, setting=_by(each.setting, way)) for each in journey.restarts[:1]]
    return journey, random.choice([2, 5, 60_000])


def _by(setting: Setting, way: Way) -> Setting:
    return replace(setting, way=way, train=max(setting.train, 20 if way is Way.SPARK else 1))


def check(seed: int, way: Way, spark: SparkSession) -> None:
    """A node does what the reference does."""
    journey, rows_per_task = drawn(seed, way, spark)
    try:
        with several_tasks(rows_per_task):
            journey.check()
    except Exception as error:
        error.add_note(f"seed {seed}, {journey.setting}")
        raise


def travel(spark: SparkSession, first: int, end: int) -> Done:
    """All networks both ways, with executors lost under some of them."""
    done, random = Done(), Random(first)
    tasks = Tasks(spark, done)
    for number, seed in enumerate(range(first, end)):
        for turn, way in enumerate(Way):
            if number % (KILL_EVERY * len(Way)) == KILL_EVERY * turn:
                tasks.kill(random.randrange(TASKS_BEFORE))
            check(seed, way, spark)
            done.runs += 1
        done.networks += 1
    return done


def main(master: str, first: int, end: int) -> None:
    spark = local_session("australis-journeys", master=master, light=True, options=OPTIONS)
    try:
        done = travel(spark, first, end)
    finally:
        # Behind it nothing more is heard of tasks, and an error is the last that is said.
        spark.stop()
    say(DONE, json.dumps(asdict(done)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
