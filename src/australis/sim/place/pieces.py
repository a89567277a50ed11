"""What a site knows of itself: the boxes there, what comes and goes, and what was measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from australis.algebra.form import dumps
from australis.algebra.network import ConnectionPoint, Input, Network, Node, Output, Ref
from australis.policy.place import End, Home, Link, Measured, Runs, Splitting, Survey, Use

Splits = Mapping[str, list[Splitting]]
"""By box, the last one last."""


def runs_at(survey: Survey, site: str, splits: Splits) -> Runs:
    """The part of a network that runs at a site, as a network of its own."""
    piece = _Piece(survey, site)
    if not piece.outputs and not piece.points:
        return Runs("", {}, {})
    network = Network(
        survey.network.name,
        piece.inputs,
        piece.boxes,
        piece.outputs,
        piece.points,
        timezone=survey.network.timezone,
    )
    done = [each for every in splits.values() for each in every]
    put = {box_id for each in done for box_id in (*each.parting.routes, *each.parting.merges)}
    at = survey.placement.boxes
    return Runs(
        dumps(network),
        piece.comes,
        piece.goes,
        tuple(sorted((put | survey.fixed) & piece.boxes.keys())),
        {
            each.parting.copy: Home(each.parting.box, at[each.parting.box])
            for each in done
            if each.parting.copy in piece.boxes
        },
        {
            box_id: tuple(each.parting.copy for each in every)
            for box_id, every in splits.items()
            if every and box_id in piece.boxes
        },
    )


class _Piece:
    """The part of a network at one site."""

    def __init__(self, survey: Survey, site: str) -> None:
        self._survey, self._site = survey, site
        self.inputs: dict[str, Input] = {}
        self.boxes: dict[str, Node] = {}
        self.outputs: dict[str, Output] = {}
        self.points: dict[str, ConnectionPoint] = {}
        self.comes: dict[str, End] = {}
        self.goes: dict[str, End] = {}
        network, at = survey.network, survey.placement
        here = {box_id: node for box_id, node in network.boxes.items() if at.boxes[box_id] == site}
        self._here = here.keys()
        for ref in _streams(network):
            if self._comes(ref):
                self._arrive(ref)
        self.boxes = {
            box_id: replace(node, sources=tuple(map(self._local, node.sources)))
            for box_id, node in here.items()
        }
        for ref in _streams(network):
            self._leave(ref)

    def _comes(self, ref: Ref) -> bool:
        """Whether a stream comes here from outside of the boxes here."""
        if ref.id in self._here:
            return False
        return self._site in (
            self._survey.maker(ref),
            self._keeper(ref),
        ) or self._site in self._survey.readers(ref)

    def _keeper(self, ref: Ref) -> str:
        """The site where a stream's connection point is, or else where it is made."""
        point = self._survey.ends[ref].point
        return self._survey.maker(ref) if point is None else self._survey.placement.points[point]

    def _arrive(self, ref: Ref) -> None:
        maker, keeper = self._survey.maker(ref), self._keeper(ref)
        given = self._survey.network.inputs.get(ref.id)
        table = given is not None and given.table
        self.inputs[local_name(ref)] = Input(self._survey.network.schemas[ref], table)
        self.comes[local_name(ref)] = End(str(ref), maker if keeper == self._site else keeper)

    def _local(self, ref: Ref) -> Ref:
        return ref if ref.id in self._here else Ref(local_name(ref))

    def _leave(self, ref: Ref) -> None:
        """Where a stream goes from here: to its connection point, or else to its readers."""
        survey, site = self._survey, self._site
        keeper, given = self._keeper(ref), survey.network.inputs.get(ref.id)
        if given is not None and given.table:
            return
        if survey.maker(ref) == site != keeper:
            self._lead(ref, keeper)
        if keeper != site:
            # Applications here read what comes from the connection point or its maker.
            self._deliver(ref)
            return
        self._deliver(ref)
        for other in sorted(survey.readers(ref) - {site}):
            self._lead(ref, other)
        point = survey.ends[ref].point
        if point is not None:
            self.points[point] = replace(survey.network.connection_points[point], at=self._local(ref))

    def _lead(self, ref: Ref, to: str) -> None:
        name = f"to_{to}__{local_name(ref)}"
        self.outputs[name] = Output(self._local(ref))
        self.goes[name] = End(str(ref), to)

    def _deliver(self, ref: Ref) -> None:
        for name, output in self._survey.network.outputs.items():
            if output.source == ref and self._survey.placement.outputs[name] == self._site:
                self.outputs[name] = Output(self._local(ref))
                self.goes[name] = End(name, self._site)


def _streams(network: Network) -> Iterator[Ref]:
    yield from map(Ref, network.inputs)
    for box_id in network.order:
        yield from (Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs))


def local_name(ref: Ref) -> str:
    """What a stream from elsewhere is called where it comes in."""
    return f"{ref.id}__{ref.port}" if ref.port else ref.id


def measured_at(survey: Survey, site: str, runs: Runs) -> Measured:
    """What is measured at a site: what arrives and what its boxes do, nothing of other sites."""
    network = survey.network
    return Measured(
        {name: survey.flows[_stream(network, name, end)] for name, end in runs.comes.items()},
        {
            box_id: Use(each.tuple_us, each.selectivity, survey.states.get(box_id, 0.0))
            for box_id, place in survey.placement.boxes.items()
            if place == site
            for each in [survey.statistics.of(network, box_id)]
        },
        {
            to: Link(width, survey.other_bytes.get((site, to), 0.0))
            for (source, to), width in survey.lines.items()
            if source == site
        },
        survey.other_work.get(site, 0.0),
    )


def _stream(network: Network, name: str, end: End) -> Ref:
    return Ref(name) if name in network.inputs else Ref.parse(end.stream)
