"""Processes that are drivers on the cluster, one Spark application each."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.spark_cluster.standalone import HOST


@contextmanager
def child(module: str, folder: Path, *arguments: str) -> Iterator[Iterator[str]]:
    """The lines that a module says which runs by itself; where it fails, the error has its last words."""
    errors = folder / "errors"
    with open(errors, "w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, "SPARK_LOCAL_IP": HOST},
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    assert process.stdout is not None
    try:
        with process.stdout as lines:
            yield (line.strip() for line in lines)
        assert process.wait() == 0
    except AssertionError as error:
        error.add_note(errors.read_text()[-4000:])
        raise
    finally:
        process.kill()
        process.wait()
