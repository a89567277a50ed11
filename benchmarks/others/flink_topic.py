"""Flink's side of `topics`, in its own environment: SQL from topic to topic, until its input ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.others.flink_side import SETTINGS
from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

# Records leave a task after at most so long, even if their buffer is not full.
SOON = {"execution.buffer-timeout.interval": "1 ms"}
TABLE = """
    CREATE TEMPORARY TABLE {topic} (`id` BIGINT, `key` BIGINT, `value` DOUBLE) WITH (
        'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
        'format' = 'json', {options}
    )
"""
SOURCE = "'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = 'flink'"
SINK = "'sink.delivery-guarantee' = 'at-least-once'"
QUERY = "INSERT INTO results SELECT `id`, `key`, `value` * 2 + 1 FROM messages WHERE `value` > 50"


def main(job: dict[str, Any]) -> None:
    """Run a job from topic to topic."""
    folder = Path(job["folder"])
    settings = {
        **SETTINGS,
        **SOON,
        "pipeline.jars": ";".join(path.as_uri() for path in Path(job["jars"]).glob("*.jar")),
        "execution.checkpointing.dir": (folder / "checkpoints").as_uri(),
    }
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    made = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration)
    tables = TableEnvironment.create(made.build())
    for topic, options in (("messages", SOURCE), ("results", SINK)):
        tables.execute_sql(TABLE.format(topic=topic, servers=job["servers"], options=options))
    client = tables.execute_sql(QUERY).get_job_client()
    sys.stdin.read()
    client.cancel().result()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
