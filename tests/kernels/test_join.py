"""Join over batches, against results worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.running import Run

from australis.algebra.boxes import Join
from australis.algebra.order import Order
from australis.algebra.quarantine_text import order_reason
from australis.kernels.arrays import GroupCodes
from australis.kernels.boxes.two_inputs.table_join import INDEX
from australis.kernels.pairing import keys, pairs

LEFT, RIGHT = "t long, k string, x int", "t long, k string, y int"


def band(predicate: str = "left.k = right.k", size: Any = 2, **orders: Order) -> Join:
    return Join(predicate, size, orders.get("left", Order("t")), orders.get("right", Order("t")))


def test_pairs_leave_by_the_arriving_tuple_then_by_order_then_by_arrival() -> None:
    run = Run(band(size=10, left=Order("t", slack=3)), LEFT, RIGHT)
    assert run.push(0, (5, "a", 1), (3, "a", 2), (5, "a", 3), (4, "b", 4)) == []
    assert run.push(1, (4, "a", 10), (6, "b", 20)) == [
        (3, "a", 2, 4, "a", 10),
        (5, "a", 1, 4, "a", 10),
        (5, "a", 3, 4, "a", 10),
        (4, "b", 4, 6, "b", 20),
    ]
    assert run.causes == [0, 0, 0, 1]
    assert run.ts == [2, 1, 3, 4]


def test_the_left_tuple_comes_first_whichever_arrives() -> None:
    run = Run(band(), LEFT, RIGHT)
    run.push(1, (1, "a", 10))
    assert run.push(0, (2, "a", 1)) == [(2, "a", 1, 1, "a", 10)]
    assert run.ts == [1]


def test_the_band_includes_its_edges() -> None:
    run = Run(band("true", size=2), LEFT, RIGHT)
    run.push(0, (1, "a", 1))
    assert [row[5] for row in run.push(1, (0, "b", 0), (2, "b", 2), (3, "b", 3), (4, "b", 4))] == [0, 2, 3]


def test_with_size_zero_partners_are_at_the_same_place() -> None:
    run = Run(band("true", size=0), LEFT, RIGHT)
    run.push(0, (1, "a", 1), (2, "a", 2), (2, "a", 3))
    assert [(row[2], row[5]) for row in run.push(1, (2, "b", 9), (3, "b", 8))] == [(2, 9), (3, 9)]
    assert run.kept("left") == 0


def test_null_equals_nothing_and_is_not_kept() -> None:
    run = Run(band(), LEFT, RIGHT)
    run.push(0, (1, None, 1), (1, "a", 2))
    assert run.kept("left") == 1
    assert run.push(1, (1, None, 10), (1, "a", 20)) == [(1, "a", 2, 1, "a", 20)]
    assert run.kept("right") == 1


def test_keys_are_equal_as_in_sql() -> None:
    schema = "t long, k double"
    run = Run(band(), schema, schema)
    run.push(0, (1, math.nan), (1, 0.0), (1, 1.5))
    found = run.push(1, (1, -0.0), (1, math.nan), (1, 2.5))
    assert [str(row) for row in found] == ["(1, 0.0, 1, -0.0)", "(1, nan, 1, nan)"]


def test_keys_of_several_attributes_with_other_names() -> None:
    box = Join("left.a = right.c and right.d = left.b", 5, Order("t"), Order("t"))
    run = Run(box, "t long, a int, b string", "t long, c int, d string")
    run.push(0, (1, 1, "x"), (1, 1, "y"), (1, 2, "x"))
    assert run.push(1, (1, 1, "y"), (1, 2, "y")) == [(1, 1, "y", 1, 1, "y")]


def test_the_rest_of_the_predicate_is_asked_about_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "CANDIDATES_MOST", 2)
    run = Run(band("left.k = right.k and left.x < right.y"), LEFT, RIGHT)
    run.push(0, (1, "a", 1), (1, "a", 5), (1, "a", 2), (1, "b", 0), (1, "a", None))
    found = run.push(1, (1, "a", 3), (1, "a", 6))
    assert [(row[2], row[5]) for row in found] == [(1, 3), (2, 3), (1, 6), (5, 6), (2, 6)]
    assert run.causes == [0, 0, 1, 1, 1]


def test_late_tuples_are_ignored_by_their_own_stream_alone() -> None:
    run = Run(band("true", size=10, left=Order("t", slack=1)), LEFT, RIGHT)
    run.push(1, (5, "b", 0))
    found = run.push(0, (5, "a", 1), (7, "a", 2), (4, "a", 3), (5, "a", 4))
    assert [row[2] for row in found] == [1, 2, 4]
    assert run.causes == [0, 1, 3]
    assert run.late == 1


def test_tuples_without_a_place_are_rejected() -> None:
    run = Run(band("true"), LEFT, RIGHT)
    run.push(0, (None, "a", 1), (1, "a", 2), (2**62, "a", 3))
    assert run.reasons == [order_reason("t", None), order_reason("t", 2**62)]
    assert [row[2] for row in run.push(1, (1, "a", 9))] == [2]


def test_a_tuple_is_forgotten_when_the_other_side_has_passed_it() -> None:
    run = Run(band(size=2, right=Order("t", slack=1)), LEFT, RIGHT)
    run.push(0, (1, "a", 1), (2, "b", 2), (5, "a", 3))
    run.push(1, (9, "a", 1))
    assert run.kept("left") == 3, "one tuple is not enough to pass anything with slack 1"
    run.push(1, (4, "a", 2))
    assert run.kept("left") == 2, "4 is passed: 4 - 1 > 2"
    run.push(1, (9, "a", 3))
    assert run.kept("left") == 0


def test_an_arriving_tuple_that_is_out_of_reach_is_not_kept() -> None:
    run = Run(band(size=2), LEFT, RIGHT)
    run.push(1, (9, "a", 1))
    run.push(0, (1, "a", 1), (7, "b", 2))
    assert run.kept("left") == 1


def test_with_groups_the_group_of_the_same_key_decides() -> None:
    order = Order("t", group_by=("k",))
    run = Run(band(size=2, right=order), LEFT, RIGHT)
    run.push(0, (1, "a", 1), (1, "b", 2))
    run.push(1, (9, "b", 1))
    assert run.kept("left") == 1
    assert run.push(1, (3, "a", 2)) == [(1, "a", 1, 3, "a", 2)]


def test_a_group_that_is_not_equated_lets_nothing_be_forgotten() -> None:
    run = Run(band(size=2, right=Order("t", group_by=("y",))), LEFT, RIGHT)
    run.push(0, (1, "a", 1))
    run.push(1, (900, "a", 1))
    assert run.kept("left") == 1
    assert run.push(1, (1, "a", 2)) == [(1, "a", 1, 1, "a", 2)]


def test_doubles_are_matched_and_forgotten_by_the_same_difference() -> None:
    """1e-17 - -3.0 is 3.0 in doubles, so the two are a pair, although -3.0 + 3.0 < 1e-17."""
    schema = "t double"
    run = Run(band("true", size=3.0), schema, schema)
    run.push(0, (-3.0,))
    run.push(1, (1e-17,))
    assert run.kept("left") == 1
    assert run.push(1, (1e-17,)) == [(-3.0, 1e-17)]


def test_what_is_kept_is_bounded_by_the_band() -> None:
    run = Run(band(size=3), LEFT, RIGHT)
    for start in range(0, 2000, 50):
        times = range(start, start + 50)
        run.push(0, *((time, str(time % 7), time) for time in times))
        run.push(1, *((time, str(time % 7), time) for time in times))
        assert run.kept("left") <= 4
        assert run.kept("right") <= 4


def test_keys_out_of_use_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "SPARE_KEYS", 8)
    run = Run(band(size=1), LEFT, RIGHT)
    for time in range(0, 200, 2):
        run.push(0, (time, f"key {time}", time))
        assert run.push(1, (time, f"key {time}", -time)) == [
            (time, f"key {time}", time, time, f"key {time}", -time)
        ]
        assert run.kept("keys") <= 8 + 4


def test_orders_of_int_and_long_meet() -> None:
    run = Run(Join("true", 1, Order("a"), Order("b")), "a int", "b long")
    run.push(0, (1,), (2,))
    assert run.push(1, (3,)) == [(2, 3)]


class TestTable:
    """Join with a stored table."""

    BOX = Join("left.k = right.k", None, Order("t"), None)
    TABLE = "k string, y int"

    def test_partners_come_in_the_order_of_the_table(self) -> None:
        run = Run(self.BOX, LEFT, self.TABLE)
        run.push(1, ("a", 3), ("b", 1), (None, 2))
        run.push(1, ("a", 2))
        assert run.push(0, (1, "a", 7), (2, None, 8), (3, "c", 9), (4, "b", 6)) == [
            (1, "a", 7, "a", 3),
            (1, "a", 7, "a", 2),
            (4, "b", 6, "b", 1),
        ]
        assert run.causes == [0, 0, 3]
        assert run.ts == [5, 5, 8], "the table's rows have no ts"

    def test_the_stream_is_not_kept_and_its_order_decides_only_lateness(self) -> None:
        run = Run(self.BOX, LEFT, self.TABLE)
        run.push(1, ("a", 3))
        assert len(run.push(0, (5, "a", 1), (4, "a", 2), (900, "a", 3))) == 2
        assert run.late == 1
        assert run.kept("right") == 1
        assert "left" not in run.state

    def test_without_keys_every_row_is_a_candidate(self) -> None:
        run = Run(Join("left.x < right.y", None, Order("t"), None), LEFT, self.TABLE)
        run.push(1, ("a", 3), ("b", 1), ("c", 2))
        assert [row[4] for row in run.push(0, (1, "z", 1), (2, "z", 2))] == [3, 2, 3]

    def test_the_table_may_be_on_the_left(self) -> None:
        run = Run(Join("left.k = right.k", None, None, Order("t")), self.TABLE, RIGHT)
        run.push(0, ("a", 3))
        assert run.push(1, (1, "a", 7)) == [("a", 3, 1, "a", 7)]
        assert run.ts == [2]

    def test_a_small_batch_looks_at_few_keys_of_a_large_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run, seen = Run(self.BOX, LEFT, self.TABLE), []
        run.push(1, *((f"k{number}", number) for number in range(1_000)))
        encode = keys.encode

        def watched(known: pa.Table, count: int, batch: pa.Table) -> GroupCodes:
            seen.append(known.num_rows)
            return encode(known, count, batch)

        monkeypatch.setattr(keys, "encode", watched)
        assert run.push(0, (1, "k7", 1), (1, None, 2), (1, "x", 3), (1, "k999", 4), (1, "k7", 5)) == [
            (1, "k7", 1, "k7", 7),
            (1, "k999", 4, "k999", 999),
            (1, "k7", 5, "k7", 7),
        ]
        assert seen == [2]

    def test_keys_of_one_hash_are_told_apart(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(keys, "spark_hash", lambda columns: np.zeros(len(columns[0]), np.int32))
        run = Run(self.BOX, LEFT, self.TABLE)
        run.push(1, *((f"k{number}", number) for number in range(100)))
        assert [row[-1] for row in run.push(0, (1, "k7", 1), (1, "x", 2), (1, "k42", 3))] == [7, 42]

    def test_a_state_without_an_index_gets_one(self) -> None:
        run = Run(self.BOX, LEFT, self.TABLE)
        run.push(1, ("a", 3), ("b", 4))
        older = {name: table for name, table in run.state.items() if name != INDEX}
        assert run.kernel.completed(older) == run.state
        own = {name: table for name, table in older.items() if name not in run.kernel.shared_tables}
        assert run.kernel.completed(own) == own

    def test_an_empty_table_has_no_partners(self) -> None:
        run = Run(self.BOX, LEFT, self.TABLE)
        assert run.push(0, (1, "a", 1)) == []
