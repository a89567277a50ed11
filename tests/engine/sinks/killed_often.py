"""Writes many tuples into a folder of parts, and is killed again and again while it does so.

After each kill it writes a line, and starts again when it gets one.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from tests.engine.sinks.crash_points import run

TUPLES = 3_000
STEP = 200
"""How many sequence numbers a part has: those of 60 tuples."""


def main(place: Path, seed: int) -> None:
    chance = random.Random(seed)
    while run(place, "out.parquet", STEP, 1, kill_at=chance.randrange(8, 110), count=TUPLES):
        print("killed", flush=True)  # noqa: T201
        sys.stdin.readline()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
