"""What a run has received and delivered, counted as it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from australis.algebra.network import QUARANTINE, Network
from australis.errors import EngineError, Problem

_REASONS_KEPT = 3


@dataclass
class RunTally:
    """What came in, what went out, what was quarantined, and the first reasons."""

    read: dict[str, int]
    rejected: dict[str, int]
    written: dict[str, int]
    quarantined: int = 0
    reasons: list[str] = field(default_factory=list)
    quarantined_at: dict[str, int] = field(default_factory=dict)
    """By the path of a box or an input."""

    @classmethod
    def of(cls, network: Network) -> RunTally:
        """The tally of a run that has not started."""
        names, outputs = network.inputs, (*network.outputs, QUARANTINE)
        return cls(dict.fromkeys(names, 0), dict.fromkeys(names, 0), dict.fromkeys(outputs, 0))

    def quarantine(self, table: pa.Table, *, strict: bool = False) -> None:
        """Count quarantined rows, and keep the first reasons; any is an error if strict."""
        room = _REASONS_KEPT - len(self.reasons)
        for row in table.slice(0, max(room, 0)).to_pylist():
            self.reasons.append(f"{row['path']}: {row['reason']}")
        if strict:
            raise EngineError(Problem("", f"{self.reasons[0]} (--strict)"))
        for each in table["path"].value_counts().to_pylist():
            path = each["values"]
            self.quarantined_at[path] = self.quarantined_at.get(path, 0) + each["counts"]
        self.quarantined += table.num_rows
        self.written[QUARANTINE] += table.num_rows
