"""One side in its own process, which stays warm: jobs and results are lines of JSON.

`python -m benchmarks.qos.worker SIDE SCRATCH`: `australis`, or for Structured Streaming `FIFO`, `FAIR`,
`one query` or `two queries`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

OURS = "australis"
MARK = "result: "

Job = dict[str, Any]


class Worker:
    """A process that does one job after another."""

    def __init__(self, side: str, scratch: Path) -> None:
        self._side = side
        command = [sys.executable, "-m", "benchmarks.qos.worker", side, str(scratch)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def do(self, what: str, **job: Any) -> Any:
        """The result of a job."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"what": what, **job}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(MARK):
                return json.loads(line.removeprefix(MARK))
        raise SystemExit(f"{self._side} ended with {self._process.wait()} in {what}: see above")


def _jobs(side: str, scratch: Path) -> dict[str, Callable[[Job], Any]]:
    """The jobs that a side can do; importing it determines its Spark."""
    if side == OURS:
        from benchmarks.qos import approximation, ours, semantic, stocks  # noqa: PLC0415

        ours.begin()
        return {
            "capacity": ours.capacity,
            "run": ours.run,
            "semantic": semantic.run,
            "approximation": approximation.run,
            "stocks": stocks.run,
        }
    from benchmarks.qos import theirs  # noqa: PLC0415

    spark, start = theirs.begin(side, scratch)
    return {
        "capacity": partial(theirs.capacity, spark=spark, start=start),
        "run": partial(theirs.run, spark=spark, start=start),
    }


def main() -> None:
    """Do jobs until there are no more."""
    side, scratch = sys.argv[1], Path(sys.argv[2])
    jobs = _jobs(side, scratch)
    for line in sys.stdin:
        job = json.loads(line)
        print(MARK + json.dumps(jobs[job["what"]](job)), flush=True)


if __name__ == "__main__":
    main()
