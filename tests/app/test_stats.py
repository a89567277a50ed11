"""`australis stats`: a root tells of itself, also while a node has it open."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.app.files import NAMES, NETWORK, REPORTS, australis, write
from tests.engine.ledger.copies.places import URI, Place, push

from australis.app.commands import stats
from australis.engine.ledger.catalog import Catalog
from australis.engine.node import Node
from australis.engine.observe.inspect import holds_tables, look
from australis.errors import EngineError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


@pytest.mark.usefixtures("spark", "heeding_signals")
def test_a_root_and_its_statistics(folder: Path) -> None:
    """One root for all looks: at rest, as a table, as JSON, in use, again and again."""
    files = ("-i", "reports=reports.csv", "-i", "names=names.csv", "-o", "counts=counts.csv")
    assert not holds_tables(folder / "root", ["names"])
    assert australis("run", "net.yaml", *files, "--root=root", "--flush").exit_code == 0
    assert holds_tables(folder / "root", ["names"])
    shown = australis("stats", "root").stdout
    for words in ("soldiers: 0 tuples wait", "selectivity", "delay p50", "across+2", "train p50"):
        assert words in shown
    assert [line.split()[:3] for line in shown.splitlines() if line.startswith("count ")] == [
        ["count", "6", "3"]
    ]
    found = json.loads(australis("stats", "root", "--json").stdout)
    assert found["boxes"]["count"]["selectivity"] == 0.5
    assert found["outputs"]["counts"]["tuples"] == 3
    assert found["outputs"]["counts"]["delay_ms_p95"] > 0
    assert found["superboxes"]["across+2"]["boxes"] == ["across", "count", "named"]
    assert found["arcs"]["named"] == 2
    with Node(folder / "root"):
        assert json.loads(australis("stats", "root", "--json").stdout) == found
    watched(folder, found)


def watched(folder: Path, found: object) -> None:
    """Lines of JSON until Ctrl-C, which is no error."""
    command = [sys.executable, "-m", "australis.app.cli", "stats", "root", "--watch", "--json", "--every=0.1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline()) for _ in range(2)] == [found, found]
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 0


def test_each_picture_is_restored_anew_from_an_object_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Place(tmp_path, monkeypatch).opened() as node:

        def wait(seconds: float) -> None:
            if node.position("feed") == "1":
                raise KeyboardInterrupt
            push(node, 0)

        monkeypatch.setattr(stats, "threading", SimpleNamespace(Event=lambda: SimpleNamespace(wait=wait)))
        answer = australis("stats", "--root", URI, "--watch", "--json")
    assert answer.exit_code == 0, answer.output
    shown = [json.loads(line)["inputs"]["s"]["received"] for line in answer.stdout.splitlines()]
    assert shown == [0, 2]


def test_what_is_no_root(folder: Path) -> None:
    (folder / "other").mkdir()
    for name, what in (("nowhere", "there is no such folder"), ("other", "is not the root of a node")):
        answer = australis("stats", name)
        assert (answer.exit_code, answer.stdout) == (1, "")
        expected = "expected a folder that `australis run --root` has made"
        assert answer.stderr == f"australis: {name}: {what}; {expected}\n"
    assert os.listdir(folder / "other") == []


def test_a_catalogue_that_is_none(folder: Path) -> None:
    (folder / "root").mkdir()
    write(folder / "root" / "catalog.db", "no database" * 1000)
    answer = australis("stats", "root")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "catalog.db: is damaged: file is not a database" in answer.stderr


def test_a_root_without_a_network(folder: Path) -> None:
    (folder / "root").mkdir()
    Catalog(folder / "root").close()
    assert "root: holds no network so far" in australis("stats", "root").stderr
    assert not holds_tables(folder / "root", ["names"])
    with pytest.raises(EngineError, match="holds no network"):
        look(folder / "root")
