"""Kills a process that writes a sink at each of its system calls, starts it again, and says what it found.

Run as a program, in which nothing runs but this: every run of the sink is a fork of it, and a kill is real.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples

from australis.engine.files import open_reader
from australis.engine.sinks import PartLimits, parse_sink, write_out

CALLS = ("open", "pwrite", "fsync", "ftruncate", "replace", "mkdir", "unlink")
KILLED = 9
TUPLES = 18


def main(folder: Path, name: str, step_again: int, part_bytes: int) -> None:
    for point in count():
        place = folder / str(point)
        place.mkdir()
        if run(place, name, 20, part_bytes, kill_at=point) == 0:
            print(f"{point} points")  # noqa: T201
            return
        seen = take_parts(place / name)
        # The second run may be killed, too; its tables are cut elsewhere.
        run(place, name, step_again, part_bytes, kill_at=point % 7 + 3)
        seen += take_parts(place / name)
        assert run(place, name, step_again, part_bytes) == 0, f"point {point}: the last run failed"
        seen += found(place / name)
        assert seen == expected(), f"point {point}: {seen}"
        assert not list(place.rglob("*.part")), f"point {point}: something unfinished is left"
        shutil.rmtree(place)


def run(
    place: Path, name: str, step: int, part_bytes: int, kill_at: int | None = None, count: int = TUPLES
) -> int:
    """A run of the sink in a process of its own; gives how that ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        shelf = Shelf(place, tuples(count), step)
        if kill_at is not None:
            arm(kill_at, shelf)
        limits = PartLimits(part_bytes)
        write_out(shelf, parse_sink("out", str(place / name), SCHEMA, limits=limits))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        os._exit(1)
    os._exit(0)


def arm(kill_at: int, shelf: Shelf) -> None:
    """From here on count the calls, and die at one of them: before it, behind it, or in the middle."""
    calls = count()

    def armed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            number = next(calls)
            if number == kill_at:
                if real is os_pwrite:
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2], arguments[2])
                elif number % 2:
                    real(*arguments, **options)
                os._exit(KILLED)
            return real(*arguments, **options)

        return call

    os_pwrite = os.pwrite
    for name in CALLS:
        setattr(os, name, armed(getattr(os, name)))
    shelf.acknowledge = armed(shelf.acknowledge)  # type: ignore[method-assign]


def take_parts(path: Path) -> list[dict[str, Any]]:
    """What a reader sees of a folder of parts between two runs, and takes away."""
    if not path.is_dir():
        return []
    seen = found(path)
    for part in path.glob("part-*.parquet"):
        part.unlink()
    return seen


def found(path: Path) -> list[dict[str, Any]]:
    if path.is_dir():
        parts = sorted(path.glob("part-*.parquet"))
        return [row for part in parts for row in pq.read_table(part).to_pylist()]
    with open_reader(str(path), SCHEMA) as reader:
        return [row for batch in reader.batches() for row in batch.table.to_pylist()]


def expected() -> list[dict[str, Any]]:
    return tuples(TUPLES).select(list(SCHEMA.names)).to_pylist()  # type: ignore[no-any-return]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
