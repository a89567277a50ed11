"""Which way trains run on a node's Spark application, and how all of them are given up."""

from __future__ import annotations

import uuid
from contextlib import suppress

from pyspark.sql import SparkSession

from australis.engine.settings import Way
from australis.engine.spark.fused import FusedRunner, Runner
from australis.engine.spark.session import GONE
from australis.engine.spark.sql_runner import SparkRunner
from australis.engine.store.root import Root
from australis.plan.superboxes import Plan


class Runners:
    """Makes the runner of each plan; their jobs are one group, so that they can be told from others."""

    def __init__(self, spark: SparkSession, root: Root, way: Way) -> None:
        self._spark, self._root, self._way = spark, root, way
        self._group = f"australis-{uuid.uuid4().hex}"
        self._fused = FusedRunner(spark, self._group)

    def of(self, plan: Plan) -> Runner:
        """The runner of a plan; the fused one serves every plan, and Spark keeps the one job that it runs."""
        if self._way is Way.SPARK:
            return SparkRunner(self._spark, self._group, self._root, plan)
        return self._fused

    def abandon(self) -> None:
        """Give up the trains on their way."""
        with suppress(*GONE):
            self._spark.sparkContext.cancelJobGroup(self._group)
