"""The engines that every golden test runs on."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from tests.golden.engines import Engine, reference


@pytest.fixture(params=["reference", "kernels"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Starts a network on an engine."""
    if request.param == "reference":
        return reference
    if find_spec("australis.kernels.pipeline") is None:
        pytest.skip("the kernels cannot run a whole network yet")
    raise NotImplementedError
