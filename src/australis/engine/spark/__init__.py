"""Trains on Spark: the session, the jobs, and boxes as Spark columns.

In: waybills. Out: manifests. Only this package imports pyspark.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.spark.frames import frame_of
    from australis.engine.spark.java import find_java
    from australis.engine.spark.jobs import on_spark
    from australis.engine.spark.leading import led
    from australis.engine.spark.runner import on_session, start
    from australis.engine.spark.session import is_running, local_session
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "frames": ("frame_of",),
            "java": ("find_java",),
            "jobs": ("on_spark",),
            "leading": ("led",),
            "runner": (
                "on_session",
                "start",
            ),
            "session": (
                "is_running",
                "local_session",
            ),
        },
    )

__all__ = [
    "find_java",
    "frame_of",
    "is_running",
    "led",
    "local_session",
    "on_session",
    "on_spark",
    "start",
]
