"""One side of one case, in its own process: `python -m benchmarks.engine.worker JOB`, a JSON text.

A case of throughput serves passes (`benchmarks.turns`); any other job is done once, and ends with JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import locks
from benchmarks.engine.cases import THROUGHPUT, Case, case_named
from benchmarks.engine.tuning import Tuning
from benchmarks.turns import Outcome, Run, serve

OURS, THEIRS, LIGHT = "australis", "streaming", "light"


def command(side: str, case: Case, inputs: Path) -> list[str]:
    """What starts a process that serves passes of a case."""
    job = {"side": side, "case": case.name, "inputs": str(inputs)}
    return [sys.executable, "-m", "benchmarks.engine.worker", json.dumps(job)]


def in_process(job: dict[str, Any]) -> Any:
    """The result of a job, done in a fresh process."""
    arguments = [sys.executable, "-m", "benchmarks.engine.worker", json.dumps(job)]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=None, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job['side']} of {job['case']} ended with {done.returncode}: see above")
    return json.loads(done.stdout.splitlines()[-1])


def _passes(side: str, case: Case, inputs: Path) -> Run:
    """What does passes of a case; each side imports only what it needs."""
    if side == THEIRS:
        from benchmarks.engine import streaming  # noqa: PLC0415

        spark = streaming.session()

        def tuned(root: Path, tuning: Any) -> Outcome:
            return streaming.Runner(spark, case, inputs, Tuning(**tuning)).run(root)

        return tuned
    from benchmarks.engine import australis_side  # noqa: PLC0415

    runner = australis_side.Runner(case, inputs, australis_side.RUNNERS[side])
    return lambda root, _: runner.run(root)


def _once(job: dict[str, Any]) -> None:
    from benchmarks.engine import delay, floor, quiet  # noqa: PLC0415

    jobs: dict[str, Callable[[dict[str, Any]], Any]] = {
        "delay": delay.run,
        "floor": floor.run,
        "quiet": quiet.run,
    }
    begin = time.perf_counter()
    made = jobs[job["case"]](job)
    print(f"    {job['side']} of {job['case']}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    print(json.dumps(made))


def main() -> None:
    """Serve passes, or do a job and print its result."""
    locks.watch_here()
    job: dict[str, Any] = json.loads(sys.argv[1])
    if job["case"] in {case.name for case in THROUGHPUT}:
        serve(lambda: _passes(job["side"], case_named(job["case"]), Path(job["inputs"])))
    else:
        _once(job)


if __name__ == "__main__":
    main()
