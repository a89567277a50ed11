"""The record of a root: its network, the attached queries, and how both are cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from australis.algebra.form import from_json, to_json
from australis.algebra.grafting import fits, grafted
from australis.algebra.network import Network
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline, Plan, plan
from australis.policy.place import BoxSplit, with_splits
from australis.rewrite.improve import BEGINNING, improve


@lru_cache(maxsize=1024)
def _best(query: Network) -> Network:
    """A query as it runs: filters that can be looked up come first, and what nobody reads is left out."""
    return improve(query, rules=BEGINNING).network


def not_attached(name: str, attached: Iterable[str]) -> EngineError:
    """The error about a query that is not there."""
    return EngineError(
        Problem("", f"no query {name!r} is attached; attached: {', '.join(attached) or 'none'}")
    )


class Before(NamedTuple):
    """What a record has made."""

    network: Network
    text: str
    whole: Network
    drawn: Network
    plan: Plan


@dataclass(frozen=True)
class Record:
    """What a root remembers about what runs on it."""

    network: Network
    """The network as it was deployed."""
    discipline: Discipline
    partitions: int
    queries: Mapping[str, Network] = field(default_factory=dict)
    """The ad hoc queries by name."""
    begun: Network | None = None
    """Where the optimiser starts: the network, with all rewrites that were needed before its first tuple."""
    improved: Network | None = None
    """The equivalent network that runs in place of the deployed one."""
    spreads_tables: bool = True
    """Whether what is connected with joins of stored tables is spread; in older roots it is not."""
    spreads_joins: bool = True
    """Whether what is connected with boxes of two streams is spread; in older roots it is not."""
    splits: tuple[BoxSplit, ...] = ()
    """Boxes that run as several copies, in the order in which they were split."""
    guests: frozenset[str] = frozenset()
    """The queries that do not stand in the way of a change of the network: what leaves them nothing to read
    removes them."""
    before: Before | None = field(default=None, repr=False, compare=False)
    """What an earlier record has made: what is the same here is taken over, and not made again."""

    def __post_init__(self) -> None:
        if any(given.marked for given in self.network.inputs.values()):
            what = "is an ad hoc query: its marks come with connection points of a network"
            raise EngineError(
                Problem(self.network.name, what, "`attach`, or a network built without `query`")
            )

    @cached_property
    def _best(self) -> dict[str, Network]:
        """The queries as they run."""
        return {name: _best(query) for name, query in self.queries.items()}

    @cached_property
    def split(self) -> Network:
        """The network as it runs, without the queries."""
        return with_splits(self.improved or self.network, self.splits)

    @cached_property
    def whole(self) -> Network:
        """The network as it runs, including the queries, each in its best form."""
        return grafted(self.split, self._best, self.before and self.before.whole)

    @cached_property
    def drawn(self) -> Network:
        """The network as its users drew it, including the queries."""
        if self.improved is None and not self.splits and self._best == self.queries:
            return self.whole
        return grafted(self.network, self.queries, self.before and self.before.drawn)

    @cached_property
    def plan(self) -> Plan:
        """How the whole network is cut into superboxes."""
        before = self.before and self.before.plan
        spreads = {"spreads_tables": self.spreads_tables, "spreads_joins": self.spreads_joins}
        return plan(self.whole, self.discipline, self.queries, before, **spreads)

    def attached(
        self, name: str, query: Network, *, is_guest: bool = False, replaces: bool = False
    ) -> Record:
        """With one more query, or another one in place of it."""
        if name in self.queries and not replaces:
            known = ", ".join(self.queries)
            raise EngineError(Problem(name, f"is attached already; so far there are {known}", "another name"))
        guests = self.guests | {name} if is_guest else self.guests - {name}
        return self._changed(queries={**self.queries, name: query}, guests=guests)

    def detached(self, name: str) -> Record:
        """Without a query."""
        if name not in self.queries:
            raise not_attached(name, self.queries)
        stay = {each: query for each, query in self.queries.items() if each != name}
        return self._changed(queries=stay, guests=self.guests - {name})

    def with_splits(self, splits: tuple[BoxSplit, ...]) -> Record:
        """With other boxes that run as several copies."""
        return self._changed(splits=splits)

    def over(self, network: Network) -> Record:
        """With the queries of another network: guests that find nothing to read in it are gone."""
        gone = {name for name in self.guests if not fits(network, name, self.queries[name])}
        if not gone:
            return self
        stay = {name: query for name, query in self.queries.items() if name not in gone}
        return replace(self, queries=stay, guests=self.guests - gone)

    def _changed(self, **parts: Any) -> Record:
        before = Before(self.network, self.text, self.whole, self.drawn, self.plan)
        return replace(self, **parts, before=before)

    def to_json(self) -> str:
        rest = {
            "discipline": self.discipline,
            "partitions": self.partitions,
            "spreads_tables": self.spreads_tables,
            "spreads_joins": self.spreads_joins,
            "queries": {name: to_json(query) for name, query in self.queries.items()},
            "splits": [asdict(each) for each in self.splits],
            "guests": sorted(self.guests),
            "begun": None if self.begun is None else to_json(self.begun),
            "improved": None if self.improved is None else to_json(self.improved),
        }
        return f'{{"network": {self.text}, {json.dumps(rest)[1:]}'

    @cached_property
    def text(self) -> str:
        """The network as it was deployed, in JSON."""
        if self.before is not None and self.before.network is self.network:
            return self.before.text
        return json.dumps(to_json(self.network))

    @classmethod
    def from_json(cls, text: str) -> Record:
        known = json.loads(text)
        begun, improved = (
            None if known[name] is None else from_json(known[name], system=True)
            for name in ("begun", "improved")
        )
        return cls(
            from_json(known["network"], system=True),
            Discipline(known["discipline"]),
            known["partitions"],
            {name: from_json(query, system=True, query=True) for name, query in known["queries"].items()},
            begun,
            improved,
            known.get("spreads_tables", False),
            known.get("spreads_joins", False),
            tuple(BoxSplit(**each) for each in known.get("splits", ())),
            frozenset(known.get("guests", ())),
        )
