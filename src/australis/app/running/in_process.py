"""A run on an engine in this process: files in turns through the network, with a bar on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from australis.algebra.counters import Counters
from australis.algebra.network import Network
from australis.algebra.store import FileFormat
from australis.app.running.engines import start_engine
from australis.app.running.file_run import RunSetup, run
from australis.app.running.stopping import Stop
from australis.app.running.summary import Summary
from australis.app.running.tally import RunTally
from australis.app.running.whole_files import open_inputs, open_outputs, open_stores
from australis.app.showing import OutputResult
from australis.engine.files import Reader
from australis.engine.observe import InputStatistics, discards_upstream


@dataclass(frozen=True)
class RunRequest:
    """What to run, on whichever engine."""

    network: Network
    sources: Mapping[str, str]
    targets: Mapping[str, str]
    batch: int
    flush: bool
    strict: bool
    stream_format: str
    now: Callable[[], int]
    is_timed: bool = True
    """Whether the clock runs, so that delays can be measured."""
    formats: Mapping[str, FileFormat] = field(default_factory=dict)
    """How the files of inputs are written, where another way is asked for than the network says."""

    def format(self, name: str) -> FileFormat | None:
        """How the files of an input are written, if their names do not say it."""
        return self.formats.get(name, self.network.inputs[name].format)


def run_in_process(job: RunRequest, engine: str, stop: Stop) -> Summary:
    """Run a job on an engine in this process."""
    ordered = {name: job.sources[name] for name in job.network.inputs if name in job.sources}
    with (
        open_inputs(job.network, ordered, job.stream_format, job.formats) as files,
        open_stores(job.network) as stores,
    ):
        readers = files | stores
        started = start_engine(engine, job.network)
        with open_outputs(job.network, job.targets, job.stream_format, stop) as writers:
            plan = RunSetup(job.network, started, readers, writers, job.batch, job.flush, job.strict, job.now)
            summary = _run(plan, engine, job.targets, stop)
            if job.strict:
                summary.losses.refuse()
            return summary


def _run(plan: RunSetup, engine: str, targets: Mapping[str, str], stop: Stop) -> Summary:
    began = time.perf_counter()
    with _progress(plan.readers) as progressed:

        def heard(tuples: int) -> None:
            stop.check()
            progressed(tuples)

        tally = run(plan, heard)
    notes = tuple(note for reader in plan.readers.values() for note in reader.notes)
    seconds = time.perf_counter() - began
    counters = plan.engine.counters()
    results = _results(plan.network, tally, counters)
    return Summary(
        plan.network, engine, seconds, tally, targets, counters, plan.flush, notes, results=results
    )


def _results(network: Network, tally: RunTally, counters: Mapping[str, Counters]) -> dict[str, OutputResult]:
    """What each output received, and what was discarded upstream of it."""
    rejected = {name: tally.quarantined_at.get(f"{network.name}.{name}", 0) for name in network.inputs}
    inputs = {
        name: InputStatistics(tally.read[name] + tally.rejected[name], rejected[name])
        for name in network.inputs
    }
    lost = discards_upstream(network, counters, inputs)
    return {
        name: OutputResult(
            tally.written[name], each.late, quarantined=each.quarantined, fraction=each.fraction
        )
        for name, each in lost.items()
    }


@contextmanager
def _progress(readers: Mapping[str, Reader]) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal for how much of the files was read; nothing without a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda tuples: None
        return
    known = all(reader.size is not None for reader in readers.values())
    columns = (BarColumn(), TextColumn("{task.fields[tuples]:,} tuples"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("run", total=len(readers) if known else None, tuples=0)
        yield lambda tuples: progress.update(task, completed=_fraction(readers), tuples=tuples)


def _fraction(readers: Mapping[str, Reader]) -> float:
    return sum(reader.position() / reader.size for reader in readers.values() if reader.size)
