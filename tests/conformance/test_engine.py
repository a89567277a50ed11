"""Random networks on a node do what the reference does, however trains are cut, spread and interrupted.

Most runs here have their tasks in this process, so that there can be many: orders, tasks and commits are
the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.conformance.engine_runs import (
    Journey,
    Setting,
    random_restarts,
    random_setting,
    recut,
    several_tasks,
)
from tests.conformance.keyed_networks import TABLE, keyed_network, many_keys, rows_of_table
from tests.conformance.random_networks import random_events, random_network, random_rows

from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.engine.light.runner import LightRunner
from australis.engine.runner import SPARK
from australis.engine.settings import Way

RANDOM = st.randoms(use_true_random=False)
IS_DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
some = settings(max_examples=1000 if IS_DEEP else 12)
few = settings(max_examples=200 if IS_DEEP else 2)
"""For runs with Spark's jobs, of which each takes some seconds."""


def stricter(random: Random, network: Network) -> Network:
    """The network with inputs whose attributes must sometimes not be NULL: others go to the quarantine."""
    inputs = {
        name: replace(given, schema=_stricter(random, given.schema)) for name, given in network.inputs.items()
    }
    return replace(network, inputs=inputs)


def _stricter(random: Random, schema: Schema) -> Schema:
    return Schema(tuple(replace(f, nullable=random.random() < 0.8) for f in schema))


def without_unread(network: Network) -> Network:
    """The network without a stored table that no box reads."""
    read = {source.id for node in network.boxes.values() for source in node.sources}
    inputs = {name: given for name, given in network.inputs.items() if not given.table or name in read}
    return replace(network, inputs=inputs)


def any_journey(random: Random) -> Journey:
    """Boxes of all kinds, stored tables, tuples that do not fit, timeouts, ends, restarts."""
    network = without_unread(random_network(random))
    if random.random() < 0.5:
        network = stricter(random, network)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = recut(random, random_events(random, network))
    setting = random_setting(random)
    return Journey(network, stored, events, setting, random_restarts(random, setting, len(events)))


def keyed_journey(random: Random) -> Journey:
    """Boxes that are spread by a key of many values, and lookups among them."""
    network = without_unread(keyed_network(random))
    stored = rows_of_table(random) if TABLE in network.inputs else []
    events = many_keys(random, recut(random, random_events(random, network, 40)))
    setting = random_setting(random)
    restarts = random_restarts(random, setting, len(events))
    return Journey(network, stored, events, setting, restarts, older=random.random() < 0.3)


@given(RANDOM)
@some
def test_any_network(random: Random) -> None:
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])):
        any_journey(random).check()


@given(RANDOM)
@some
def test_networks_with_a_key(random: Random) -> None:
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])):
        keyed_journey(random).check()


@pytest.mark.parametrize("way", list(Way))
@given(RANDOM)
@few
def test_with_jobs(spark: SparkSession, way: Way, random: Random) -> None:
    journey = random.choice([any_journey, keyed_journey])(random)
    journey.setting, journey.held, journey.runner = _by(journey.setting, way), True, SPARK
    journey.restarts = [replace(each, setting=_by(each.setting, way)) for each in journey.restarts[:1]]
    journey.check()


@pytest.fixture(scope="module")
def light() -> Iterator[LightRunner]:
    with LightRunner(2) as runner:
        yield runner


@given(RANDOM)
@settings(max_examples=400 if IS_DEEP else 6)
def test_in_light_processes(light: LightRunner, random: Random) -> None:
    journey = random.choice([any_journey, keyed_journey])(random)
    journey.runner = light
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])):
        journey.check()


def _by(setting: Setting, way: Way) -> Setting:
    return replace(setting, way=way, train=max(setting.train, 20))


@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("discipline", ["train", "superbox"])
def test_tasks_of_one_train(spark: SparkSession, way: Way, discipline: str) -> None:
    """The same trains over several tasks."""
    random = Random(5)
    journey = keyed_journey(random)
    journey.setting, journey.restarts, journey.runner = Setting(discipline, 3, way=way), [], SPARK
    with several_tasks(rows_per_task=3):
        journey.check()
