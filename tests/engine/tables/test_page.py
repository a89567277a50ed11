"""The programs in docs/tables.md run, and print what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"


@pytest.mark.timeout(240)
def test_programs_print_what_they_say(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for program in programs:
        exec(program, names)
    said = re.findall(r"print\(.*\)  # (.*)", "".join(programs))
    assert capsys.readouterr().out.splitlines() == said
