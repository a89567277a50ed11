"""Number: serial numbers by group, whatever the cuts; its state is partitioned by group."""

from __future__ import annotations

import pyarrow as pa
import pytest

from australis.algebra.boxes import Number
from australis.algebra.schema import TS, parse_schema
from australis.errors import AlgebraError, KernelError
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition
from australis.kernels.state import pack, unpack

SCHEMA = parse_schema("user string, x double")


def batch(*rows: tuple[str | None, float | None]) -> pa.Table:
    columns = [pa.array([row[0] for row in rows]), pa.array([row[1] for row in rows], pa.float64())]
    return pa.Table.from_arrays(
        [*columns, pa.array([0] * len(rows), pa.timestamp("us", tz="UTC"))], schema=SCHEMA.arrow_with_ts
    )


def test_numbers_continue_from_batch_to_batch() -> None:
    kernel = kernel_for(Number("n", ("user",), start=10), (SCHEMA,))
    first = kernel.step(kernel.start(), 0, batch(("a", 1.0), ("b", 1.0), ("a", 2.0), (None, 3.0)), 0)
    second = kernel.step(unpack(pack(first.state)), 0, batch((None, 1.0), ("a", 1.0), ("c", 0.0)), 1)
    assert first.outputs[0]["n"].to_pylist() == [10, 10, 11, 10]
    assert second.outputs[0]["n"].to_pylist() == [11, 12, 10]
    assert second.outputs[0].column_names == ["user", "x", "n", TS, "#cause"]


def test_without_groups_all_tuples_are_one() -> None:
    kernel = kernel_for(Number("n"), (SCHEMA,))
    first = kernel.step(kernel.start(), 0, batch(("a", 1.0), ("b", 1.0)), 0)
    second = kernel.step(first.state, 0, batch(("a", 1.0)), 0)
    assert (first.outputs[0]["n"].to_pylist(), second.outputs[0]["n"].to_pylist()) == ([0, 1], [2])
    with pytest.raises(KernelError):
        repartition(kernel, [first.state], [["user"]], 2)


def test_a_state_continues_in_other_partitions() -> None:
    kernel = kernel_for(Number("n", ("user",)), (SCHEMA,))
    users = [(f"u{i}", 0.0) for i in range(20)]
    state = kernel.step(kernel.start(), 0, batch(*users, *users), 0).state
    parts = repartition(kernel, [state], [["user"]], 3)
    assert sum(part["groups"].num_rows for part in parts) == 20
    [whole] = repartition(kernel, parts, [["user"]], 1)
    assert kernel.step(whole, 0, batch(*users), 0).outputs[0]["n"].to_pylist() == [2] * 20


@pytest.mark.parametrize(
    ("box", "path"),
    [
        (lambda: Number("1st"), "attribute"),
        (lambda: Number("n", ("user", "user")), "group_by"),
        (lambda: Number("n", start=2**63), "start"),
        (lambda: Number("x").output_schemas(SCHEMA), "attribute"),
        (lambda: Number("n", ("who",)).output_schemas(SCHEMA), "group_by[0]"),
    ],
)
def test_bad_parameters_are_refused(box: object, path: str) -> None:
    with pytest.raises(AlgebraError) as raised:
        box()  # type: ignore[operator]
    assert raised.value.problems[0].path.startswith(path)
