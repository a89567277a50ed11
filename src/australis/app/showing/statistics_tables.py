"""Statistics of a node as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rich import box
from rich.table import Table
from rich.text import Text

from australis.algebra.quality import Since
from australis.engine.ledger import Entry
from australis.engine.observe import (
    BoxStatistics,
    InputMarkStatistics,
    OrderMarkStatistics,
    OutputStatistics,
    QualityReport,
    Statistics,
)
from australis.policy.limit import Losses

NOTHING = "-"
LOSSES = ("late", "shed", "quarantined")
"""What can happen to tuples that an output does not get."""
SHOWN = 0.005
"""Smaller losses of utility are not shown."""
_DELAYS = ("delay p50", "p95")


def columns(*headers: str, names: int = 1) -> Table:
    """An empty table: the first columns are names, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, header in enumerate(headers):
        is_name = index < names
        table.add_column(header, justify="left" if is_name else "right", no_wrap=is_name, overflow="fold")
    return table


def count(number: float | None) -> str:
    """A number of tuples."""
    return NOTHING if number is None else f"{number:,.0f}"


def milliseconds(delay_ms: float | None) -> str:
    """A time in a suitable unit.

    >>> milliseconds(3.21), milliseconds(85.4), milliseconds(12_345.0), milliseconds(None)
    ('3.2 ms', '85 ms', '12.3 s', '-')
    """
    if delay_ms is None:
        return NOTHING
    if delay_ms < 10:
        return f"{delay_ms:.1f} ms"
    return f"{delay_ms:,.0f} ms" if delay_ms < 1000 else f"{delay_ms / 1000:,.1f} s"


def length(seconds: float | None) -> str:
    """A length of time, which may be long or negative.

    >>> length(3.21), length(-0.5), length(600.0), length(1e6), length(None)
    ('3.2 s', '-0.5 s', '10.0 min', '11.6 days', '-')
    """
    if seconds is None:
        return NOTHING
    units = (("days", 86_400, 172_800), ("h", 3600, 7200), ("min", 60, 120), ("s", 1, 0))
    unit, size, _ = next(each for each in units if abs(seconds) >= each[2])
    return f"{seconds / size:,.1f} {unit}"


def worth(utility: float | None, weight: float | None) -> str:
    """A utility, out of the best possible.

    >>> worth(2.5, 3.0), worth(None, 3.0)
    ('2.50 of 3', '-')
    """
    return NOTHING if utility is None or weight is None else f"{utility:.2f} of {weight:g}"


def size(bytes_: float) -> str:
    """A number of bytes in a suitable unit.

    >>> size(512), size(2_000_000), size(1_536_000_000)
    ('512 B', '2 MB', '1.54 GB')
    """
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes_ >= least:
            return f"{bytes_ / least:.3g} {unit}"
    return f"{bytes_:.0f} B"


def room(statistics: Statistics) -> Text | None:
    """How much of the disk budget is used, and whether inputs wait for it; nothing without one."""
    if statistics.disk is None:
        return None
    used = f"{size(statistics.bytes + statistics.trash)} of {size(statistics.disk)} on disk"
    if statistics.trash:
        used += f", {size(statistics.trash)} of it trash"
    if statistics.held_back:
        return Text(f"inputs are held back: {used}", style="bold red")
    return Text(used)


def utility(report: QualityReport) -> Text:
    """The utility of all outputs together, in a line."""
    over = f" over the last {report.window_s} s"
    if not report.most:
        return Text(f"nothing was due{over}")
    return Text.assemble((f"utility {report.utility:.2f} of {report.most:g}", "bold"), over)


def limits(report: QualityReport) -> list[Text]:
    """What was possible, and how alike outputs were served: a line, or none if nothing is known of either."""
    parts = [] if report.limit is None else [limit(report.limit)]
    parts += [] if report.fairness is None else [f"fairness {report.fairness:.2f}"]
    return [Text("; ".join(parts))] if parts else []


def limit(found: Losses) -> str:
    """What was possible, and what of it was lost to what.

    >>> limit(Losses(7.0, scheduling=0.5, shed_late=0.0, shares=0.25, lateness=0.0))
    'at this load 7.00 is possible (lost: scheduling 0.50, shares 0.25)'
    """
    lost = [f"{name.replace('_', ' ')} {each:.2f}" for name, each in found.causes.items() if each >= SHOWN]
    told = f" (lost: {', '.join(lost)})" if lost else ""
    return f"at this load {found.bound:.2f} is possible{told}"


def boxes(statistics: Mapping[str, BoxStatistics]) -> Table:
    """Box by box, what it received and emitted, and at what cost."""
    table = columns("box", "in", "out", "selectivity", "cost per tuple", "late", "rejected")
    for name, each in statistics.items():
        selectivity = NOTHING if each.selectivity is None else f"{each.selectivity:.3f}"
        cost = NOTHING if each.cost_us is None else f"{each.cost_us:.2f} µs"
        table.add_row(
            name,
            count(each.received),
            count(each.passed),
            selectivity,
            cost,
            count(each.late),
            count(each.rejected),
        )
    return table


def outputs(statistics: Mapping[str, OutputStatistics], rates: Mapping[str, float] | None = None) -> Table:
    """Output by output, what left, how fast and how late, what waits or was lost upstream, and its utility.

    Kinds of losses that never occurred, what delays count from if that is the oldest tuple for all outputs,
    and the utility if no output has graphs, have no column.
    """
    lost = [kind for kind in LOSSES if any(getattr(each, kind) for each in statistics.values())]
    speed = [] if rates is None else ["per second"]
    is_worth = any(each.utility is not None for each in statistics.values())
    since = ["since"] if any(each.since != Since.OLDEST for each in statistics.values()) else []
    ends = [*(["delivered"] if lost else []), *_DELAYS, *since, *(["utility"] if is_worth else [])]
    table = columns("output", "tuples", *speed, *lost, "waiting", *ends)
    for name, each in statistics.items():
        table.add_row(
            name,
            count(each.tuples),
            *(() if rates is None else (count(rates.get(name, 0.0)),)),
            *(count(getattr(each, kind)) for kind in (*lost, "waiting")),
            *((f"{each.fraction:.1%}",) if lost else ()),
            *(milliseconds(delay) for delay in (each.delay_ms_p50, each.delay_ms_p95)),
            *((each.since,) if since else ()),
            *((worth(each.utility, each.weight),) if is_worth else ()),
        )
    return table


def qualities(report: QualityReport) -> Table:
    """Output by output, what it received in the last seconds, and its utility by each graph."""
    table = columns("output", "utility", "delay", "loss", "value", "delivered", "p95", "waits")
    for name, each in report.outputs.items():
        waits = None if each.waiting_s is None else each.waiting_s * 1000
        table.add_row(
            name,
            worth(each.utility, each.weight),
            *(
                NOTHING if part is None else f"{part:.2f}"
                for part in (each.by_delay, each.by_loss, each.by_value)
            ),
            f"{each.fraction:.1%}",
            milliseconds(each.delay_ms_p95),
            milliseconds(waits),
        )
    return table


def predicate(entry: Entry) -> str:
    """Which tuples a drop box sheds."""
    part = f"{entry.share:.1%} of " if entry.share < 1 else ""
    return f"{part}{entry.where or 'all'}"


def moment(at: int | None, form: str = "%H:%M:%S") -> str:
    """A time in UTC: the time of day, unless another format is given."""
    return NOTHING if at is None else datetime.fromtimestamp(at / 1e6, UTC).strftime(form)


def dropboxes(entries: Sequence[Entry], *, ended: bool = False) -> Table:
    """Drop boxes: where, since when (in UTC) and until when, by which predicate, and what they have shed."""
    until, form = (["until"], "%Y-%m-%d %H:%M:%S") if ended else ([], "%H:%M:%S")
    table = columns("no.", "drop box at", "sheds", "since", *until, "came", "shed", names=4 + len(until))
    for each in entries:
        table.add_row(
            str(each.number),
            f"{each.superbox} ({each.stream})",
            predicate(each),
            moment(each.since, form),
            *([moment(each.until, form)] if ended else []),
            count(each.arrived),
            count(each.shed),
        )
    for column in table.columns[2:-2]:
        column.no_wrap = False
    for column in table.columns[-2:]:
        column.no_wrap = True
    return table


def inputs(tuples: Mapping[str, int], rates: Mapping[str, float]) -> Table:
    """Input by input, what it received, and how fast."""
    table = columns("input", "tuples", "per second")
    for name, number in tuples.items():
        table.add_row(name, count(number), count(rates.get(name, 0.0)))
    return table


def marks(statistics: Mapping[str, InputMarkStatistics]) -> Table:
    """Input by input, how far its marks have come, and since when it is quiet (in UTC)."""
    table = columns("input", "marks of", "mark", "behind the clock", "quiet since", names=3)
    for name, each in statistics.items():
        quiet = moment(each.quiet_since, "%Y-%m-%d %H:%M:%S")
        table.add_row(name, each.on, _mark(each.mark), length(each.behind_s), quiet)
    return table


def orders(statistics: Sequence[OrderMarkStatistics]) -> Table:
    """The orders by progress, the mark that each has come to, and the input that holds it back."""
    table = columns("order by progress", "on", "mark", "held back by", names=4)
    for each in statistics:
        side = f" ({each.side})" if each.side else ""
        table.add_row(f"{each.box}{side}", each.on, _mark(each.mark), each.held_back_by)
    return table


def _mark(mark: object) -> str:
    return "none yet" if mark is None else str(mark)


def superboxes(statistics: Statistics) -> Table:
    """Superbox by superbox, what waits, and figures of its trains."""
    table = columns("superbox", "boxes", "waiting for it", "trains", "tuples per train", "train p50", names=2)
    for name, each in statistics.superboxes.items():
        table.add_row(
            name,
            ", ".join(each.boxes) or NOTHING,
            count(each.queue),
            count(each.trains),
            count(each.tuples_per_train),
            milliseconds(each.train_ms_p50),
        )
    table.columns[1].no_wrap = False
    return table


def arcs(kept: Mapping[str, int]) -> Table:
    """The tuples that arcs keep; those that keep none are left out."""
    table = columns("arc", "tuples kept")
    for name, number in kept.items():
        if number:
            table.add_row(name, count(number))
    return table
