"""`australis query` by progress: the query names no progress, its marks come with the connection point."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from tests.app.files import australis, write

from australis import NetworkBuilder, Node, Progress

ASK = """\
australis: 1
name: ask
inputs: {s: {schema: {k: string, at: long}}}
boxes:
  counts:
    box: aggregate
    from: s
    functions: {n: count(*)}
    order: {on: at, by: progress, group_by: [k]}
    size: 10
    align: true
outputs: {counts: {from: counts}}
"""


def test_a_node_passes_marks_on_and_history_alone_has_none(tmp_path: Path) -> None:
    net = NetworkBuilder("net")
    net.input("s", "k string, at long", progress=Progress("at", slack=5)).point("all", history="forever")
    asked = ("query", "all", "--net", write(tmp_path / "ask.yaml", ASK), "--root", tmp_path / "root")
    with Node(tmp_path / "root", runner="light", control=True) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"k": ["a", "b", "a"], "at": pa.array([1, 2, 16], pa.int64())}))
        answer = australis(*asked, "--no-follow")
        assert answer.exit_code == 0, answer.stderr
        found = sorted((json.loads(line) for line in answer.stdout.splitlines()), key=lambda each: each["k"])
        assert found == [{"at": 0, "k": "a", "n": 1}, {"at": 0, "k": "b", "n": 1}]
    answer = australis(*asked)
    assert answer.exit_code == 1
    assert (
        "ask goes by the marks of 'all', which only a node passes on; expected `australis run`"
        in answer.stderr
    )
