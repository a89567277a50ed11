"""`australis simulate placement`: text, JSON and a picture."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.app.files import australis

from australis.sim.place import experiments
from australis.sim.place.workload import Setting


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a minute."""
    monkeypatch.setattr(experiments, "Setting", lambda: replace(Setting(), seconds=60.0))


@pytest.mark.usefixtures("short")
def test_placement(tmp_path: Path) -> None:
    arguments = ("simulate", "placement", "--runs", "1", "--seed", "5", "--plot", str(tmp_path))
    found = json.loads(australis(*arguments, "--json").stdout)
    assert set(found["variants"]) == {"still", "slides", "slides and splits", "hasty"}
    assert found["variants"]["still"]["slides"] == 0 < found["variants"]["slides"]["slides"]
    text = australis(*arguments).stdout
    assert f"{found['variants']['hasty']['in_time']:.1%}" in text
    second, move = found["moves"]["slides and splits"][0]
    assert f"{second:.0f} s: {move}\n" in text
    assert ElementTree.parse(tmp_path / "placement.svg").getroot().tag.endswith("svg")


def test_help_has_examples() -> None:
    assert (
        "Examples:\n    australis simulate placement" in australis("simulate", "placement", "--help").stdout
    )
