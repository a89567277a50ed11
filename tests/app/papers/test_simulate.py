"""`australis simulate`: the papers' numbers and ours, as text, as JSON, and on the pages that show them.

With AUSTRALIS_RECORD=1 the pages are rewritten: check what changed before you commit them.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.app.files import australis

from australis.app.commands.simulate import command as simulate

PAGES = Path(__file__).parents[3] / "docs" / "simulation"
NAMES = ("README", "eddies", "hotspots", "market", "placement", "recovery")
SHOWN = re.compile(r"(?<=```console\n)\$ australis (?P<command>[^\n]*)\n.*?(?=```\n)", re.DOTALL)
PYTHON = re.compile(r"(```python\n(?P<code>.*?)```\n\n```text\n).*?(?=```\n)", re.DOTALL)


def test_the_model_as_json() -> None:
    found = json.loads(australis("simulate", "eddies", "--table", "model", "--json").stdout)
    assert found["s3_mdr"] == pytest.approx(243.7, abs=0.05)
    assert found["s3_art"] == pytest.approx([0.14, 0.17, 0.25, 0.43, 1.57], abs=0.005)
    assert found["j3_mdr"] == pytest.approx(153.4, abs=0.05)
    assert found["j3_c13"] == pytest.approx(0.24, abs=0.005)
    assert found["ds3_mdr"] == pytest.approx(588, abs=0.5)


def test_a_simulated_table_as_text_and_json() -> None:
    arguments = ("simulate", "eddies", "--table", "4.10", "--seed", "1")
    found = json.loads(australis(*arguments, "--json").stdout)
    assert found["rates"] == [200, 210, 220, 230, 240]
    assert found["ours"]["WSCQ"][-1] < 6
    assert found["ours"]["WSC"][-1] > 20
    text = australis(*arguments).stdout
    assert text.startswith("Table 4.10. The average response time of S3 at a rate of tuples\n")
    rows = [line.split() for line in text.splitlines()]
    assert ["WSCQ", "ours", *(f"{time:.2f}" for time in found["ours"]["WSCQ"])] in rows
    assert ["WSCQ", "paper", "0.22", "0.44", "0.61", "0.80", "1.60"] in rows


def test_a_table_that_is_not_there_is_refused() -> None:
    done = australis("simulate", "eddies", "--table", "9.9")
    assert done.exit_code == 2
    assert "'9.9' is not" in done.stderr


def test_help_has_examples() -> None:
    for command in (["simulate"], ["simulate", "eddies"]):
        assert "Examples:\n    australis simulate eddies" in australis(*command, "--help").stdout


def test_every_command_has_a_page() -> None:
    assert sorted(page.stem for page in PAGES.glob("*.md")) == list(NAMES)
    # Trials and replays are of all policies: the first page has them.
    assert set(NAMES) == {"README", *simulate.commands} - {"trials", "replay"}


def test_the_pages_have_their_examples() -> None:
    texts = {name: (PAGES / f"{name}.md").read_text() for name in NAMES}
    assert [name for name in NAMES if SHOWN.search(texts[name])] == ["eddies"]
    assert [name for name in NAMES if PYTHON.search(texts[name])] == ["eddies", "market", "placement"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_is_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGES / f"{name}.md"

    def ran(found: re.Match[str]) -> str:
        exec(found["code"], {})
        return found[1] + capsys.readouterr().out

    def said(found: re.Match[str]) -> str:
        return f"$ australis {found['command']}\n{australis(*found['command'].split()).stdout}"

    now = PYTHON.sub(ran, SHOWN.sub(said, page.read_text()))
    if os.environ.get("AUSTRALIS_RECORD"):
        page.write_text(now)
    assert page.read_text() == now
