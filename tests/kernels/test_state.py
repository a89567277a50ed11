"""A state survives as bytes, and damaged bytes are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.kernels.streams import Running, batch, rows

from australis.algebra.boxes import Aggregate
from australis.algebra.order import Order
from australis.algebra.schema import parse_schema
from australis.errors import KernelError
from australis.kernels.state import pack, unpack

SCHEMA = parse_schema("a long, s string")
BOX = Aggregate({"m": "median(a)", "top": "max(s)"}, Order("a", slack=1), 10, timeout="1 s")


def test_a_kernel_continues_from_the_bytes_of_its_state() -> None:
    running = Running(BOX, SCHEMA)
    running.step(batch(SCHEMA, (1, "b"), (4, "a"), (7, None)))
    data = pack(running.state)
    assert unpack(data) == running.state
    running.state = unpack(data)
    assert rows(running.flush().outputs[0]) == [(1, 4.0, "b")]


def test_an_empty_state_survives() -> None:
    start = Running(BOX, SCHEMA).state
    assert unpack(pack(start)) == start
    assert unpack(pack({})) == {}


def test_every_damaged_byte_is_refused_or_harmless() -> None:
    running = Running(BOX, SCHEMA)
    running.step(batch(SCHEMA, (1, "b"), (4, "a")))
    data = pack(running.state)
    refused = 0
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        try:
            assert unpack(bytes(damaged)) == running.state
        except KernelError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("data", [b"", b"ARROW1", b"no state at all"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(KernelError, match="state"):
        unpack(data)


def test_a_cut_off_file_is_refused() -> None:
    data = pack({"seen": pa.table({"n": [1]})})
    with pytest.raises(KernelError, match="damaged"):
        unpack(data[:-20])


def test_another_arrow_file_is_refused() -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"x": [1]})
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(KernelError, match="has the columns"):
        unpack(sink.getvalue().to_pybytes())
