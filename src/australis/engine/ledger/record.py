"""The record of a root: its network, the attached queries, and how both are cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from australis.algebra.form import from_json, to_json
from australis.algebra.grafting import grafted
from australis.algebra.network import Network
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline, Plan, plan
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

    @cached_property
    def whole(self) -> Network:
        """The network as it runs, including the queries, each in its best form."""
        return grafted(self.improved or self.network, {name: _best(q) for name, q in self.queries.items()})

    @cached_property
    def drawn(self) -> Network:
        """The network as its users drew it, including the queries."""
        return grafted(self.network, self.queries)

    @cached_property
    def plan(self) -> Plan:
        """How the whole network is cut into superboxes."""
        return plan(self.whole, self.discipline, self.queries)

    def attached(self, name: str, query: Network) -> Record:
        """With one more query."""
        if name in self.queries:
            known = ", ".join(self.queries)
            raise EngineError(Problem(name, f"is attached already; so far there are {known}", "another name"))
        return replace(self, queries={**self.queries, name: query})

    def detached(self, name: str) -> Record:
        """Without a query."""
        if name not in self.queries:
            raise not_attached(name, self.queries)
        return replace(self, queries={each: q for each, q in self.queries.items() if each != name})

    def to_json(self) -> str:
        known = {
            "network": to_json(self.network),
            "discipline": self.discipline,
            "partitions": self.partitions,
            "queries": {name: to_json(query) for name, query in self.queries.items()},
            "begun": None if self.begun is None else to_json(self.begun),
            "improved": None if self.improved is None else to_json(self.improved),
        }
        return json.dumps(known)

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
            {name: from_json(query, system=True) for name, query in known["queries"].items()},
            begun,
            improved,
        )
