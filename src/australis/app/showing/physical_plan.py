"""How a network would run on Spark: superboxes, their stages, shuffles and state, the arcs between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text
from rich.tree import Tree

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.store import Store
from australis.app.pictures import notation_of
from australis.engine import spark
from australis.engine.tables import described
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import QUARANTINE_ARC, Arc, Discipline, Plan, Superbox, plan

SPARK_WAY = "spark"


@dataclass(frozen=True)
class JobStage:
    """Boxes that run together in the tasks of a job."""

    runs_as: str
    boxes: tuple[str, ...]
    fused_into_scan: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhysicalSuperbox:
    """A superbox as one Spark job per train."""

    id: str
    boxes: tuple[str, ...]
    spread_by: str
    keys: dict[str, tuple[str, ...]]
    """By input, the attributes whose values decide the partition."""
    reads: tuple[str, ...]
    tables: tuple[str, ...]
    stages: tuple[JobStage, ...]
    shuffles: int
    state: dict[str, int]
    """The boxes that keep state, and in how many partitions."""
    has_timeouts: bool
    writes: tuple[str, ...]


@dataclass(frozen=True)
class PhysicalArc:
    """A queue: which superboxes write and read it."""

    id: str
    schema: str
    writer: str | None
    readers: tuple[str, ...]
    outputs: tuple[str, ...]
    connection_points: tuple[str, ...]


@dataclass(frozen=True)
class PhysicalPlan:
    """A network cut into superboxes, and how each would run."""

    network: str
    discipline: str
    way: str
    partitions: int
    superboxes: tuple[PhysicalSuperbox, ...]
    arcs: tuple[PhysicalArc, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def physical_plan_of(network: Network, discipline: str, way: str, partitions: int) -> PhysicalPlan:
    """How a network would run.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 1", as_="some").output("y")
    >>> found = physical_plan_of(net.build(), "superbox", "fused", 2).superboxes[0]
    >>> found.spread_by, found.shuffles, found.stages[0].fused_into_scan
    ('rows', 0, ('some',))
    """
    made = plan(network, Discipline(discipline))
    superboxes = tuple(_superbox(each, way, partitions) for each in made.superboxes.values())
    return PhysicalPlan(network.name, discipline, way, partitions, superboxes, tuple(_arcs(made)))


def _superbox(superbox: Superbox, way: str, partitions: int) -> PhysicalSuperbox:
    is_keyed = superbox.spread.kind is SpreadKind.KEYS
    streams = {name: superbox.spread.keys[ref] for ref in superbox.spread.keys if (name := ref.id)}
    return PhysicalSuperbox(
        superbox.id,
        superbox.boxes,
        superbox.spread.kind.value,
        {
            superbox.reads[name]: keys
            for name, keys in streams.items()
            if is_keyed and name in superbox.streams
        },
        tuple(superbox.streams.values()),
        tuple(superbox.tables.values()),
        _by_spark(superbox) if way == SPARK_WAY else _fused(superbox),
        1 if way == SPARK_WAY else 0,
        dict.fromkeys(superbox.ordered, partitions if is_keyed else 1),
        superbox.has_timeouts,
        tuple(superbox.writes.values()),
    )


def _fused(superbox: Superbox) -> tuple[JobStage, ...]:
    """One stage: the tasks that read the segments run all boxes."""
    return (JobStage("Python tasks", superbox.boxes, tuple(_before_state(superbox))),)


def _before_state(superbox: Superbox) -> Iterator[str]:
    """The boxes that tuples pass before any box that keeps state."""
    passed: set[str] = set(superbox.network.inputs)
    for box_id in superbox.boxes:
        node = superbox.network.boxes[box_id]
        if not node.box.ordered and all(source.id in passed for source in node.sources):
            passed.add(box_id)
            yield box_id


def _by_spark(superbox: Superbox) -> tuple[JobStage, ...]:
    """Spark reads the segments and runs the leading boxes, then passes the partitions to Python."""
    cut = spark.led(superbox)
    leading = tuple(link.box for links in cut.chains.values() for link in links)
    return JobStage("Spark tasks", leading, leading), JobStage("Python tasks", cut.rest.boxes)


def _arcs(made: Plan) -> Iterator[PhysicalArc]:
    for arc in made.arcs.values():
        name = QUARANTINE if arc.id == QUARANTINE_ARC else arc.id
        yield PhysicalArc(name, str(arc.schema), _writer(arc, made), arc.readers, arc.outputs, arc.points)


def _writer(arc: Arc, made: Plan) -> str | None:
    return "every superbox" if arc.id == QUARANTINE_ARC and made.superboxes else arc.writer


# --- as a tree


def physical_tree(network: Network, made: PhysicalPlan) -> Tree:
    """The superboxes for the terminal."""
    settings = f": {made.discipline} discipline, {made.way} way, {_partitions(made.partitions)}"
    tree = Tree(Text.assemble((made.network, "bold"), settings), guide_style="dim")
    arcs = {arc.id: arc for arc in made.arcs}
    for superbox in made.superboxes:
        branch = tree.add(Text.assemble("superbox ", (superbox.id, "bold cyan"), f": {_spread(superbox)}"))
        for arc in superbox.reads:
            branch.add(Text.assemble("reads ", (arc, "bold"), _from(arcs[arc])))
        for arc in superbox.tables:
            branch.add(_table(arc, network.inputs[arc].store))
        _stages(branch, network, superbox)
        for arc in superbox.writes:
            branch.add(Text.assemble("writes ", (arc, "bold"), _to(arcs[arc])))
    return tree


def _stages(branch: Tree, network: Network, superbox: PhysicalSuperbox) -> None:
    for number, stage in enumerate(superbox.stages, 1):
        if number > 1:
            branch.add(Text(f"shuffle {_shuffled(superbox)}"))
        reads = " that read the segments" if number == 1 else ""
        leaf = branch.add(Text.assemble(f"stage {number}, ", (stage.runs_as, "bold"), reads))
        for box_id in stage.boxes:
            what = str(notation_of(network.boxes[box_id].box))
            leaf.add(Text.assemble((box_id, "bold"), (_remark(superbox, stage, box_id), "dim"), f": {what}"))
        if not stage.boxes:
            leaf.add(Text("no box: the tuples pass", "dim"))


def _remark(superbox: PhysicalSuperbox, stage: JobStage, box_id: str) -> str:
    """The note on a box: where it runs, and what it keeps."""
    if box_id in superbox.state:
        return f" [state in {_partitions(superbox.state[box_id])}]"
    if box_id not in stage.fused_into_scan:
        return ""
    return " [Spark expression]" if superbox.shuffles else " [fused into the scan]"


def _spread(superbox: PhysicalSuperbox) -> str:
    timed = ", with timeouts" if superbox.has_timeouts else ""
    if superbox.spread_by == SpreadKind.ROWS.value:
        return f"tuples spread by rows{timed}"
    if superbox.spread_by == SpreadKind.ONE.value:
        return f"tuples not spread, since no key is common to the groups of its boxes{timed}"
    return f"tuples spread by keys, {_keys(superbox)}{timed}"


def _keys(superbox: PhysicalSuperbox) -> str:
    return "; ".join(f"{', '.join(keys)} of {arc}" for arc, keys in superbox.keys.items())


def _shuffled(superbox: PhysicalSuperbox) -> str:
    if superbox.spread_by == SpreadKind.ONE.value:
        return "into one task"
    return f"by {_keys(superbox) or 'rows'}"


def _table(arc: str, store: Store | None) -> Text:
    if store is None:
        return Text.assemble("loads ", (arc, "bold"), ", a stored table")
    return Text.assemble("asks ", (arc, "bold"), f", a stored table {described(store)}")


def _from(arc: PhysicalArc) -> str:
    return ", an input" if arc.writer is None else f", a queue after superbox {arc.writer}"


def _to(arc: PhysicalArc) -> str:
    """What reads an arc."""
    parts = [f"output {name}" for name in arc.outputs]
    parts += [f"connection point {name}" for name in arc.connection_points]
    parts += [f"superbox {name}" for name in arc.readers]
    return f" for {', '.join(parts)}" if parts else ""


def _partitions(number: int) -> str:
    return f"{number} partition{'s' if number != 1 else ''}"
