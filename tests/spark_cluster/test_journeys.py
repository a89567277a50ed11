"""The random networks of the conformance suite, on a standalone cluster that loses executors.

`AUSTRALIS_CLUSTER_SEEDS=0:400` runs more of them, `17:18` that of one seed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.spark_cluster.handling import child
from tests.spark_cluster.journeys import DONE, KILL
from tests.spark_cluster.standalone import Cluster

from australis.engine.settings import Way

FIRST, END = map(int, os.environ.get("AUSTRALIS_CLUSTER_SEEDS", "0:32").split(":"))


@pytest.mark.timeout(600 + 60 * (END - FIRST))
def test_random_networks_as_the_reference(cluster: Cluster, tmp_path: Path) -> None:
    kills, done = 0, {}
    with child("tests.spark_cluster.journeys", tmp_path, cluster.url, str(FIRST), str(END)) as lines:
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == KILL:
                cluster.kill_executor(rest)
                kills += 1
            elif word == DONE:
                done = json.loads(rest)
    assert done["runs"] == len(Way) * (END - FIRST)
    assert done["kills"] == kills > 0
    assert done["lost"] > 0, "no executor had a task when it was killed"
