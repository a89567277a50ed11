"""Streaming queries, in processes of their own that are killed."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from australis.engine.spark.session import local_session


def write(spark: SparkSession, url: str, folder: str, checkpoint: str) -> None:
    """Push files into an input, one in a micro-batch; a shuffle makes the partitions of a repeat differ."""
    rows = spark.readStream.schema("sid int, time long, pos int").option("maxFilesPerTrigger", 1).json(folder)
    query = rows.repartition(2).writeStream.format("australis").option("url", url).option("input", "pos")
    query.option("checkpointLocation", checkpoint).start().awaitTermination()


def read(spark: SparkSession, url: str, folder: str, checkpoint: str) -> None:
    """Write what an output has into Parquet files, whose sink is exactly once."""
    rows = spark.readStream.format("australis").option("url", url).option("output", "far")
    rows = rows.option("consumer", "reader").option("maxTuplesPerTrigger", 60)
    query = rows.load().select("time").writeStream.format("parquet").option("path", folder)
    query.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](local_session(f"test-{sys.argv[1]}"), *sys.argv[2:])
