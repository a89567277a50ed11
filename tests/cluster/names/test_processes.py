"""Nodes in processes of their own are killed, and no name is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_no_name_is_lost_when_two_are_killed_at_once_and_more_one_after_the_other() -> None:
    command = [sys.executable, "-m", "benchmarks.cluster.names"]
    few = ["--nodes", "7", "--names", "60", "--questions", "40"]
    done = subprocess.run([*command, *few], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["names_asked"] == found["names_asked_after_ten"] == 60
    assert found["names_hops"] <= 2
    lost = ("names_lost_before", "names_lost_at_once", "names_lost_after_ten")
    assert [found[each] for each in lost] == [0, 0, 0]
