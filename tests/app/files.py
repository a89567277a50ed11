"""What the tests of the command line share: a network, its files, and a way to call."""

from __future__ import annotations

import os
from pathlib import Path

from click.testing import CliRunner, Result

from australis.app.cli import main

NETWORK = """\
australis: 1
name: soldiers
inputs:
  reports: {schema: {sid: int not null, time: long, pos: int}}
  names: {schema: {sid: int, name: string}, table: true}
boxes:
  across: {box: filter, from: reports, predicates: [pos >= 30]}
  count:
    {box: aggregate, from: across, functions: {soldiers: count(*)}, order: {on: time, slack: 1}, size: 1}
  named: {box: join, from: [across.1, names], predicate: left.sid = right.sid, left: {on: time}}
outputs:
  counts: {from: count}
  near: {from: named}
"""
REPORTS = """\
sid,time,pos
1,1,34
2,1,12
3,1,31
1,2,35
2,2,8
3,2,30
3,3,33
1,3,36
"""
NAMES = """\
sid,name
1,Ann
2,Bea
"""
COUNTS = """\
time,soldiers
1,2
2,2
3,2
"""


def australis(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    """Call the command line in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def listing() -> list[str]:
    """The contents of the working folder, without the bytecode that Python may write there."""
    return sorted(name for name in os.listdir() if name != "__pycache__")
