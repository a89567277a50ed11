"""One side of one case, in its own process: `python -m benchmarks.engine.worker JOB`, a JSON text.

Its last line is JSON too: a list of the time and result of each pass.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import locks
from benchmarks.engine import australis_side, delay, floor, quiet, streaming
from benchmarks.engine.cases import Case, case_named
from benchmarks.engine.digest import Digest, as_json, from_json
from benchmarks.engine.processes import cpu_seconds
from benchmarks.engine.tuning import Tuning

OURS, THEIRS, LIGHT = "australis", "streaming", "light"


@dataclass(frozen=True)
class Pass:
    """One pass of all tuples through a case."""

    seconds: float
    cpu_seconds: float
    """CPU time, including the JVM and Python workers: it depends less on what else the machine does."""
    how: str
    digests: dict[str, Digest]


def passes(
    side: str, case: Case, inputs: Path, scratch: Path, *, tunings: list[Tuning], timed: int
) -> list[Pass]:
    """A fresh process's passes over a case: first the warm-up, then the timed ones, for each tuning."""
    job = {
        "side": side,
        "case": case.name,
        "inputs": str(inputs),
        "scratch": str(scratch),
        "tunings": [asdict(tuning) for tuning in tunings],
        "timed": timed,
    }
    return [Pass(**{**made, "digests": from_json(made["digests"])}) for made in in_process(job)]


def in_process(job: dict[str, Any]) -> Any:
    """The result of a job, run in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.engine.worker", json.dumps(job)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=None, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job['side']} of {job['case']} ended with {done.returncode}: see above")
    return json.loads(done.stdout.splitlines()[-1])


def _throughput(job: dict[str, Any]) -> list[dict[str, Any]]:
    case, inputs, scratch = case_named(job["case"]), Path(job["inputs"]), Path(job["scratch"])
    made = []
    for number, (how, run) in enumerate(_runs(job, case, inputs)):
        root = scratch / f"{job['side']}-{case.name}-{number}"
        made.append(_measured(how, run, root))
        shutil.rmtree(root, ignore_errors=True)
        print(f"    {job['side']}, {how}: {made[-1]['seconds']:.1f} s", file=sys.stderr, flush=True)
    return made


Run = Callable[[Path], tuple[float, dict[str, Digest]]]


def _runs(job: dict[str, Any], case: Case, inputs: Path) -> list[tuple[str, Run]]:
    """The runs, the warm-up first."""
    if job["side"] == OURS:
        australis_side.session()
        return [("node", lambda root: australis_side.run(case, inputs, root))] * (job["timed"] + 1)
    runner = streaming.Runner(streaming.session(), case, inputs)
    tunings = [Tuning(**tuning) for tuning in job["tunings"]]
    chosen = [tunings[0], *(tuning for tuning in tunings for _ in range(job["timed"]))]
    return [(str(tuning), partial(runner.run, tuning)) for tuning in chosen]


def _measured(how: str, run: Run, root: Path) -> dict[str, Any]:
    used = cpu_seconds()
    # The digests are computed outside of the wall time, but count as CPU time, equally for both sides.
    seconds, digests = run(root)
    return {"seconds": seconds, "cpu_seconds": cpu_seconds() - used, "how": how, "digests": as_json(digests)}


Job = Callable[[dict[str, Any]], Any]
JOBS: dict[str, Job] = {"delay": delay.run, "floor": floor.run, "quiet": quiet.run}


def main() -> None:
    """Run a job and print its result."""
    locks.watch_here()
    job: dict[str, Any] = json.loads(sys.argv[1])
    begin = time.perf_counter()
    run: Job = JOBS.get(job["case"], _throughput)
    made = run(job)
    print(f"    {job['side']} of {job['case']}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    print(json.dumps(made))


if __name__ == "__main__":
    main()
