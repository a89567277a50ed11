"""What is exported is what docs/metrics.md lists, and the dashboard asks for nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

Serve = Callable[..., httpx.Client]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
DASHBOARD = ROOT / "deploy" / "grafana" / "australis.json"
NETWORK = """
australis: 1
name: measured
inputs: {readings: {schema: {n: int}}}
boxes:
  some: {box: filter, from: readings, predicates: [n > 0]}
outputs:
  all: {from: some, quality: {delay: [[0, 1], [10, 0]]}}
"""


def exported(text: str) -> dict[str, tuple[str, str]]:
    """The type and the description of each metric."""
    told = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.M))
    return {
        name: (kind, told[name])
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
        if not name.endswith("_created")
    }


@pytest.fixture
def scraped(serve: Serve, tmp_path: Path) -> str:
    """The metrics of a service whose network has outputs with graphs, and a bound on its disk."""
    node = {"root": str(tmp_path / "root"), "runner": "light[1]", "disk": 10**9}
    client = serve(node=node, feeds={"inputs": {"none": "none.csv"}})
    made = client.put("/v1/network", json={"network": NETWORK})
    assert made.status_code == 200, made.text
    client.get("/metrics")
    return client.get("/metrics").text


def test_the_page_lists_what_is_exported(scraped: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(), re.M)
    assert {name: (kind, told) for name, kind, told in rows} == exported(scraped)


def test_the_dashboard_asks_for_what_is_exported() -> None:
    names = {name for name, _, _ in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(), re.M)}
    dashboard = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert len(queries) > 12
    for query in queries:
        asked = set(re.findall(r"\b(?:australis|process)_\w+", query))
        assert asked, query
        assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} <= names, query
