"""A static analysis as a table and sentences for the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from math import isclose

import click
from rich.console import Console
from rich.table import Table

from australis.app.checking import CapacityReport
from australis.app.showing.statistics_tables import NOTHING, columns
from australis.policy.analysis import Analysis, Load, Verdict

WIDTH_OF_FILES = 120


def show_capacity(answer: CapacityReport) -> None:
    """Print an analysis; its notes go to standard error."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_FILES
    console = Console(highlight=False, width=width)
    console.print()
    console.print(table(answer.analysis))
    console.print()
    for sentence in sentences(answer):
        click.echo(sentence)
    for warning in warnings(answer):
        click.echo(f"warning: {answer.network.name}.{warning}", err=True)
    for note in answer.notes:
        click.echo(f"note: {note}", err=True)


def table(found: Analysis) -> Table:
    """Input by input, box by box, output by output: rates, cost, selectivity, need."""
    held_back = any(_is_held_back(load) for load in (*found.boxes.values(), *found.outputs.values()))
    headers = ("box", "in/s", "out/s", "µs/tuple", "selectivity", "cores")
    made = columns(*headers, *(("possible out/s",) if held_back else ()))
    for name, load in found.inputs.items():
        made.add_row(f"{name} (input)", NOTHING, *_cells(load, held_back, is_box=False))
    for name, load in found.boxes.items():
        made.add_row(name, _rate(load.received), *_cells(load, held_back, is_box=True))
    for name, load in found.outputs.items():
        made.add_row(f"{name} (output)", _rate(load.received), *_cells(load, held_back, is_box=False))
    if found.node.tuple_us:
        made.add_row(
            "trains and commits", _rate(found.node.received), *_cells(found.node, held_back, is_box=False)
        )
    return made


def _is_held_back(load: Load) -> bool:
    return not isclose(load.emitted, load.emitted_possible, rel_tol=1e-6)


def _cells(load: Load, held_back: bool, is_box: bool) -> Iterator[str]:
    yield _rate(load.emitted)
    yield f"{load.tuple_us:.3f}"
    yield f"{load.selectivity:.4g}" if is_box and load.selectivity is not None else NOTHING
    yield f"{load.cores:.3f}"
    if held_back:
        yield _rate(load.emitted_possible)


def _rate(rate: float) -> str:
    """Tuples per second.

    >>> _rate(20_000), _rate(3.14159), _rate(0.0)
    ('20,000', '3.1', '0')
    """
    return f"{rate:,.0f}" if rate >= 100 or rate == 0 else f"{rate:,.1f}" if rate >= 0.1 else f"{rate:.2g}"


def sentences(answer: CapacityReport) -> Iterator[str]:
    """The verdict, the bottleneck, and what would have to be shed."""
    found = answer.analysis
    yield _verdict(answer.network.name, found)
    if found.bottleneck:
        load = found.boxes[found.bottleneck]
        most = found.machine.cores_of(found.bottleneck)
        yield f"  bottleneck  {found.bottleneck}: {load.cores:.3f} of the {_cores(most)} that it can have"
    for group in found.crowded:
        need = sum(found.boxes[box].cores for box in group)
        yield f"  crowded     {', '.join(group)}: one partition, and so one core, for {need:.3f}"
    if answer.shedding is not None:
        yield f"  too much    {_cores(found.excess)}, which is {found.shed:.1%} of every input"
        yield from _shedding(answer)


def _verdict(name: str, found: Analysis) -> str:
    have, need = _cores(found.machine.capacity), f"{found.min_cap:.3f}"
    if found.verdict is Verdict.OVERLOADED:
        return f"{name} is overloaded: it needs {need} of {have}"
    if found.verdict is Verdict.TIGHT:
        room = f"a headroom of {found.machine.headroom:g} leaves {found.machine.steady:.3f}"
        return f"{name} fits, without room for ad hoc queries: it needs {need} of {have}, and {room}"
    return f"{name} fits: it needs {need} of {have}"


def _cores(number: float) -> str:
    return "1 core" if number == 1 else f"{number:.3g} cores"


def _shedding(answer: CapacityReport) -> Iterator[str]:
    """What the shedder would do."""
    assert answer.shedding is not None
    for stage, box in answer.shedding.boxes.items():
        yield f"  to shed     {box.rate:.1%} of what comes to {stage}"
    for output, fraction in answer.shedding.delivered.items():
        if fraction < 1:
            lost = answer.shedding.lost.get(output, 0.0)
            yield f"              {output} gets {fraction:.1%}, which costs {lost:.3g} of utility"
    if answer.shedding.missing:
        left = _cores(answer.shedding.missing)
        yield f"  not to shed {left}: what else there is leads to outputs without a loss or value graph"


def warnings(answer: CapacityReport) -> Iterator[str]:
    """What the graphs require and the machine cannot deliver."""
    for delay in answer.analysis.infeasible:
        yield (
            f"{delay.output} can never be in its good zone, which ends at {delay.delta_s:g} s: a train and "
            f"{' > '.join(delay.path)} take {delay.least_s:.3g} s, {delay.least_s - delay.delta_s:.3g} s more"
        )
