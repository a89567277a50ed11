"""Structured Streaming's side of `topics`: micro-batches, or the real-time mode, until its input ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from australis.engine.spark import local_session

SCHEMA = "id long, key long, value double"
CHECKPOINTS = "5 seconds"
"""How often the real-time mode writes checkpoints: the least that it allows by default."""


def main(job: dict[str, Any]) -> None:
    """Run a query from topic to topic."""
    jars = ",".join(str(path) for path in Path(job["jars"]).glob("*.jar"))
    spark = local_session("topics", options={"spark.jars": jars})
    # The query is stopped in the middle of a batch, and logs that at length.
    spark.sparkContext.setLogLevel("OFF")
    broker = {"kafka.bootstrap.servers": job["servers"]}
    messages = spark.readStream.format("kafka").options(
        **broker, subscribe="messages", startingOffsets="earliest"
    )
    values = (
        messages.load().select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("it")).select("it.*")
    )
    results = values.filter("value > 50").selectExpr(
        "to_json(struct(id, key, value * 2 + 1 AS value)) AS value"
    )
    writer = results.writeStream.format("kafka").options(**broker, topic="results").outputMode("update")
    writer = writer.option("checkpointLocation", str(Path(job["folder"]) / "checkpoint"))
    writer = writer.trigger(realTime=CHECKPOINTS) if job["side"] == "real_time" else writer
    query = writer.start()
    sys.stdin.read()
    query.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
