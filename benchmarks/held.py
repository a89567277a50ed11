"""A function that takes a fixed time of the clock per tuple, whatever else the machine does."""

from __future__ import annotations

import time

import pyarrow as pa

from australis import register_function

NAME = "benchmarks.held:held"


def held(us: pa.Array, value: pa.Array) -> pa.Array:
    """True for every tuple, after as many microseconds for each as the first argument says."""
    if len(value):
        time.sleep(len(value) * us[0].as_py() / 1e6)
    return pa.array([True]).take(pa.array([0] * len(value), pa.int64()))


register_function(NAME, held, takes=("long", "long"), returns="boolean")
