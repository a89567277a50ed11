"""`australis forget`: a root keeps nothing any more for a consumer, or a file, that will not come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.files import NAMES, NETWORK, REPORTS, australis, write

from australis.algebra.form.form import load
from australis.engine.node import Node
from australis.engine.observe.inspect import look


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


@pytest.mark.usefixtures("spark", "heeding_signals")
def test_files_and_subscribers_are_forgotten(folder: Path) -> None:
    files = ("-i", "reports=reports.csv", "-i", "names=names.csv", "-o", "counts=counts.csv")
    assert australis("run", "net.yaml", *files, "--root=root", "--flush").exit_code == 0
    with Node(folder / "root") as node:
        node.deploy(load(folder / "net.yaml"))
        node.acknowledge("early", "near", 0)
        node.acknowledge("early", "counts", 0)
        node.acknowledge("late", "near", 14)
        refused = australis("forget", "early", "--root=root")
        assert (refused.exit_code, "is open in another node" in refused.stderr) == (1, True)
    answer = australis("forget", "early", "--of=near", "--root=root")
    assert answer.output == "early is forgotten as a consumer of near: 2 tuples deleted\n"
    assert look(folder / "root").arcs["named"] == 0
    answer = australis("forget", "counts.csv", "--root=root")
    assert answer.output == "counts.csv is forgotten as a consumer of counts: 0 tuples deleted\n"
    answer = australis("forget", "counts.csv", "--root=root")
    expected = "australis: root: there is no consumer 'counts.csv'; expected one of early, late\n"
    assert (answer.exit_code, answer.stderr) == (1, expected)
    answer = australis("forget", "late", "--of=counts", "--root=root")
    assert "no consumer 'late' of the output 'counts'; expected one of early" in answer.stderr


def test_what_is_no_root(folder: Path) -> None:
    answer = australis("forget", "somebody", "--root=nowhere")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "nowhere: there is no such folder; expected a folder that `australis run" in answer.stderr
    assert not (folder / "nowhere").exists()
