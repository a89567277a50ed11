"""How a run has served its outputs: what each got, what that is worth by its graphs, and what was shed."""

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
            "fraction": round(each.fraction, 6),
            "shed": sum(loss.shed for loss in self.losses if name in loss.outputs),
            "utility": each.utility,
            "by_delay": each.by_delay,
            "by_loss": each.by_loss,
            "by_value": each.by_value,
            "weight": each.weight,
        }

    def lines(self) -> Iterator[str]:
        """The utility for people, output by output."""
        outputs = self.report.outputs
        yield f"  utility {self.report.utility:.2f} of {self.report.most:g}"
        width = max(map(len, outputs), default=0)
        for name, each in outputs.items():
            yield f"    {name:{width}}  {_told(each)}"


def _told(each: OutputQuality) -> str:
    if each.utility is None:
        return "nothing was due"
    parts = {"delay": each.by_delay, "loss": each.by_loss, "value": each.by_value}
    by = ", ".join(f"{name} {part:.2f}" for name, part in parts.items())
    return f"{each.utility:.2f} of {each.weight:g}: {by}; {each.fraction:.1%} delivered"
