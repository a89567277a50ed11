"""The records that a node keeps: examined when they come, offered to others that should keep them, let go.

A record is settled once all keepers have confirmed that they have it; then others let it go. The owner is
asked too: one that has begun anew may not have the name any more. Whatever changes the keepers unsettles it,
so repair after a death, a join or a lost letter is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from australis.cluster.identity import Seals
from australis.cluster.membership import portions
from australis.cluster.names.messages import RECORDS_MOST, Record, Version, record_bytes
from australis.cluster.names.ring import Ring

LIFETIME_MOST_US = 86_400_000_000
OWNER_MOST = 10_000
"""How many records of one node are kept."""
Key = tuple[str, str]


class Shelf:
    """The records at one node, by name and owner."""

    def __init__(self, name: str, seals: Seals, ring: Ring, copies: int) -> None:
        self._name, self._seals, self._ring, self._copies = name, seals, ring, copies
        self.records: dict[Key, Record] = {}
        self._owners: dict[str, set[str]] = {}
        """The owners of a name."""
        self._counts: Counter[str] = Counter()
        self._confirmed: dict[Key, set[str]] = {}
        self._unsettled: set[Key] = set()
        self._ends: list[tuple[int, Key]] = []

    # --- records

    def of(self, name: str, now: int) -> list[Record]:
        """The records of a name."""
        found = [self.records[name, owner] for owner in sorted(self._owners.get(name, ()))]
        return [each for each in found if each.expires > now]

    def problem(self, record: Record, now: int) -> str:
        """Why a record is refused; nothing if it is good."""
        if record.name.partition("/")[0] != record.owner.partition("/")[0]:
            return "foreign"
        if record.expires <= now:
            return "expired"
        if record.expires > now + LIFETIME_MOST_US:
            return "lifetime"
        if record.seal is None:
            return "unsigned"
        if str(self._seals.signer(record.seal, record_bytes(record), now)) != record.owner:
            return "signature"
        return ""

    def put(self, record: Record, now: int) -> str:
        """Keep a record; returns why it is refused, or nothing."""
        known = self.records.get(record.key)
        if known == record:
            return ""
        if known is not None and known.version >= record.version:
            return "older"
        if why := self.problem(record, now):
            return why
        if known is None and self._counts[record.owner] >= OWNER_MOST:
            return "too_many"
        self._keep(record)
        return ""

    def _keep(self, record: Record) -> None:
        if record.key not in self.records:
            self._counts[record.owner] += 1
            self._owners.setdefault(record.name, set()).add(record.owner)
        self.records[record.key] = record
        self._confirmed[record.key] = set()
        self._unsettled.add(record.key)
        heappush(self._ends, (record.expires, record.key))

    def restore(self, records: Iterable[Record]) -> None:
        """Keep records that were kept before."""
        for each in records:
            self._keep(each)

    def _drop(self, key: Key) -> None:
        del self.records[key], self._confirmed[key]
        self._unsettled.discard(key)
        name, owner = key
        self._counts[owner] -= 1
        self._owners[name].discard(owner)
        if not self._owners[name]:
            del self._owners[name]

    def expire(self, now: int) -> None:
        """Let go of what has ended."""
        while self._ends and self._ends[0][0] <= now:
            _, key = heappop(self._ends)
            if key in self.records and self.records[key].expires <= now:
                self._drop(key)

    # --- keepers

    def keepers(self, name: str) -> list[str]:
        """The nodes that should keep a name."""
        return self._ring.keepers(name, self._copies)

    def keeps(self, name: str) -> bool:
        """Whether this node should."""
        return self._name in self.keepers(name)

    def unsettle(self, without: str = "") -> None:
        """The keepers may be others now; a node may have lost what it had confirmed."""
        self._unsettled = set(self.records)
        if without:
            for each in self._confirmed.values():
                each.discard(without)

    def audit(self) -> None:
        """Ask all keepers again for what they have confirmed."""
        for each in self._confirmed.values():
            each.clear()
        self._unsettled = set(self.records)

    def confirm(self, key: Key, version: int, node: str) -> None:
        """A node has a record of a version."""
        known = self.records.get(key)
        if known is not None and known.version == version:
            self._confirmed[key].add(node)

    def offers(self) -> dict[str, list[Version]]:
        """What is to be offered to whom; records that are settled are let go, or rest."""
        found: dict[str, list[Version]] = {}
        for key in sorted(self._unsettled):
            keepers, owner = self.keepers(key[0]), key[1]
            asked = [*keepers, *([owner] if owner in self._ring.nodes and owner not in keepers else [])]
            missing = [node for node in asked if node != self._name and node not in self._confirmed[key]]
            for node in missing:
                found.setdefault(node, []).append(Version(*key, self.records[key].version))
            if missing or not keepers:
                continue
            self._unsettled.discard(key)
            if self._name not in (*keepers, owner):
                self._drop(key)
        return found

    @property
    def unsettled(self) -> int:
        """How many records are not known to be with all their keepers."""
        return len(self._unsettled)


def parts(records: Iterable[Record]) -> Iterator[tuple[Record, ...]]:
    """As many records at a time as go into a letter."""
    return portions(records, _size, RECORDS_MOST)


def _size(record: Record) -> int:
    """About how long a record is in a letter."""
    sealed = len(record.seal.certificate) * 4 // 3 if record.seal else 0
    return 700 + len(record.name.encode()) + len(record.detail.encode()) + sealed
