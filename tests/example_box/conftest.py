"""Changes is registered while these tests run: the lines that a box of the product has in three tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.example_box.kernel import ChangesKernel
from tests.example_box.meaning import ChangesMachine
from tests.example_box.value import Changes

from australis.algebra.boxes import BOXES
from australis.kernels.make import KERNELS
from australis.reference.machines import MACHINES


@pytest.fixture(scope="module", autouse=True)
def _registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BOXES, Changes.kind, Changes)
        patch.setitem(MACHINES, Changes, ChangesMachine)
        patch.setitem(KERNELS, Changes, ChangesKernel)
        yield
