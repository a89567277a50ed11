"""A seed repeats the same examples, whatever else runs; without one, every run draws others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFTEST = """\
from tests.conftest import pytest_configure, pytest_report_header, pytest_terminal_summary
"""
CONSTANTS = "CONSTANTS = [" + ", ".join(str(n * 1_000_003) for n in range(1, 500)) + "]\n"
FIRST = """\
def test_that_loads_a_module():
    import constants
"""
SECOND = """\
from hypothesis import given, strategies as st

@given(st.lists(st.integers(), max_size=20))
def test_that_draws(numbers):
    with open("drawn", "a") as file:
        print(numbers, file=file)

@given(st.integers())
def test_that_fails(number):
    assert number < 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of tests with the settings of this folder."""
    files = {"conftest": CONFTEST, "constants": CONSTANTS, "test_1": FIRST, "test_2": SECOND}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def drawn(folder: Path, *arguments: str, **variables: str) -> tuple[list[str], str]:
    """The examples of a run, and what it printed."""
    (folder / "drawn").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{folder}", "AUSTRALIS_SEED": "", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return (folder / "drawn").read_text().splitlines(), done.stdout


def test_a_seed_repeats_a_run(folder: Path) -> None:
    alone, _ = drawn(folder, "test_2.py", AUSTRALIS_SEED="5")
    after_another, said = drawn(folder, "test_1.py", "test_2.py", AUSTRALIS_SEED="5", CI="true")
    in_a_worker, _ = drawn(folder, "-n1", "--hypothesis-seed=5")
    assert alone == after_another == in_a_worker
    assert len(set(alone)) > 10
    assert said.count("seed of property tests: 5 (to repeat: AUSTRALIS_SEED=5") == 2, said


def test_every_run_draws_other_examples(folder: Path) -> None:
    one, said = drawn(folder, "-n1", CI="true")
    other, said_again = drawn(folder, "test_2.py")
    assert one != other
    seeds = [text.partition("AUSTRALIS_SEED=")[2].partition(" ")[0] for text in (said, said_again)]
    assert seeds[0] != seeds[1]
    again, _ = drawn(folder, "test_2.py", AUSTRALIS_SEED=seeds[0])
    assert again == one
