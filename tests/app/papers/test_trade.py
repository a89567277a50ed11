"""`australis simulate market`: as text, as JSON, as pictures; here, on processes and on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from pyspark.sql import SparkSession
from tests.app.files import australis

from australis.app.papers.jobs import mapper
from australis.app.papers.trade.command import CONTRACTS, PRICES
from australis.sim.trade.configurations import VARIANTS
from australis.sim.trade.experiments import LEAST_CONTRACTS, jobs, measured

SMALL = ("simulate", "market", "--nodes", "60", "--runs", "2", "--processes", "1")


def test_the_options_are_those_of_the_experiments() -> None:
    assert tuple(VARIANTS) == PRICES
    assert CONTRACTS == LEAST_CONTRACTS


def test_json_has_a_result_for_each_variant_and_number_of_contracts() -> None:
    done = australis(
        *SMALL, "--contracts", "3", "--contracts", "1", "--prices", "fixed", "--prices", "bounded", "--json"
    )
    found = json.loads(done.stdout)
    keys = [(each["variant"], each["contracts"]) for each in found["results"]]
    assert keys == [("fixed", 1), ("fixed", 3), ("bounded", 1), ("bounded", 3)]
    for each in found["results"]:
        assert 0 <= each["excess_moved"] <= 1
        assert 0 <= each["capacity_used"] <= 1
    assert [each["least"] for each in found["graphs"]] == [1, 3]
    assert (found["nodes"], found["runs"], found["seed"]) == (60, 2, 0)


def test_text_has_the_papers_numbers_only_beside_markets_of_its_size() -> None:
    text = australis(*SMALL, "--contracts", "10", "--prices", "fixed").stdout
    assert "fixed       10" in text
    assert "> 99 %" not in text


def test_pictures_are_written(tmp_path: Path) -> None:
    plots = tmp_path / "deep" / "plots"
    assert australis(*SMALL, "--contracts", "3", "--plot", str(plots)).exit_code == 0
    names = sorted(path.name for path in plots.iterdir())
    assert names == [f"market-figure-{number}.svg" for number in ("10", "11", "8", "9")]
    for path in plots.iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_processes_give_what_one_gives() -> None:
    some = jobs(["bounded"], [3], nodes=40, runs=2)
    assert list(mapper(2)(measured, some)) == list(mapper(1)(measured, some))


def test_unknown_prices_are_refused() -> None:
    assert australis("simulate", "market", "--prices", "cheap").exit_code == 2


def test_spark_gives_what_one_process_gives(spark: SparkSession) -> None:
    some = jobs(["bounded"], [3], nodes=40, runs=2)
    assert list(mapper(1, "local[2]")(measured, some)) == list(mapper(1)(measured, some))
    assert spark.sparkContext.parallelize([1]).count() == 1
