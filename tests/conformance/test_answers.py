"""What every box declares about itself is true: what it rejects, reads, passes on and keeps apart."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.answers import check_answers
from tests.conformance.random_networks import (
    MAKERS,
    Draft,
    Made,
    make_aggregate,
    make_bsort,
    make_drop,
    make_filter,
    make_join,
    make_map,
    make_resample,
    make_table_join,
    make_tumble,
    make_union,
    make_wsort,
)

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Tumble,
    Union,
    WSort,
)
from australis.errors import AustralisError

Maker = Callable[[Draft], Made]
SEED = st.integers(0, 2**32)
SEEDS_TRIED = 100


@pytest.mark.parametrize("maker", dict.fromkeys(MAKERS), ids=lambda maker: maker.__name__)
@given(seed=SEED)
def test_a_box_does_what_it_says(maker: Maker, seed: int) -> None:
    check_answers(Random(seed), maker)


def never(*_: Any) -> bool:
    return False


def only_wanted(*schemas: Any, wanted: list[frozenset[str]]) -> tuple[frozenset[str], ...]:
    return tuple(wanted[0] for _ in schemas[1:])


def by_name(box: Any, *schemas: Any) -> tuple[dict[str, str], ...]:
    output = box.output_schemas(*schemas)[0]
    return tuple({name: name for name in schema.names if name in output} for schema in schemas)


def grouped_by(box: Any, port: int) -> tuple[str, ...]:
    return tuple(box.group_by)


LIES: list[tuple[type[Box], str, Any, Maker]] = [
    (BSort, "rejects", never, make_bsort),
    (WSort, "rejects", never, make_wsort),
    (Aggregate, "rejects", never, make_aggregate),
    (Join, "rejects", never, make_join),
    (Resample, "rejects", never, make_resample),
    (WSort, "timeout_us", None, make_wsort),
    (Aggregate, "timeout_us", None, make_aggregate),
    (Tumble, "timeout_us", None, make_tumble),
    (BSort, "ordered", False, make_bsort),
    (Aggregate, "ordered", False, make_aggregate),
    (Join, "ordered", False, make_join),
    (Drop, "ordered", False, make_drop),
    (Filter, "reads", only_wanted, make_filter),
    (Map, "reads", only_wanted, make_map),
    (Union, "reads", only_wanted, make_union),
    (BSort, "reads", only_wanted, make_bsort),
    (Aggregate, "reads", only_wanted, make_aggregate),
    (Join, "reads", only_wanted, make_join),
    (Resample, "reads", only_wanted, make_resample),
    (BSort, "keeps_tuples", False, make_bsort),
    (WSort, "keeps_tuples", False, make_wsort),
    (Join, "keeps_tuples", False, make_table_join),
    (Map, "origins", by_name, make_map),
    (Aggregate, "origins", by_name, make_aggregate),
    (Tumble, "partition_keys", grouped_by, make_tumble),
]


@pytest.mark.parametrize(
    ("box", "member", "lie", "maker"), LIES, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_a_box_that_lies_is_noticed(
    monkeypatch: pytest.MonkeyPatch, box: type[Box], member: str, lie: Any, maker: Maker
) -> None:
    monkeypatch.setattr(box, member, lie)
    assert any(is_noticed(seed, maker) for seed in range(SEEDS_TRIED))


def is_noticed(seed: int, maker: Maker) -> bool:
    try:
        check_answers(Random(seed), maker)
    except (AssertionError, AustralisError, pa.ArrowException):
        return True
    return False
