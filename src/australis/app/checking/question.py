"""The options of `australis check` about whether a network can handle the expected load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from australis.app.options import RATE_METAVAR

Command = TypeVar("Command", bound=Callable[..., Any])


def _finite(ctx: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN and infinity, which pass every range check."""
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.", ctx, option)
    return value


_OPTIONS = (
    click.option(
        "--rate",
        "rate",
        multiple=True,
        metavar=RATE_METAVAR,
        help="The rate of every input, or of the one that is named: 20000/s, 5k/s, 300/min, 1M/h. "
        "Repeatable.",
    ),
    click.option(
        "--capacity",
        type=click.FloatRange(min=0, min_open=True),
        callback=_finite,
        help="The number of cores. Default: those of this machine.",
    ),
    click.option(
        "--headroom",
        type=click.FloatRange(min=0, min_open=True, max=1),
        callback=_finite,
        default=1.0,
        show_default=True,
        help="The fraction of them that may be used in steady state; the rest is for ad hoc queries.",
    ),
    click.option(
        "--calibrate",
        multiple=True,
        metavar="NAME=FILE",
        help="Measure costs with the tuples of a file or generator:OPTIONS. Others are generated.",
    ),
    click.option(
        "--tuples",
        type=click.IntRange(min=1),
        default=500_000,
        show_default=True,
        help="How many tuples to measure with.",
    ),
    click.option(
        "--root", type=click.Path(path_type=Path), metavar="DIR", help="Use the costs that a node measured."
    ),
    click.option(
        "--costs",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Use the costs in a file: what --rate with --json has printed, or your own.",
    ),
    click.option(
        "--rehearse/--no-rehearse",
        default=True,
        show_default=True,
        help="Run the sample through a node on the light runner, too, and add what it needs besides boxes.",
    ),
    click.option(
        "--train-ms",
        type=click.FloatRange(min=0),
        callback=_finite,
        help="The fixed cost of a train. Default: from the node or the file, else 50.",
    ),
)


def analysis_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class CapacityQuestion:
    """The values of the options."""

    rate: tuple[str, ...]
    capacity: float | None
    headroom: float
    calibrate: tuple[str, ...]
    tuples: int
    root: Path | None
    costs: Path | None
    train_ms: float | None
    rehearse: bool

    @classmethod
    def asked(cls, ctx: click.Context, values: dict[str, Any]) -> CapacityQuestion | None:
        """The question that the options ask; None without --rate, which all other options need."""
        question = cls(**{field.name: values[field.name] for field in fields(cls)})
        if question.rate:
            return question
        for field in fields(cls):
            if ctx.get_parameter_source(field.name) is ParameterSource.COMMANDLINE:
                option = f"--{field.name.replace('_', '-')}"
                raise click.UsageError(f"{option} is for the analysis of a load: add --rate NAME=N/s")
        return None
