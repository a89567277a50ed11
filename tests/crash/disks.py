"""A small disk in memory: to be filled, freed and made read-only."""

from __future__ import annotations

import contextlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 4096


@dataclass(frozen=True)
class Disk:
    """A disk that can be mounted at a path by those who may."""

    path: Path
    size: int

    def mount(self) -> bool:
        """Whether it could be mounted."""
        self.path.mkdir(parents=True)
        return _ran("mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", str(self.path))

    def remount(self, option: str) -> None:
        assert _ran("mount", "-o", f"remount,{option}", str(self.path)), option

    def unmount(self) -> None:
        # A process may still hold a file open: the disk goes when it lets go.
        assert _ran("umount", "--lazy", str(self.path))

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


def _ran(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
