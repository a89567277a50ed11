"""The Spark session that trains run in."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from australis.engine.spark.cluster import check_master
from australis.engine.spark.java import find_java

GONE = (Py4JNetworkError, OSError)
"""What a call raises when Spark's JVM has ended."""
LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

# What trains need of a session, and why; it can be set at any time.
SESSION_OPTIONS: Mapping[str, str] = {
    # A train is one small job: there is nothing to re-plan half way.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # The reference defines what an expression means: overflow wraps, a bad cast is NULL, no error stops a
    # train.
    "spark.sql.ansi.enabled": "false",
}
# What trains need of the whole application, which can only be set when it starts.
TRAIN_OPTIONS: Mapping[str, str] = {
    **SESSION_OPTIONS,
    # Nobody watches a train but our own monitor.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Over TCP every Python task meets a 40 ms delayed-ACK stall.
    "spark.python.unix.domain.socket.enabled": "true",
    # Trains of several superboxes share the cores, whatever their lengths.
    "spark.scheduler.mode": "FAIR",
    # Workers are forked from a process that has the compiled kernels in memory.
    "spark.python.daemon.module": "australis.engine.spark.daemon",
}
# A deep stack, since expressions and the JVM's regular expressions recurse.
JAVA_OPTIONS = "-Xss8m"
# If no tuples go through the JVM, it only starts tasks: optimising that code costs more than it saves.
LIGHT_JAVA_OPTIONS = f"{JAVA_OPTIONS} -XX:TieredStopAtLevel=1"
# The executors of a cluster are elsewhere, and must find the driver by the address that Spark finds.
LOCAL_OPTIONS: Mapping[str, str] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def local_session(
    app_name: str = "australis",
    *,
    master: str = "local[2]",
    time_zone: str = "UTC",
    light: bool = False,
    options: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark on this machine, or return the session that already runs in this process.

    A `light` one is for trains whose tuples do not go through the JVM. The workers of a cluster need
    Australis in the Python that `PYSPARK_PYTHON` names. `options` are Spark's own and override ours.
    """
    check_master(master)
    java = LIGHT_JAVA_OPTIONS if light else JAVA_OPTIONS
    local = master.startswith("local")
    _prepare_environment(local)
    builder = SparkSession.Builder().appName(app_name).master(master)
    settings = {
        **TRAIN_OPTIONS,
        **(LOCAL_OPTIONS if local else {}),
        "spark.driver.extraJavaOptions": f'{java} "-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}"',
        "spark.executor.extraJavaOptions": java,
        "spark.sql.session.timeZone": time_zone,
        **(options or {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def is_running() -> bool:
    """Whether this process has a Spark session already."""
    return SparkContext._active_spark_context is not None


def _prepare_environment(local: bool) -> None:
    """Set the environment variables from which Spark takes its Java and its workers' Python."""
    os.environ["JAVA_HOME"] = str(find_java())
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        # Keeps Spark from looking up the host's name, and from warning about what it finds.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
