"""The experiment on placement, simulated: the effect of moving boxes, and how often they move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import click

from australis.app.pictures import Panel, Series, plotted
from australis.app.showing import print_table
from australis.sim.place import IN_TIME_S, VARIANTS, Compared, Placed, placed

WHAT: dict[str, tuple[str, str]] = {
    "in_time": (f"delivered within {IN_TIME_S:g} s", "{:.1%}"),
    "delivered": ("delivered by the end", "{:.1%}"),
    "delay_s": ("mean delay, s", "{:.2f}"),
    "traffic": ("traffic, bytes/s", "{:,.0f}"),
    "overloaded": ("sites overloaded", "{:.2f}"),
    "slides": ("slides", "{:.1f}"),
    "splits": ("splits", "{:.1f}"),
    "returns": ("boxes that returned", "{:.1f}"),
    "last_move_s": ("last move, s", "{:.0f}"),
}
"""What is shown, with its name and its format."""
DRAWN = ("slides", "slides and splits", "hasty")
"""What fits into one picture: without moves, delays are a hundred times as long."""


@dataclass(frozen=True)
class Report:
    """The report on placement."""

    found: Placed

    def as_dict(self) -> dict[str, object]:
        """For `--json`, without what is only drawn."""
        found = asdict(self.found)
        del found["curves"]
        return found


def runs_of(runs: int) -> int:
    """The number of runs."""
    return runs * len(VARIANTS)


def make_report(seed: int, runs: int, done: Callable[[int], object]) -> Report:
    """Run all variants."""
    return Report(placed(seed, runs, done))


def print_report(report: Report) -> None:
    """Print the report as a table, and the moves of the first run."""
    found = report.found
    click.echo(
        f"Four regions, eight sites, 40 minutes; means over {found.runs} runs from seed {found.seed}\n"
    )
    rows = [[text, *_row(list(found.variants.values()), name, form)] for name, (text, form) in WHAT.items()]
    print_table(["", *found.variants], rows, names=1)
    click.echo("\nSlides and splits, the first run:\n")
    for second, move in found.moves["slides and splits"]:
        click.echo(f"  {second:4.0f} s: {move}")


def _row(variants: list[Compared], name: str, form: str) -> list[str]:
    return [form.format(getattr(each, name)) for each in variants]


def plots(report: Report) -> dict[str, str]:
    """Pictures as SVG, by the names of their files."""
    curves = report.found.curves
    panels = [
        Panel("Nothing moves", "minutes", "mean delay, s", (_line("still", curves["still"]),)),
        Panel("Boxes move", "minutes", "mean delay, s", tuple(_line(name, curves[name]) for name in DRAWN)),
        Panel("Moves", "minutes", "so far", tuple(_line(name, _so_far(report, name)) for name in DRAWN)),
    ]
    return {"placement.svg": plotted(panels)}


def _so_far(report: Report, name: str) -> tuple[tuple[float, float], ...]:
    """The number of moves over time, up to the end."""
    seconds = [second for second, _ in report.found.moves[name]]
    last = report.found.curves[name][-1][0]
    steps = [(at, float(count)) for before, at in enumerate(seconds) for count in (before, before + 1)]
    return ((0.0, 0.0), *steps, (last, float(len(seconds))))


def _line(name: str, points: tuple[tuple[float, float], ...]) -> Series:
    return Series(name, tuple((second / 60, delay) for second, delay in points))
