"""Starts Spark quietly: output of the JVM and the workers goes to a log, shown only if they do not start."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from australis.engine import MASTER
from australis.errors import AustralisError, EngineError, Problem

LOG = "spark.log"
_LINES = 8
_log = logging.getLogger(__name__)
_STDERR = 2


@contextmanager
def quietly(folder: Path | None, master: str = MASTER) -> Iterator[None]:
    """Redirect the output of processes started inside to `spark.log` in a folder, or to a temporary file."""
    with _open_log(folder) as log:
        kept = os.dup(_STDERR)
        os.dup2(log.fileno(), _STDERR)
        try:
            yield
        except AustralisError:
            raise
        except Exception as error:
            what = f"did not start: {error}{_read_tail(log)}"
            raise EngineError(Problem(*_expected(what, master))) from error
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)


def _expected(what: str, master: str) -> tuple[str, str, str]:
    """Where it failed, how, and what is needed: Java for a local Spark, else a master."""
    if master.startswith("local"):
        return "Spark", what, "a Java 17 or 21 that runs here"
    return master, f"Spark {what}", "a Spark master of the same version, which accepts the application"


def _open_log(folder: Path | None) -> IO[bytes]:
    if folder is None:
        return tempfile.TemporaryFile()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return open(folder / LOG, "ab+")
    except OSError as error:
        _log.warning("what Spark says is not kept in %s: %s", folder, error)
        # A missing log stops no work; the node reports what is wrong with the folder.
        return tempfile.TemporaryFile()


def _read_tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return "".join(f"\n    {line}" for line in lines[-_LINES:])
