"""A small disk in memory, to be filled, freed and made read-only; it goes with the process that uses it."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 4096
# A process that uses the disk may still hold a file open: the disk goes when it lets go.
_KEEPER = """
mount -t tmpfs -o "size=$2" tmpfs "$1" 2>/dev/null && echo mounted && cat && umount --lazy "$1"
rmdir "$1"
"""


@dataclass(frozen=True)
class Disk:
    """A disk that is mounted at a path."""

    path: Path

    def remount(self, option: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{option}", str(self.path)], check=True)

    def fill(self) -> None:
        """Leave no block free."""
        with open(self._filler, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * _BLOCK)

    def free(self) -> None:
        """Take back what filled it."""
        self._filler.unlink()

    @property
    def _filler(self) -> Path:
        return self.path / "filler"


@contextlib.contextmanager
def small_disk(size: int) -> Iterator[Disk | None]:
    """A disk of so many bytes, where this process may mount one.

    A process of its own unmounts it when its standard input ends, so the disk goes even if this process is
    killed. It is not below pytest's folder, which pytest could not remove while the disk is there.
    """
    path = tempfile.mkdtemp(prefix="australis-disk-")
    command = ["sh", "-c", _KEEPER, "sh", path, str(size)]
    pipe = subprocess.PIPE
    # In a session of its own, it outlives Ctrl-C.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as keeper:
        assert keeper.stdout is not None
        yield Disk(Path(path)) if keeper.stdout.readline() else None
