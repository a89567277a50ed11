"""Semantic shedding: drop boxes that shed the least important values of an output (Aurora 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from australis.algebra.expr import Attribute, parse, text_of
from australis.algebra.network import Network, Ref
from australis.algebra.quality import Points, ValueGraph
from australis.errors import AlgebraError
from australis.policy.shed.backward import backward
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.predicates import predicate
from australis.qos.histograms import Bins, Counts, bins_of, lowest

TRIALS = 8
"""How often a fraction is adjusted until it sheds what it should."""
CLOSE = 0.02
"""How close to the wanted fraction is close enough."""
BETTER = 0.02
"""The fraction of all utility that a drop box must save compared with a random one, to be worthwhile."""
NOTHING = DropBox.random(0.0)

Where = Mapping[str, str]
"""A predicate for each stream at a gate that has one; tuples that satisfy it are shed."""


@dataclass(frozen=True)
class Trial:
    """The effect of a drop box on a sample of what arrives at a gate."""

    shed: float
    """The fraction of the sampled tuples that it took."""
    counts: Counts
    """How many results had which values at the output, in the bins of its value graph."""


Try = Callable[[DropBox], Trial]
"""Runs a sample of what arrives at a gate through to an output, after one drop box and no other."""


@dataclass(frozen=True)
class Gate:
    """Where values are told apart: the streams at a stage's gate, and the output downstream of it."""

    network: Network
    output: str
    streams: tuple[str, ...]
    """The streams that the stage reads, by their references in the network, without stored tables."""

    @property
    def graph(self) -> ValueGraph | None:
        quality = self.network.outputs[self.output].quality
        return quality.value if quality else None

    @property
    def bins(self) -> Bins | None:
        return bins_of(self.graph) if self.graph else None


def value_curve(graph: ValueGraph, counts: Counts) -> Points:
    """The utility of an output's values by the fraction delivered, if the least important are shed first.

    >>> value_curve(ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.25))), np.array([20, 80, 0]))
    ((0.0, 0.0), (0.2, 0.5), (1.0, 1.0))
    """
    worths = np.array(bins_of(graph).utilities)
    best_first = [index for index in np.argsort(-worths, kind="stable") if counts[index]]
    whole = float(counts @ worths)
    if not whole:
        return ((0.0, 1.0), (1.0, 1.0))
    tuples = np.cumsum(counts[best_first]) / counts.sum()
    values = np.minimum(np.cumsum((counts * worths)[best_first]) / whole, 1.0)
    points = zip(tuples[:-1].tolist(), values[:-1].tolist(), strict=True)
    return ((0.0, 0.0), *points, (1.0, 1.0))


def by_backward(gate: Gate, rate: float, try_: Try) -> DropBox | None:
    """A drop box for the lowest values of an output, by what they are computed from at the gate.

    A trial measures the fraction of the gate's tuples with such values, since filters and windows lie
    between.
    """
    graph, bins = gate.graph, gate.bins
    if graph is None or bins is None:
        return None
    counts = try_(NOTHING).counts
    best: DropBox | None = None
    low, high, fraction = 0.0, 1.0, rate
    for _ in range(TRIALS):
        where = moved(gate, bins, counts, fraction)
        found = try_(DropBox(rate, where)).shed if where else 0.0
        if found >= rate - CLOSE:
            best, high = thinned(rate, where, found), fraction
        else:
            low = fraction
        if abs(found - rate) <= CLOSE or high - low <= CLOSE / 2:
            break
        fraction = (low + high) / 2
    return best


def thinned(rate: float, where: Where, found: float) -> DropBox:
    """Sheds only a fraction of the selected tuples if there are more than wanted, as with categories."""
    return DropBox(rate, where, min(1.0, rate / found) if found > rate else 1.0)


def moved(gate: Gate, bins: Bins, counts: Counts, fraction: float) -> Where:
    """The predicates at a gate for the lowest values of an output; none if they are not known there."""
    network, graph = gate.network, bins.graph
    chosen = lowest(bins, counts, fraction)
    source = network.outputs[gate.output].source
    field = network.schemas[source][graph.attribute]
    attribute = Attribute(field.name, field.type, field.nullable)
    found = backward(network, source, attribute, [Ref.parse(stream) for stream in gate.streams])
    predicates = {str(ref): predicate(expr, chosen, graph) for ref, expr in (found or {}).items()}
    texts = {stream: text_of(each) for stream, each in predicates.items() if each is not None}
    return texts if all(_parses(network, stream, text) for stream, text in texts.items()) else {}


def _parses(network: Network, stream: str, text: str) -> bool:
    """Whether a text is short and shallow enough for an expression."""
    try:
        parse(text).bind(network.schemas[Ref.parse(stream)])
    except AlgebraError:
        # An answer, not an error: such a predicate is not used.
        return False
    return True


def utility_of(trial: Trial, bins: Bins) -> float:
    """The utility of all values that resulted from a trial."""
    return float(trial.counts @ np.array(bins.utilities))


def is_better(bins: Bins, box: DropBox, try_: Try) -> bool:
    """Whether a drop box leaves clearly more utility than a random one.

    Windows that lose some of their tuples are still emitted, so random shedding may cost no utility at all.
    """
    whole, by_chance, by_value = (
        utility_of(try_(each), bins) for each in (NOTHING, DropBox.random(box.rate), box)
    )
    return by_value >= by_chance + BETTER * whole and by_value > by_chance
