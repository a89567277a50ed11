"""The PEM files of identities: what a folder holds, written so that only its owner can read a key."""

from __future__ import annotations

import os
from pathlib import Path

from australis.errors import ClusterError, Problem

KEY, REQUEST, CERTIFICATE = "key.pem", "request.pem", "certificate.pem"
AUTHORITY = "authority.pem"
AUTHORITIES = "authorities"
"""The folder of the authorities that are trusted, a file for each participant."""


def write_new(path: Path, content: bytes, *, is_secret: bool = False) -> None:
    """Write a file that is not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if is_secret else 0o644
    try:
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        problem = Problem(str(path), "is there already", "another folder: a key is never overwritten")
        raise ClusterError(problem) from None
    except OSError as error:
        raise ClusterError(Problem(str(path), f"cannot be written: {error.strerror}")) from error


def replace(path: Path, content: bytes) -> None:
    """Write a file in place of another one, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    write_new(draft, content)
    draft.replace(path)


def read(path: Path, what: str) -> bytes:
    """The content of a file; `what` it should be is named if it is not there."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ClusterError(Problem(str(path), f"cannot be read: {error.strerror}", what)) from error
