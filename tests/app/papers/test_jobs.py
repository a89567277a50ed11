"""Many simulated worlds at once: a seed gives the same results here, in processes and on Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from australis.app.papers.jobs import Mapper, counted, mapper, seeds_of
from australis.errors import Problem, SimulationError


def failing(seeds: range) -> int:
    if 7 in seeds:
        raise SimulationError(Problem("seed 7", "lost a tuple", "each tuple once"))
    return sum(seeds)


def error_of(run: Mapper) -> str:
    with pytest.raises(SimulationError) as found:
        list(run(failing, seeds_of(0, 12, chunk=3)))
    return str(found.value)


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_a_seed_is_the_error_of_all(processes: int) -> None:
    assert error_of(mapper(processes)) == "seed 7: lost a tuple; expected each tuple once"


def test_an_error_on_spark_is_the_same(spark: SparkSession) -> None:
    assert error_of(mapper(1, "local[2]")) == "seed 7: lost a tuple; expected each tuple once"
    assert spark.sparkContext.parallelize([1]).count() == 1


@pytest.mark.parametrize(("first", "count", "chunk"), [(0, 0, 5), (3, 4, 5), (3, 5, 5), (3, 11, 5)])
def test_every_seed_is_in_one_job(first: int, count: int, chunk: int) -> None:
    found = seeds_of(first, count, chunk)
    assert [seed for each in found for seed in each] == list(range(first, first + count))
    assert all(0 < len(each) <= chunk for each in found)


def test_a_job_is_counted_when_it_is_done_and_not_before() -> None:
    told: list[int] = []

    def outcomes() -> Iterator[str]:
        for name in "ab":
            yield f"{name}, {len(told)} before"

    assert list(counted(outcomes(), told.append)) == ["a, 0 before", "b, 1 before"]
    assert told == [1, 1]
