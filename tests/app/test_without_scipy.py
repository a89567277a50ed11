"""SciPy is an extra: networks run without it, and what needs it says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.files import write

ROOT = Path(__file__).parents[2]
BLOCKER = """\
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] == "scipy" else find(name, path, target)

PathFinder.find_spec = staticmethod(find_spec)
"""
"""What Python imports when it starts, here and in every process that is started from here."""


@pytest.fixture
def blocked(tmp_path: Path) -> dict[str, str]:
    write(tmp_path / "sitecustomize.py", BLOCKER)
    path = os.pathsep.join(filter(None, [str(tmp_path), str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    probe = [sys.executable, "-c", "import scipy"]
    found = subprocess.run(probe, check=False, env=environment, capture_output=True)
    assert b"No module named 'scipy'" in found.stderr
    return environment


def australis(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "australis.app.cli", *arguments]
    return subprocess.run(
        command, check=False, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("run", [("--runner", "light"), ("--engine", "kernels")])
def test_networks_run(blocked: dict[str, str], run: tuple[str, str]) -> None:
    source = "reports=examples/soldiers/in/reports.csv"
    network = ("run", "examples/soldiers.yaml", "-i", source, "-o", "alarms=-", "--flush")
    done = australis(blocked, *network, *run)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (ROOT / "examples" / "soldiers" / "out" / "alarms.csv").read_text()


def test_simulations_run(blocked: dict[str, str]) -> None:
    done = australis(blocked, "simulate", "eddies", "--table", "4.10", "--processes", "1")
    assert done.returncode == 0, done.stderr


def test_what_needs_it_says_what_to_install(blocked: dict[str, str]) -> None:
    done = australis(blocked, "simulate", "eddies", "--table", "model")
    assert done.returncode == 1
    assert done.stderr == (
        "australis: scipy: the best routing is searched with SciPy, which is not installed; "
        "expected pip install 'australis[simulation]'\n"
    )
