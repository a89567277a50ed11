"""The commands in docs/cli.md print what the page says.

With AUSTRALIS_RECORD=1 the page is rewritten: check what changed before you commit it.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.app.files import australis, write

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```\n)", re.DOTALL)
BROKEN = """\
australis: 1
name: soldiers
inputs:
  reports: {schema: {sid: int, time: int, pos: int}}
boxes:
  across: {box: filter, from: reports, predicates: [pos >= 30, poz >= 10]}
  count: {box: aggregate, from: across, functions: {far: max(poss)}, order: {on: time}, size: 1}
outputs:
  alarms: {from: across}
"""
REPORTS = "sid,time,pos\n1,1,34\n2,1,31\n3,one,33\n4,1\n5,1,40\n,2,30\n"
BARE = "1|1|34\n2|1|n/a\n3|1|31\n4|1|40\n"
MISSPELT = '{"sid": 1, "time": 1, "pos": 34}\n{"sid": 2, "time": 1, "poss": 31}\n'

TIMES = {
    r"in [0-9.]+ s on": "in 0.01 s on",
    r"started in [0-9.]+ s": "started in 3.0 s",
    r"delay p50 [0-9,]+ ms, p95 [0-9,]+ ms": "delay p50 80 ms, p95 80 ms",
    r"(?m)(?<=%) +[0-9.,]+ m?s\b": "      80 ms",
    r'"seconds": [0-9.]+': '"seconds": 0.01',
    r'"start_seconds": [0-9.]+': '"start_seconds": 3.0',
    r'"delay_ms_p(50|95)": [0-9.]+': r'"delay_ms_p\1": 80.0',
    r'"cost_us": [0-9.]+': '"cost_us": 1.0',
    r"(?m)^[0-9-]+T[0-9:.]+Z (?=[A-Z]+ )": "2026-11-16T18:20:00.123Z ",
    r", after [0-9,]+ ms": ", after 50 ms",
    r"file://\S+/(?=logged\b)": "file:///home/me/",
}
"""Durations are not part of the page."""


def session(text: str) -> str:
    """The same commands with what they print."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        program, *arguments = shlex.split(command)
        answer = Path(*arguments).read_text() if program == "cat" else australis(*arguments).output
        lines.append(f"$ {command}\n{answer}")
    return functools.reduce(lambda said, time: re.sub(*time, said), TIMES.items(), "".join(lines))


@pytest.mark.usefixtures("spark")
def test_the_page_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    write(tmp_path / "broken.yaml", BROKEN)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "reports.jsonl", MISSPELT)
    write(tmp_path / "reports.txt", BARE)
    platoons = (ROOT / "examples" / "platoons.yaml").read_text()
    write(tmp_path / "wider.yaml", platoons.replace("size: 10 min", "size: 20 min"))
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    now = BLOCK.sub(lambda found: session(found[0]), page)
    if os.environ.get("AUSTRALIS_RECORD"):
        PAGE.write_text(now)
    assert page.count("$ australis") >= 6
    assert PAGE.read_text() == now
