"""`australis simulate eddies`: tables as text, as JSON, as pictures; here, on processes and on Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyspark.sql import SparkSession
from tests.app.files import australis

from australis.app.papers.jobs import mapper
from australis.app.papers.route.command import TABLES
from australis.app.papers.route.report import EXAMPLES, TITLES, WORLDS, jobs, run_job
from australis.policy.route.policies import POLICIES
from australis.sim.route import paper, queries
from australis.sim.route.queries import Job, Measured

MEANS = ("simulate", "eddies", "--plans", "2", "--seed", "7", "--processes", "1", "--table")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Job]]:
    """Worlds whose numbers follow from their seed; returns those that were requested."""
    asked: list[Job] = []

    def measured(job: Job) -> Measured:
        asked.append(job)
        number = 100.0 * 4.0 ** (job.seed - 7) * (3 if job.shared else 1)
        times = {name: (place + 1.0, place + 2.0) for place, name in enumerate(POLICIES)}
        rates = dict.fromkeys(POLICIES, number)
        return Measured(job, (0.5, 0.9), (number / 2, number * 0.9), times, times, rates, 1)

    monkeypatch.setattr(queries, "measured", measured)
    return asked


def test_the_tables_are_those_of_the_paper() -> None:
    assert set(TABLES) == {"model", *EXAMPLES, *WORLDS}
    assert set(WORLDS) == set(paper.MEANS)
    assert set(TITLES) == set(TABLES) - {"model"}


def test_maximum_data_rates_are_means_over_plans(quick: list[Job]) -> None:
    found = json.loads(australis(*MEANS, "4.12", "--json").stdout)
    assert found["ours"] == pytest.approx(dict.fromkeys(POLICIES, 200))
    assert (found["seed"], found["plans"], found["paper"]["WSCQ"]) == (7, 2, 347)
    assert quick == [Job(7), Job(8)]
    text = australis(*MEANS, "4.12").stdout
    assert text.startswith("Table 4.12. Maximum data rates, 2 plans one at a time\n")
    assert "WSCQ       347    200" in text


def test_shared_resources_are_beside_fixed_ones(quick: list[Job]) -> None:
    found = json.loads(australis(*MEANS, "5.3", "--json").stdout)
    assert found["ours"]["SCQ"] == pytest.approx(600)
    assert found["fixed"]["SCQ"] == pytest.approx(200)
    assert set(quick) == {Job(seed, shared=shared) for seed in (7, 8) for shared in (False, True)}


def test_response_times_are_means_over_queries(quick: list[Job]) -> None:
    found = json.loads(australis(*MEANS, "4.13", "--json").stdout)
    assert found["ours"]["T"] == pytest.approx(2**0.5)
    assert (found["plans"], found["queries"]) == (20, 2)
    assert quick == [Job(7, together=True)]


def test_nothing_is_run_twice() -> None:
    every = jobs(TABLES, seed=0, plans=40)
    assert len(every) == len(set(every)) == 2 * 40 + 2 * 2 + 2


def test_pictures_are_written(quick: list[Job], tmp_path: Path) -> None:
    for table in ("4.11", "5.6"):
        assert australis(*MEANS, table, "--plot", str(tmp_path)).exit_code == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["eddies-plans.svg", "eddies-together-shared.svg", "eddies-together.svg"]
    for path in tmp_path.iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_processes_and_spark_give_what_one_gives(spark: SparkSession) -> None:
    some = jobs(["4.10"], seed=3, plans=1)
    here = list(mapper(1)(run_job, some))
    assert list(mapper(2)(run_job, some)) == here
    assert list(mapper(1, "local[2]")(run_job, some)) == here
