"""The suite starts five JVMs: it is collected only where it is named (`make test-crash`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark_cluster.standalone import Cluster


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    here = Path(__file__).parent
    named = any(Path(str(arg).partition("::")[0]).resolve().is_relative_to(here) for arg in config.args)
    return True if collection_path.is_relative_to(here) and not named else None


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers, for all tests here; every child is an application of its own."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
