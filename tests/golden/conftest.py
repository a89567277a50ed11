"""The engines that every golden test runs on."""

from __future__ import annotations

import pytest
from tests.golden.engines import Engine, kernels, reference


@pytest.fixture(params=[reference, kernels], ids=["reference", "kernels"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Starts a network on an engine."""
    started: Engine = request.param
    return started
