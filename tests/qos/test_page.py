"""The page about quality of service: its code and its faults print what it shows, its forms are equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.app.files import australis, write

from australis import NetworkBuilder, load, loads

ROOT = Path(__file__).parents[2]
FENCES = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / "qos.md").read_text(), re.DOTALL)


def test_the_code_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, object] = {}
    blocks = [body for kind, body in FENCES if kind == "python"]
    exec(blocks[0], scope)
    assert scope["network"] == loads(next(body for kind, body in FENCES if kind == "yaml"), ".yaml")
    exec(blocks[1], scope)
    net, form = scope["net"], [body for kind, body in FENCES if kind == "yaml"][1]
    assert isinstance(net, NetworkBuilder)
    assert net.build() == loads(form, ".yaml")
    exec(blocks[2], scope)
    assert capsys.readouterr().out == next(body for kind, body in FENCES if kind == "text")


def test_the_faults_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = next(body for kind, body in FENCES if kind == "yaml")
    faulty = text.replace("[[0, 1], [2, 1],", "[[0, 0.5], [2, 1],").replace("broken: 1", "broken: 0.2")
    write(tmp_path / "broken.yaml", faulty)
    monkeypatch.chdir(tmp_path)
    shown = [body for kind, body in FENCES if kind == "console"][1]
    assert shown == f"$ australis check broken.yaml\n{australis('check', 'broken.yaml').output}"


def test_the_warning_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = [body for kind, body in FENCES if kind == "yaml"][1]
    write(tmp_path / "oldest.yaml", text.replace("since: trigger, ", ""))
    monkeypatch.chdir(tmp_path)
    shown = next(body for kind, body in FENCES if kind == "console")
    assert shown == f"$ australis check oldest.yaml\n{australis('check', 'oldest.yaml').output}"


def test_the_plant_is_the_same_in_python_and_in_yaml() -> None:
    scope: dict[str, object] = {}
    exec((ROOT / "examples" / "plant.py").read_text(), scope)
    network = scope["network"]
    assert callable(network)
    assert network() == load(ROOT / "examples" / "plant.yaml")
    assert network().warnings() == ()
