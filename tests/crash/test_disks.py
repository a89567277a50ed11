"""A disk of a test never outlives the test, since nobody could remove the folder that it is mounted in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash.disks import small_disk

HOLDER = """
import sys
from tests.crash.disks import small_disk
with small_disk(1 << 20) as disk:
    print(disk and disk.path, flush=True)
    sys.stdin.read()
"""


def test_a_disk_goes_with_the_process_that_asked_for_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as holder:
        assert holder.stdout is not None
        path = holder.stdout.readline().strip()
        if path == "None":
            pytest.skip("no right to mount a disk")
        assert Path(path).is_mount()
        holder.kill()
        # The keeper of the disk has inherited standard error: it has ended when that ends.
        assert holder.communicate()[1] == ""
    assert not Path(path).exists()


def test_a_disk_goes_after_its_block() -> None:
    with small_disk(1 << 20) as disk:
        if disk is None:
            pytest.skip("no right to mount a disk")
        disk.fill()
        assert disk.path.is_mount()
    assert not disk.path.exists()
