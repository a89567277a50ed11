"""A peer reports its load to the peers responsible for its operators when its level changes (3.1)."""

from __future__ import annotations

from typing import Any

from australis.policy.hotspot.levels import Levels, Loads
from australis.policy.hotspot.messages import LoadUpdate, Unregister
from australis.policy.hotspot.ring import Ring
from australis.policy.machines import Say


class Reporter:
    """Reports what a peer offers and its load, and again after a while, to show that it is alive."""

    def __init__(self, offers: tuple[str, ...], levels: Levels, remind_us: int) -> None:
        self.offers = offers
        self.loads: Loads | None = None
        self._levels, self._remind_us = levels, remind_us
        self.level: int | None = None
        self.told: int | None = None
        self.at = 0

    def measured(self, now: int, loads: Loads, ring: Ring) -> list[Any]:
        """Handle a load measurement."""
        self.loads, self.at = loads, now
        level = self._levels.of(loads.one) if self.level is None else self._levels.next(self.level, loads.one)
        if level == self.level and self.told is not None and now - self.told < self._remind_us:
            return []
        self.level, self.told = level, now
        return self._update(ring, self.offers)

    def moved(self, old: Ring, new: Ring) -> list[Any]:
        """Other peers are now responsible for some operators: report to them, too."""
        changed = [each for each in self.offers if old.responsible(each) != new.responsible(each)]
        return self._update(new, tuple(changed))

    def offered(self, operators: tuple[str, ...], ring: Ring) -> list[Any]:
        """Other operators are offered: register new ones, and unregister old ones."""
        new = tuple(each for each in operators if each not in self.offers)
        gone = tuple(each for each in self.offers if each not in operators)
        self.offers = operators
        return [*self._update(ring, new), *(Say(to, Unregister(each)) for to, each in _by_peer(ring, gone))]

    def _update(self, ring: Ring, operators: tuple[str, ...]) -> list[Any]:
        if self.loads is None:
            return []
        return [Say(to, LoadUpdate(each, self.loads, self.at)) for to, each in _by_peer(ring, operators)]


def _by_peer(ring: Ring, operators: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """The peers that are responsible for some operators, each with its own: one message per peer."""
    found: dict[str, list[str]] = {}
    for operator in operators:
        found.setdefault(ring.responsible(operator), []).append(operator)
    return [(peer, tuple(each)) for peer, each in sorted(found.items())]
