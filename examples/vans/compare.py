"""Run the vans, kill the node while reports arrive, and compare every output with SQL in DuckDB.

At each rate, reports.py writes reports into a folder as time passes, and `australis run` follows it. The node
and its workers are killed while reports arrive, and the same command is started again. When every van has
fallen silent, the streams are flushed. expected.sql says over the same files what each output has to hold.

    python examples/vans/compare.py
    python examples/vans/compare.py --vans 200 --rate 600 --times 1 --duration 8 --speed 60 --timeout 12

The last line is JSON. `missing` are results that should be there and are not, `doubled` those that are there
more than once, `wrong` those that are no results or differ in a value. `reduced` are results of the two
outputs that tolerate loss: they miss reports, as many as the node has counted as shed, late or ignored.
DuckDB comes with the extra `dev`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from expected import KEYS, Expected, lost
from reports import write_vans
from vans import network

import australis

HERE = Path(__file__).resolve().parent
AUSTRALIS = [sys.executable, "-m", "australis.app.cli"]
WAIT_S_MAX = 300.0
COUNTS = ("missing", "doubled", "wrong", "reduced")


@dataclass(frozen=True)
class Trial:
    """What is tried: so many vans, so fast, for so long."""

    folder: Path
    vans: int
    tuples_per_s: float
    duration_s: float
    speed: float
    timeout_s: float
    kills: int
    options: tuple[str, ...]
    seed: int

    def prepare(self) -> None:
        """Write the network with the timeouts of this trial and the table of vans; no report has arrived."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        # A window takes reports for as long as it lasts for the vans; its timeout is longer by that.
        timeouts_s = (self.timeout_s + vans_s / self.speed for vans_s in (60, 300, 0))
        built = network(*map(_milliseconds, timeouts_s))
        (self.folder / "vans.yaml").write_text(australis.dumps(built, ".yaml"))
        (self.folder / "incoming").mkdir()
        write_vans(self.folder, self.vans, self.seed)


def _milliseconds(seconds: float) -> str:
    return f"{round(1000 * seconds)} ms"


class DownTooLongError(Exception):
    """The node was down for so long that vans timed out although they reported: nothing can be compared."""

    def __init__(self, down_s: float, timeout_s: float) -> None:
        super().__init__(f"the node was down for {down_s:.0f} s, and the timeout is {timeout_s:g} s")
        self.down_s = down_s


class ChildRun:
    """`australis run` in a process group of its own, with all that it starts."""

    def __init__(self, trial: Trial, *options: str) -> None:
        outputs = [f"--output={name}={name}.csv" for name in KEYS]
        command = [*AUSTRALIS, "run", "vans.yaml", "--input=reports=incoming/", "--root=root", *outputs]
        self._command = [*command, *trial.options, *options]
        self._folder = trial.folder

    def __enter__(self) -> ChildRun:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.has_ended:
            self.kill()

    @property
    def has_ended(self) -> bool:
        """Whether the node is no longer there."""
        return self._process.poll() is not None

    def start(self) -> None:
        """Start the node; the same command each time."""
        with (self._folder / "run.log").open("a") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        """End the node and its workers as a loss of power would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ask the node to stop, and wait until it has."""
        self._process.terminate()
        self._process.wait(WAIT_S_MAX)

    def finish(self) -> None:
        """Wait for the end of a run that ends by itself."""
        if code := self._process.wait(WAIT_S_MAX):
            raise RuntimeError(f"the run ended with {code}: see run.log")


def run_trial(trial: Trial) -> dict[str, Any]:
    """Run, kill, resume, flush; then compare."""
    trial.prepare()
    with ChildRun(trial, "--follow") as run, _writer(trial, run) as writer:
        _kill_meanwhile(trial, run)
        writer.wait()
        expected = Expected(trial.folder)
        _until(lambda: _lines(trial.folder / "silent.csv") > expected.count("silent"), run)
        run.stop()
    with ChildRun(trial, "--flush") as run:
        run.finish()
    return {"tuples": expected.count("reports"), "rate": trial.tuples_per_s, **_verdict(trial, expected)}


@contextmanager
def _writer(trial: Trial, run: ChildRun) -> Iterator[subprocess.Popen[bytes]]:
    """Reports that arrive as time passes, from when the node answers commands."""
    given = (
        f"--vans={trial.vans}",
        f"--rate={trial.tuples_per_s}",
        f"--duration={trial.duration_s}",
        f"--speed={trial.speed}",
        f"--seed={trial.seed}",
    )
    command = [sys.executable, str(HERE / "reports.py"), str(trial.folder), *given, "--live"]
    _until(lambda: _opened_ns(trial) > 0, run)
    writer = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield writer
    finally:
        writer.terminate()
        writer.wait()


def _kill_meanwhile(trial: Trial, run: ChildRun) -> None:
    """Kill the node at even distances while reports arrive, and start it again; each has done some work."""
    found = trial.folder / "nearly_empty.csv"
    _until(partial(_has_grown, found, 0), run)
    for number in range(1, trial.kills + 1):
        _until(partial(_has_files, trial.folder, trial.duration_s * number / (trial.kills + 1)), run)
        run.kill()
        killed, opened_ns = time.monotonic(), _opened_ns(trial)
        run.start()
        _until(lambda: _opened_ns(trial) > opened_ns, run)  # noqa: B023
        down_s = time.monotonic() - killed
        if down_s + 3 > trial.timeout_s:  # the last file before the kill may be a second old
            raise DownTooLongError(down_s, trial.timeout_s)


def _until(happened: Callable[[], bool], run: ChildRun) -> None:
    """Wait for what other processes do in their own time."""
    deadline = time.monotonic() + WAIT_S_MAX
    while not happened():
        if run.has_ended:
            raise RuntimeError("the run ended before its time: see run.log")
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing happened for {WAIT_S_MAX:.0f} s: see run.log")
        time.sleep(0.05)


def _opened_ns(trial: Trial) -> int:
    """When a node last began to answer commands on the root; 0 if none has."""
    file = trial.folder / "root" / "control.json"
    return file.stat().st_mtime_ns if file.exists() else 0


def _has_files(folder: Path, least: float) -> bool:
    """Whether so many files of reports have arrived."""
    return len(list((folder / "incoming").glob("*.jsonl"))) >= least


def _has_grown(file: Path, size: int) -> bool:
    return _size(file) > size


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _verdict(trial: Trial, expected: Expected) -> dict[str, Any]:
    """The comparison of all outputs, what the node counted, and how late its alarms were."""
    stats = [*AUSTRALIS, "stats", "root", "--json"]
    counted = json.loads(subprocess.run(stats, cwd=trial.folder, check=True, capture_output=True).stdout)
    compared = {name: expected.compare(name, lost(name, counted)).form() for name in KEYS}
    return {
        "kills": trial.kills,
        **{what: sum(each[what] for each in compared.values()) for what in COUNTS},
        **{what: sum(box[what] for box in counted["boxes"].values()) for what in ("late", "ignored")},
        "shed": sum(counted["shed"].values()),
        "quarantined": counted["outputs"]["quarantine"]["tuples"],
        "speeding_delay_ms_p50": counted["outputs"]["speeding"]["delay_ms_p50"],
        "speeding_delay_ms_p95": counted["outputs"]["speeding"]["delay_ms_p95"],
        "outputs": compared,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the outputs of the vans with DuckDB, across kills.")
    parser.add_argument("--vans", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=5000, help="reports a second")
    parser.add_argument(
        "--times", type=float, nargs="+", default=[1, 5], help="multiples of the rate, in turn"
    )
    parser.add_argument("--duration", type=float, default=60, help="for how many seconds reports arrive")
    parser.add_argument("--speed", type=float, default=10, help="seconds of the vans' time in one second")
    parser.add_argument("--timeout", type=float, default=30, help="seconds after which a van is silent")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--runner", default="light")
    parser.add_argument("--headroom", type=float, default=1.0, help="a small one lets the node shed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where everything is kept; it is emptied first")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # nodes and writers end with this script
    with tempfile.TemporaryDirectory() as scratch:
        runs = [_run(given, times, (given.folder or Path(scratch)) / f"{times:g}x") for times in given.times]
    totals = {what: sum(run[what] for run in runs) for what in ("tuples", *COUNTS)}
    total = {"tuples": totals.pop("tuples"), "rate": max(given.times) * given.rate, "kills": given.kills}
    print(json.dumps({**total, **totals, "runs": runs}))
    sys.exit(1 if totals["missing"] or totals["doubled"] or totals["wrong"] else 0)


def _run(given: argparse.Namespace, times: float, folder: Path) -> dict[str, Any]:
    """One rate, and a line about it."""
    trial = Trial(
        folder,
        given.vans,
        given.rate * times,
        given.duration,
        given.speed,
        given.timeout,
        given.kills,
        (f"--runner={given.runner}", f"--headroom={given.headroom}"),
        given.seed,
    )
    found = _run_patiently(trial)
    print(json.dumps({name: value for name, value in found.items() if name != "outputs"}), flush=True)
    return found


def _run_patiently(trial: Trial, tries: int = 3) -> dict[str, Any]:
    """Run a trial, and again with a longer timeout where this machine is too slow for it."""
    try:
        return run_trial(trial)
    except DownTooLongError as slow:
        if tries == 1:
            raise
        print(f"{slow}: trying again with a longer one", file=sys.stderr)
        longer = replace(trial, timeout_s=2 * slow.down_s + trial.timeout_s)
    return _run_patiently(longer, tries - 1)


if __name__ == "__main__":
    main()
