"""What all tests share: the depth of property tests, one Spark session, the data sets."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine, providers
from pyspark.sql import SparkSession
from tests.lock_rules import enforced

import australis
from australis.engine.spark.session import local_session

# Every run draws new examples, and the seed that it names draws the same ones again. `deep` searches far
# longer: HYPOTHESIS_PROFILE=deep, or `make test-conformance-deep`. Every setting that Hypothesis changes by
# itself in CI has its value here. There is no database: its examples would come before those of the seed.
_COMMON = settings(
    deadline=None,
    derandomize=False,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("default", _COMMON, max_examples=20)
settings.register_profile("deep", _COMMON, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Hypothesis also draws constants that it finds in the modules loaded so far. The examples of a seed would
# then depend on the tests that ran before, and on the folder of the code.
providers.is_local_module_file = lambda path: False

# Hypothesis makes a failing example smaller for up to five minutes. The time limit of a test would end
# that, and the failure would be lost.
engine.MAX_SHRINKING_SECONDS = 40

# Tests compare what a terminal of no special kind would show, in this process and in those that they start.
for _name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)

SEED = "AUSTRALIS_SEED"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of all property tests, unless one is given. Worker processes inherit it."""
    if config.option.hypothesis_seed is None:
        os.environ[SEED] = os.environ.get(SEED) or str(random.randrange(2**32))
        config.option.hypothesis_seed = os.environ[SEED]
    if not hasattr(config, "workerinput"):
        _drop_outdated_loops()


def _drop_outdated_loops() -> None:
    """Have compiled loops compiled again that may call one that has changed, which numba does not notice."""
    for folder in Path(australis.__path__[0]).rglob("__pycache__"):
        changed = max((path.stat().st_mtime for path in folder.parent.glob("*.py")), default=0)
        for index in folder.glob("*.nbi"):
            if index.stat().st_mtime < changed:
                index.unlink()


def pytest_report_header(config: pytest.Config) -> str:
    """Name the seed, and the way to use it again."""
    seed = config.option.hypothesis_seed
    return f"seed of property tests: {seed} (to repeat: {SEED}={seed} make test ARGS=...)"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the seed again where a test failed, since that is where people look."""
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(pytest_report_header(config))


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
    "engine/sinks/test_readers.py",
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
    """Refuse slow work while the lock of a ledger is held; returns where that happened."""
    with enforced() as broken:
        yield broken


@pytest.fixture(autouse=True)
def _no_lock_rule_is_broken(lock_rules: list[str]) -> Iterator[None]:
    """Report it even if the error was caught, or raised in another thread."""
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
