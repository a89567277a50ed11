"""A root tells what runs on it, and everything that was ever shed, without Spark and beside its node."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.app.files import australis
from tests.engine.watched import NOW, SECOND, forked, opened

from australis.app.pictures.notation import DROP_TAG
from australis.engine.ledger.catalog import NETWORK
from australis.engine.ledger.counts.drops import count_shed
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.record import Record
from australis.engine.observe.live_network import TAG
from australis.engine.steer.drop_boxes import DropBoxes
from australis.plan.superboxes import Discipline
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert, Withdraw


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root on which two drop boxes stand, and two stood."""
    with opened(tmp_path) as ledger:
        remember(ledger)
        boxes = DropBoxes(ledger, NOW)
        boxes.obey([Insert("levels", DropBox.random(0.5)), Insert("some", DropBox.random(0.1))], NOW)
        boxes.obey([Insert("levels", DropBox.random(0.25)), Withdraw("some")], NOW + SECOND)
        boxes.obey([Insert("kinds", DropBox(0.4, {"some": "kind = 'note'"}))], NOW + 2 * SECOND)
        with ledger.change() as change:
            count_shed(change, {1: (10, 5), 3: (4_000, 1_013), 4: (4_000, 1_600)})
    return tmp_path


def remember(ledger: Ledger) -> None:
    """The root holds the forked network."""
    record = Record(forked(), Discipline.BRANCH, 2).to_json()
    with ledger.change() as change:
        change.set_meta(NETWORK, record)


def text(answer: str) -> str:
    return " ".join(answer.replace("│", " ").split())


RANDOM = "sheds 25.0% of all; 1,013 of 4,000 since 00:16:41 UTC"
BY_VALUE = "sheds those with kind = 'note'; 1,600 of 4,000 since 00:16:42 UTC"


def test_a_tree(root: Path) -> None:
    shown = text(australis("explain", "--root", root).stdout)
    assert f"drop_3: Drop(Rate 0.25) {RANDOM}" in shown
    assert f"drop_4: Filter(kind = 'note') {BY_VALUE}" in shown
    assert "drop_1" not in shown
    assert "drop_2" not in shown
    assert "some: Filter(v >= 0)" in shown


def test_mermaid(root: Path) -> None:
    shown = australis("explain", "--root", root, "--format", "mermaid").stdout
    assert f'box_drop_3["drop_3<br/>Drop(Rate 0.25)<br/>{RANDOM}"]' in shown
    assert "box_drop_3 -->" in shown
    assert "box_drop_4 -->" in shown


def test_svg(root: Path) -> None:
    assert australis("explain", "--root", root, "--output", root / "live.svg").exit_code == 0
    picture = ElementTree.fromstring((root / "live.svg").read_text())
    texts = " ".join(filter(None, (each.text for each in picture.iter("{http://www.w3.org/2000/svg}text"))))
    assert "sheds 25.0% of all 1,013 of 4,000 since 00:16:41 UTC" in " ".join(texts.split())
    assert DROP_TAG == TAG


def test_json(root: Path) -> None:
    found = json.loads(australis("explain", "--root", root, "--json").stdout)
    assert found["network"]["boxes"]["drop_3"]["description"] == RANDOM
    assert found["network"]["boxes"]["levels"]["from"] == "drop_3"
    assert found["network"]["boxes"]["kinds"]["from"] == "drop_4.1"


def test_what_was_ever_shed(root: Path) -> None:
    shown = text(australis("stats", root, "--shed").stdout)
    assert "1 levels (arc_0) 50.0% of all 1970-01-01 00:16:40 1970-01-01 00:16:41 10 5" in shown
    assert "4 kinds (arc_0) kind = 'note' 1970-01-01 00:16:42 - 4,000 1,600" in shown
    found = json.loads(australis("stats", root, "--shed", "--json").stdout)
    assert [(each["number"], each["shed"], each["until"]) for each in found] == [
        (1, 5, NOW + SECOND),
        (2, 0, NOW + SECOND),
        (3, 1_013, None),
        (4, 1_600, None),
    ]


def test_a_root_without_drop_boxes(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        remember(ledger)
    assert australis("stats", tmp_path, "--shed").stdout == "Nothing was ever shed.\n"
    assert "drop_" not in australis("explain", "--root", tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("explain", "--root", "{root}", "--physical"), "--root shows the boxes of a root"),
        (("stats", "{root}", "--shed", "--watch"), "not for --watch"),
    ],
)
def test_what_does_not_go_together(root: Path, arguments: tuple[str, ...], what: str) -> None:
    answer = australis(*(each.format(root=root) for each in arguments))
    assert answer.exit_code == 2
    assert what in answer.stderr


def test_what_is_no_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = australis("explain", "--root", "nowhere")
    assert answer.exit_code == 1
    assert "nowhere: there is no such folder; expected a folder that `australis run --root`" in answer.stderr
