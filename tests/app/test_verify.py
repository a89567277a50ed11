"""`australis verify`: lines or JSON, an exit code, and the trash emptied only where nothing is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.app.files import australis
from tests.engine.in_process import InProcess
from tests.engine.ledger.custody.roots import opened, push

from australis import Node


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with an orphan in its trash, in the current folder."""
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "root") as node:
        push(node, 1, 2, 3)
    (tmp_path / "root" / "segments" / "orphan").write_bytes(b"12345")
    Node(tmp_path / "root", runner=InProcess()).stop()
    return tmp_path / "root"


def test_a_good_root() -> None:
    answer = australis("verify", "root")
    assert answer.exit_code == 0
    first, files, catalogue, trash = answer.stdout.splitlines()
    assert first == "root: no problems found"
    assert files.endswith(", 3 tuples")
    assert catalogue.endswith(" commits, epoch 2; shut down cleanly")
    assert trash == "  in the trash: 1 file, 5 B; deleted after a day"


def test_the_trash_is_emptied_on_request() -> None:
    answer = australis("verify", "root", "--empty-trash")
    assert answer.stdout.endswith("1 file deleted from the trash\n")
    assert "trash" not in australis("verify", "root").stdout


def test_a_bad_root_fails_and_keeps_its_trash(root: Path) -> None:
    for path in (root / "segments").glob("*.parquet"):
        path.unlink()
    answer = australis("verify", "root", "--empty-trash")
    assert answer.exit_code == 1
    assert "cannot be read" in answer.stdout.splitlines()[0]
    assert re.search(r"^root: \d findings?$", answer.stdout, re.M)
    assert answer.stdout.endswith("the trash is kept\n")
    assert list((root / "trash").rglob("orphan"))


def test_json(root: Path) -> None:
    found = json.loads(australis("verify", "root", "--json", "--quick").stdout)
    assert (found["findings"], found["trash"], found["deleted"]) == ([], 1, 0)
    (root / "owner.json").write_text("{")
    answer = australis("verify", "root", "--json")
    assert answer.exit_code == 1
    (finding,) = json.loads(answer.stdout)["findings"]
    assert finding["what"].startswith("is damaged")


def test_orphans_are_named(root: Path) -> None:
    (root / "states" / "left.state").write_bytes(b"123")
    answer = australis("verify", "root")
    assert answer.exit_code == 0
    assert "1 orphan, 3 B, moved to the trash at the next start: states/left.state" in answer.stdout


def test_a_root_in_use_and_what_is_no_root(root: Path, tmp_path: Path) -> None:
    with Node(root, runner=InProcess()):
        answer = australis("verify", "root")
    assert (answer.exit_code, "is open in another node" in answer.stderr) == (1, True)
    answer = australis("verify", "nowhere")
    assert (answer.exit_code, "there is no such folder" in answer.stderr) == (1, True)
    assert not (tmp_path / "nowhere").exists()
