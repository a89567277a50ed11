"""`australis explain --physical`: superboxes, stages, shuffles, state and arcs, as a tree and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.files import NETWORK, australis, write

KEYED = """\
australis: 1
name: keyed
inputs:
  quotes: {schema: {sid: string, time: long, price: double}}
boxes:
  some: {box: filter, from: quotes, predicates: [price > 0]}
  mean:
    {box: aggregate, from: some, functions: {mean: avg(price)}, order: {on: time, group_by: [sid]}, size: 9,
     timeout: 1 s}
  high: {box: filter, from: mean, predicates: [mean > 10]}
outputs:
  means: {from: mean}
  highs: {from: high}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "keyed.yaml", KEYED)
    return tmp_path


def planned(*options: str) -> dict[str, Any]:
    answer = australis("explain", "--physical", "--json", *options)
    assert answer.exit_code == 0, answer.output
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def test_the_tree() -> None:
    answer = australis("explain", "keyed.yaml", "--physical", "--partitions=3")
    assert answer.stdout.splitlines() == [
        "keyed: superbox discipline, fused way, 3 partitions",
        "└── superbox some+2: tuples spread by keys, sid of quotes, with timeouts",
        "    ├── reads quotes, an input",
        "    ├── stage 1, Python tasks that read the segments",
        "    │   ├── some [fused into the scan]: Filter(price > 0)",
        "    │   ├── mean [state in 3 partitions]: Aggregate(avg(price) -> mean, Assuming Order(On time, "
        "GroupBy sid), Size 9,",
        "    │   │   Timeout 1 s)",
        "    │   └── high: Filter(mean > 10)",
        "    ├── writes mean for output means",
        "    └── writes high for output highs",
    ]


def test_by_way_of_spark_leading_boxes_are_expressions_before_a_shuffle() -> None:
    (superbox,) = planned("keyed.yaml", "--way=spark", "--partitions=4")["superboxes"]
    assert [(stage["runs_as"], stage["boxes"]) for stage in superbox["stages"]] == [
        ("Spark tasks", ["some"]),
        ("Python tasks", ["mean", "high"]),
    ]
    assert (superbox["shuffles"], superbox["state"]) == (1, {"mean": 4})
    tree = australis("explain", "keyed.yaml", "--physical", "--way=spark").stdout
    assert "shuffle by sid of quotes" in tree
    assert "some [Spark expression]: Filter(price > 0)" in tree


def test_box_by_box_arcs_are_queues_between_superboxes() -> None:
    found = planned("keyed.yaml", "--discipline=box")
    assert [(each["id"], each["spread_by"]) for each in found["superboxes"]] == [
        ("some", "rows"),
        ("mean", "keys"),
        ("high", "rows"),
    ]
    arcs = {arc["id"]: arc for arc in found["arcs"]}
    assert (arcs["mean"]["writer"], arcs["mean"]["readers"]) == ("mean", ["high"])
    assert arcs["mean"]["outputs"] == ["means"]
    assert arcs["quotes"]["writer"] is None
    tree = australis("explain", "keyed.yaml", "--physical", "--discipline=box").stdout
    assert "reads mean, a queue after superbox mean" in tree


def test_stored_tables_and_what_cannot_be_spread() -> None:
    tree = australis("explain", "net.yaml", "--physical").stdout
    assert "loads names, a stored table" in tree
    assert "tuples not spread, since no key is common to the groups of its boxes" in tree


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--partitions=3"], "--partitions is for --physical: add it"),
        (["--physical", "--format=svg"], "--physical is a tree or JSON, not svg"),
        (["--json", "--format=svg"], "--json is --format json, not --format svg"),
        (["--physical", "--discipline=all"], "Invalid value for '--discipline'"),
    ],
)
def test_usage(options: list[str], message: str) -> None:
    answer = australis("explain", "net.yaml", *options)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert message in answer.stderr


def test_into_a_file(folder: Path) -> None:
    assert australis("explain", "net.yaml", "--physical", "-o", "plan.json").exit_code == 0
    assert json.loads((folder / "plan.json").read_text())["network"] == "soldiers"
