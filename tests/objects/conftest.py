"""The suite needs an S3 server, which Go builds: it is collected only where named (`make test-objects`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.objects.server import S3Server


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    here = Path(__file__).parent
    named = any(Path(str(arg).partition("::")[0]).resolve().is_relative_to(here) for arg in config.args)
    return True if collection_path.is_relative_to(here) and not named else None


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server for all tests here; each takes a root of its own."""
    with S3Server(tmp_path_factory.mktemp("s3")) as running:
        yield running
