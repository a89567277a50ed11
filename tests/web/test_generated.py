"""What the editor takes from the algebra is current, and what it writes is what the algebra reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from australis.algebra.boxes import BOXES
from australis.algebra.form import from_json, loads
from australis.algebra.network import Network
from scripts.web import FAMILIES, GOLDEN, out_of_date

NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))


def test_generated_files_are_current() -> None:
    stale = [str(path) for path, _ in out_of_date()]
    assert stale == [], "run scripts/web.py"


def test_the_palette_has_every_box() -> None:
    placed = [kind for kinds in FAMILIES.values() for kind in kinds]
    assert sorted(placed) == sorted(kind for kind, box in BOXES.items() if not box.system)


@pytest.mark.parametrize("name", NAMES)
def test_the_yaml_of_the_editor_is_the_network(name: str) -> None:
    text = (GOLDEN / f"{name}.yaml").read_text()
    assert loads(text, ".yaml") == _network(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_python_of_the_editor_builds_the_network(name: str) -> None:
    """The file is no module of the tests: it is run as a user would run it."""
    variables: dict[str, object] = {}
    exec(compile((GOLDEN / f"{name}.python").read_text(), name, "exec"), variables)
    assert variables["network"] == _network(name)


def _network(name: str) -> Network:
    return from_json(json.loads((GOLDEN / f"{name}.json").read_text())["document"])
