"""What the tests of this folder share: samples that the seed of the run repeats."""

from __future__ import annotations

import pytest
from tests.conformance.agreement import SEEDS


@pytest.fixture(autouse=True)
def seeded_samples(request: pytest.FixtureRequest) -> None:
    """Let a test draw the same samples alone and after others."""
    SEEDS.seed(request.config.option.hypothesis_seed)
