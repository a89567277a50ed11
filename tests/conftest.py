"""What all tests share: the depth of property tests, one Spark session, the data sets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from tests.lock_rules import enforced

from australis.engine.spark.session import local_session

# The default is for every change: few examples, the same in each run: a build goes red for its change.
# `deep` searches at random and long: HYPOTHESIS_PROFILE=deep, or `make test-conformance-deep`.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _COMMON, max_examples=30, derandomize=True)
settings.register_profile("deep", _COMMON, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


LONG = (
    "app/test_deploy.py",
    "app/papers/test_route.py",
    "app/test_history.py",
    "app/papers/test_hotspot.py",
    "app/papers/test_trade.py",
    "app/test_query.py",
    "app/test_interrupted.py",
    "engine/history/test_crashes.py",
    "engine/history/test_others.py",
    "engine/sinks/test_crashes.py",
    "engine/sinks/test_node.py",
    "engine/tables/test_changes.py",
    "engine/tables/test_lookup.py",
    "engine/tables/test_nodes.py",
    "engine/tables/test_page.py",
    "engine/tables/test_pushed.py",
    "sim/route/test_experiments.py",
    "sim/route/test_queries.py",
    "sim/hotspot/",
    "sim/trade/",
    "sim/recover/",
)
"""What takes minutes by itself: whole processes that are killed, servers, many worlds. `make test-long`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by what is used, so that no test can forget to: `-m 'not spark'` then starts no JVM."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and str(item.path.relative_to(here)).startswith(LONG):
            item.add_marker("long")
        fixtures = getattr(item, "fixturenames", ())
        if "spark" in fixtures:
            item.add_marker("spark")
        if "data_dir" in fixtures:
            item.add_marker("data")


@pytest.fixture(scope="session", autouse=True)
def lock_rules() -> Iterator[list[str]]:
    """Refuse whatever takes long while the lock of a ledger is held; gives where that happened."""
    with enforced() as broken:
        yield broken


@pytest.fixture(autouse=True)
def _no_lock_rule_is_broken(lock_rules: list[str]) -> Iterator[None]:
    """Tell of it also where the error was caught, or raised in another thread."""
    yield
    told = "\n".join(lock_rules)
    lock_rules.clear()
    assert not told, f"the lock of a ledger was held:\n{told}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for the whole run, started by the first test that asks."""
    session = local_session("australis-tests")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of the data sets, named by $AUSTRALIS_DATA; tests that need it are skipped without it."""
    named = os.environ.get("AUSTRALIS_DATA")
    if not named:
        pytest.skip("AUSTRALIS_DATA is not set: no data sets to read")
    if not Path(named).is_dir():
        pytest.skip(f"AUSTRALIS_DATA names {named}, which is not a directory")
    return Path(named)
