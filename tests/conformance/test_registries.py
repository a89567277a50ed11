"""Every box has all that it needs: a reference, a kernel, and a place among the random networks."""

from __future__ import annotations

from random import Random

import pytest
from tests.conformance.answers import drawn
from tests.conformance.random_networks import MAKERS

from australis.algebra.boxes import BOXES, Box
from australis.algebra.boxes.box import Composed
from australis.errors import KernelError
from australis.kernels.make import KERNELS, kernel_for
from australis.reference.machines import MACHINES, machine_of

CORE = {box for box in BOXES.values() if not issubclass(box, Composed)}


def test_every_core_box_has_a_machine_and_a_kernel() -> None:
    assert set(MACHINES) == CORE
    assert set(KERNELS) == CORE


def test_every_box_is_drawn() -> None:
    cases = [drawn(Random(seed), maker) for maker in MAKERS for seed in range(20)]
    assert {type(case.box) for case in cases if case is not None} == set(BOXES.values())


def test_a_box_without_an_entry_is_named() -> None:
    box: Box = type("Told", (Box,), {**dict.fromkeys(Box.__abstractmethods__), "kind": "told"})()
    with pytest.raises(KernelError, match="no machine runs a told; expected an entry in MACHINES"):
        machine_of(box, ())
    with pytest.raises(KernelError, match="no kernel runs a told; expected an entry in KERNELS"):
        kernel_for(box, ())
