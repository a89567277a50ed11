"""How well a run has served its outputs: what each received, its utility by its graphs, and what was shed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from australis.app.showing.losses import Loss
    from australis.engine.observe import OutputQuality, QualityReport


@dataclass(frozen=True)
class Service:
    """The quality of outputs over a run, and what was shed."""

    report: QualityReport
    losses: tuple[Loss, ...]

    def as_dict(self) -> dict[str, Any]:
        """The whole for `--json`."""
        return {
            "utility": round(self.report.utility, 4),
            "utility_most": self.report.most,
            "shed": [loss.as_dict() for loss in self.losses],
        }

    def output_dict(self, name: str) -> dict[str, Any]:
        """An output for `--json`."""
        each = self.report.outputs[name]
        return {
            "utility": each.utility,
            "by_delay": each.by_delay,
            "by_loss": each.by_loss,
            "by_value": each.by_value,
            "weight": each.weight,
        }

    def lines(self) -> Iterator[str]:
        """The utility for people: of all outputs, and by which graphs some lose some of their weight."""
        outputs = self.report.outputs
        yield f"  utility {self.report.utility:.2f} of {self.report.most:g}"
        poor = {name: each for name, each in outputs.items() if each.utility is not None and _is_poor(each)}
        width = max(map(len, poor), default=0)
        for name, each in poor.items():
            parts = {"delay": each.by_delay, "loss": each.by_loss, "value": each.by_value}
            by = ", ".join(f"{graph} {part:.2f}" for graph, part in parts.items())
            yield f"    {name:{width}}  {each.utility:.2f} of {each.weight:g}: {by}"


def _is_poor(each: OutputQuality) -> bool:
    """Whether an output has visibly less than its full utility."""
    return each.utility is not None and each.utility < 0.995 * each.weight
