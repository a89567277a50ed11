"""The optima of the queueing model for the plans of the paper on distributed eddies, and its numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

import click

from australis.app.showing import print_table
from australis.policy.route import (
    DS3,
    DS3_RESOURCES,
    J3,
    S3,
    best_data_rate,
    best_response_time,
    best_shared_data_rate,
    best_shared_response_time,
)

S3_RATES = (200, 210, 220, 230, 240)
J3_RATE = 120
DS3_RATES = (200, 300, 400, 500)
NOTE = """\
MDR is the maximum data rate, ART the average response time, c13 the share of stream B that goes to op3 first.
DS3: the paper's numerical solution stopped short of the optimum, which sends tuples through op2, op1, op3."""


class Row(NamedTuple):
    """A number of the paper, and ours."""

    plan: str
    what: str
    paper: str
    ours: str


@dataclass(frozen=True)
class Model:
    """The model's results for the three plans."""

    s3_mdr: float
    s3_art: tuple[float, ...]
    """At the rates 200, 210, 220, 230 and 240."""
    j3_mdr: float
    j3_c13: float
    j3_art: float
    """At the rate 120."""
    ds3_mdr: float
    ds3_art: tuple[float, ...]
    """At the rates 200, 300, 400 and 500."""

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return asdict(self)

    def rows(self) -> list[Row]:
        """All numbers, with those of the paper's Tables 4.3 to 4.10 and 5.2."""
        return [
            Row("S3", "MDR", "243", f"{self.s3_mdr:.1f}"),
            *_times("S3", S3_RATES, (".14", ".18", ".25", ".43", "1.57"), self.s3_art),
            Row("J3", "MDR", "153", f"{self.j3_mdr:.1f}"),
            Row("J3", "c13 at MDR", ".24", _short(self.j3_c13)),
            *_times("J3", (J3_RATE,), (".08",), (self.j3_art,)),
            Row("DS3", "MDR", "570", f"{self.ds3_mdr:.1f}"),
            *_times("DS3", DS3_RATES, (".04", ".06", ".09", ".23"), self.ds3_art),
        ]


def compute() -> Model:
    """Find the best routing of each plan."""
    j3 = best_data_rate(J3)
    return Model(
        s3_mdr=best_data_rate(S3).value,
        s3_art=tuple(best_response_time(S3, rate).value for rate in S3_RATES),
        j3_mdr=j3.value,
        j3_c13=j3.weights["op1", "op3"],
        j3_art=best_response_time(J3, J3_RATE).value,
        ds3_mdr=best_shared_data_rate(DS3, DS3_RESOURCES).value,
        ds3_art=tuple(best_shared_response_time(DS3, rate, DS3_RESOURCES).value for rate in DS3_RATES),
    )


def print_report(model: Model) -> None:
    """Print the report as a table."""
    print_table(["plan", "what", "paper", "ours"], model.rows(), names=2)
    click.echo(f"\n{NOTE}")


def plots(model: Model) -> dict[str, str]:
    """The model has no pictures."""
    return {}


def _times(plan: str, rates: tuple[int, ...], paper: tuple[str, ...], ours: tuple[float, ...]) -> list[Row]:
    numbers = zip(rates, paper, ours, strict=True)
    return [Row(plan, f"ART at {rate}", printed, _short(time)) for rate, printed, time in numbers]


def _short(number: float) -> str:
    """A number as the paper prints it.

    >>> _short(0.1355), _short(1.5683)
    ('.14', '1.57')
    """
    return f"{number:.2f}".removeprefix("0")
