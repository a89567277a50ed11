"""What a run has lost, by output and by place: late, shed and quarantined; and the warning at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from australis.algebra.network import QUARANTINE
from australis.app.showing.losses import Loss
from australis.app.showing.statistics_tables import NOTHING, count, milliseconds, worth
from australis.engine.files import STANDARD_STREAM
from australis.errors import EngineError, Problem

_HEADERS = (
    "output",
    "tuples",
    "late",
    "shed",
    "quarantined",
    "waiting",
    "delivered",
    "delay p95",
    "utility",
)


@dataclass(frozen=True)
class OutputResult:
    """What an output received in a run, and what it lost."""

    tuples: int
    late: int = 0
    shed: int | None = None
    """None if nothing is ever shed."""
    quarantined: int = 0
    fraction: float = 1.0
    waiting: int | None = None
    delay_ms_p95: float | None = None
    utility: float | None = None
    weight: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost upstream of it."""
        return not (self.late or self.shed or self.quarantined)

    def as_dict(self) -> dict[str, Any]:
        """Its losses for `--json`."""
        known = {"late": self.late, "shed": self.shed or 0, "quarantined": self.quarantined}
        waiting = {} if self.waiting is None else {"waiting": self.waiting}
        return {**known, **waiting, "fraction": round(self.fraction, 6)}

    def lost(self) -> str:
        """Its losses in words."""
        kinds = {"late": self.late, "shed": self.shed, "quarantined": self.quarantined}
        return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)


def result_lines(results: Mapping[str, OutputResult]) -> Iterator[str]:
    """The outputs of a run as a table; columns without known values are left out."""
    rows = [_HEADERS, *(_cells(name, each) for name, each in results.items())]
    places = [place for place in range(len(_HEADERS)) if any(row[place] != NOTHING for row in rows[1:])]
    widths = {place: max(len(row[place]) for row in rows) for place in places}
    for row in rows:
        first, *others = places
        cells = [f"{row[first]:<{widths[first]}}", *(f"{row[place]:>{widths[place]}}" for place in others)]
        yield f"  {'  '.join(cells)}"


def _cells(name: str, each: OutputResult) -> tuple[str, ...]:
    numbers = (each.tuples, each.late, each.shed, each.quarantined, each.waiting)
    delivered, delay = f"{each.fraction:.1%}", milliseconds(each.delay_ms_p95)
    return (name, *map(count, numbers), delivered, delay, worth(each.utility, each.weight))


@dataclass(frozen=True)
class RunLosses:
    """Everything that a run has lost."""

    outputs: Mapping[str, OutputResult]
    late: Mapping[str, int]
    """By box: tuples that came later than its order admits."""
    ignored: Mapping[str, int]
    """By box: tuples that came only for windows that had timed out."""
    shed: tuple[Loss, ...]
    quarantined: Mapping[str, int]
    """By box and by input."""
    reasons: Sequence[str] = ()
    """Why the first ones were quarantined."""
    file: str | None = None
    """Where the quarantine is written to."""
    root: str | None = None
    """Where the quarantine is kept."""

    def __bool__(self) -> bool:
        return bool(self.late or self.ignored or self.shed or self.quarantined)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """By kind and by place, for `--json`: a sum would count a tuple at each place where it was lost."""
        late = {
            box: self.late.get(box, 0) + self.ignored.get(box, 0) for box in {**self.late, **self.ignored}
        }
        shed: dict[str, int] = {}
        for each in self.shed:
            shed[each.superbox] = shed.get(each.superbox, 0) + each.shed
        return {"late": late, "shed": shed, "quarantined": dict(self.quarantined)}

    def refuse(self) -> None:
        """Raise an error if anything was lost, as --strict demands."""
        if self:
            raise EngineError(Problem("", "\n".join((f"{self._told()} (--strict)", *self.lines()))))

    def headline(self) -> str:
        """The first line of the warning."""
        return f"WARNING: {self._told()}"

    def _told(self) -> str:
        kinds = [_counted(kind, places) for kind, places in self.as_dict().items() if places]
        return f"this run lost tuples, so its results are incomplete: {', '.join(kinds)}"

    def lines(self) -> Iterator[str]:
        """The rest of it: which outputs are affected, where tuples were lost, and what to do."""
        for name, each in self.outputs.items():
            if not each.is_whole:
                yield f"  output {name}: {each.fraction:.1%} delivered, {each.lost()}"
        for box, number in self.late.items():
            what = "came later than its order admits: raise its slack, or its input's"
            yield f"  {number:,} late at {box}: {_they(number)} {what}"
        for box, number in self.ignored.items():
            what = "came after the windows had timed out: raise its timeout"
            yield f"  {number:,} late at {box}: {_they(number)} {what}"
        for loss in self.shed:
            where = f"{loss.superbox} (for {', '.join(loss.outputs) or 'no output'})"
            what = "more came than could be processed in time; use more cores, a lower rate, or --no-shed"
            yield f"  {loss.shed:,} of {loss.arrived:,} shed at {where}: {what}"
        yield from self._quarantine_lines()

    def _quarantine_lines(self) -> Iterator[str]:
        advice = f"--output {QUARANTINE}=FILE keeps them"
        if self.root is not None:
            advice = f"kept in {self.root}, and --output {QUARANTINE}=FILE writes them"
        where = (
            advice
            if self.file is None
            else f"see {'standard output' if self.file == STANDARD_STREAM else self.file}"
        )
        for place, number in self.quarantined.items():
            yield f"  {number:,} quarantined at {place}: {where}"
        if self.file is None:
            yield from (f"    {reason}" for reason in self.reasons)
            more = sum(self.quarantined.values()) - len(self.reasons)
            if self.reasons and more > 0:
                yield f"    ... and {more:,} more"


def _counted(kind: str, places: Mapping[str, int]) -> str:
    """How many were lost; the same tuple may be lost at several places, so these are not added up."""
    if len(places) > 1:
        return f"{kind} at {len(places)} places"
    return f"{next(iter(places.values())):,} {kind}"


def _they(number: int) -> str:
    return "it" if number == 1 else "they"
