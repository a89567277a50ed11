"""Which outputs are worth the stages that they need: the best closure of a graph, by a minimum cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

NEAR = 1e-12

_Place = tuple[str, str]
"""An output or a stage: its kind and its name."""
_From = dict[_Place, _Place | None]
"""From where each place was reached."""


def worthwhile(
    gains: Mapping[str, float], costs: Mapping[str, float], needs: Mapping[str, Collection[str]]
) -> frozenset[str]:
    """The outputs with the greatest gain less the costs of all stages that any of them needs.

    Of equally good sets, the least. A stage is paid for once, however many outputs need it, so an output may
    be worthwhile only together with others.

    >>> needs = {"a": ("shared",), "b": ("shared", "own")}
    >>> sorted(worthwhile({"a": 2, "b": 3}, {"shared": 4, "own": 0.5}, needs))
    ['a', 'b']
    >>> sorted(worthwhile({"a": 2, "b": 3}, {"shared": 4, "own": 1.5}, needs))
    []
    """
    flow = _Flow({name: gain for name, gain in gains.items() if gain > 0}, costs, needs)
    flow.pay()
    while flow.augment():
        pass
    return flow.unsatisfied()


class _Flow:
    """Gains that flow to stages as far as these cost something; an output with a rest is worthwhile.

    The network is: source, outputs (as much as each gains), stages (without limit), sink (what each costs).
    """

    def __init__(
        self, gains: Mapping[str, float], costs: Mapping[str, float], needs: Mapping[str, Collection[str]]
    ) -> None:
        self._left = dict(gains)
        self._room = {stage: costs[stage] for output in gains for stage in needs[output]}
        self._least = NEAR * max((1.0, *gains.values()))
        self._needs = {output: tuple(needs[output]) for output in gains}
        self._paid: dict[str, dict[str, float]] = {stage: {} for stage in self._room}
        """What each output pays for a stage."""

    def pay(self) -> None:
        """Let outputs pay for the stages that they need, those of fewest outputs first.

        Where each stage serves all outputs of another, none of them, or some of its own only, as in a tree,
        this is all: what is left to the outputs of a stage is the same, whichever of them pays.
        """
        payers: dict[str, list[str]] = {stage: [] for stage in self._room}
        for output, stages in self._needs.items():
            for stage in stages:
                payers[stage].append(output)
        for stage in sorted(payers, key=lambda name: len(payers[name])):
            for output in payers[stage]:
                pays = min(self._left[output], self._room[stage])
                if pays > 0:
                    self._paid[stage][output] = pays
                    self._left[output] -= pays
                    self._room[stage] -= pays

    def augment(self) -> bool:
        """Send what an output has left to a stage that is not paid for; False if no way leads there."""
        came_from, end = self._reach()
        if end is None:
            return False
        outputs, stages = _way(came_from, end)
        redirected = list(zip(stages, outputs[1:], strict=False))
        """The stages on the way, each with the output that will pay less for it."""
        pays = min(self._left[outputs[0]], self._room[end[1]])
        pays = min((pays, *(self._paid[stage][output] for stage, output in redirected)))
        for output, stage in zip(outputs, stages, strict=True):
            self._paid[stage][output] = self._paid[stage].get(output, 0.0) + pays
        for stage, output in redirected:
            self._paid[stage][output] -= pays
        self._left[outputs[0]] -= pays
        self._room[end[1]] -= pays
        return True

    def unsatisfied(self) -> frozenset[str]:
        """The outputs that something left over reaches."""
        came_from, _ = self._reach()
        return frozenset(name for kind, name in came_from if kind == "output")

    def _reach(self) -> tuple[_From, _Place | None]:
        """What can be reached from what is left over, from where, and the first stage that is not paid for.

        From an output each stage that it needs; from a stage the outputs that pay for it and could pay less.
        """
        first = [("output", name) for name, left in self._left.items() if left > self._least]
        came_from: _From = dict.fromkeys(first)
        pending = deque(first)
        while pending:
            place = pending.popleft()
            kind, name = place
            if kind == "output":
                further = [("stage", stage) for stage in self._needs[name]]
            elif self._room[name] > self._least:
                return came_from, place
            else:
                further = [("output", o) for o, paid in self._paid[name].items() if paid > self._least]
            for each in further:
                if each not in came_from:
                    came_from[each] = place
                    pending.append(each)
        return came_from, None


def _way(came_from: _From, end: _Place) -> tuple[list[str], list[str]]:
    """The outputs and the stages on the way to a stage, in turn."""
    way, before = [end], came_from[end]
    while before is not None:
        way.append(before)
        before = came_from[before]
    names = [name for _, name in reversed(way)]
    return names[0::2], names[1::2]
