"""How slow a site is to move: an overload has to last, a site rests, and a box does not return for little."""

from __future__ import annotations

from dataclasses import dataclass, field

from australis.errors import PolicyError, Problem
from australis.policy.place.moves import Limits


@dataclass(frozen=True)
class Manners:
    """How slow a daemon is to move."""

    limits: Limits = field(default_factory=Limits)
    persists_s: float = 10.0
    """How long an overload has to last; how long a site that has declined is not asked again."""
    settle_s: float = 10.0
    """How long a site waits after giving something away."""
    rest_s: float = 60.0
    """How long a box that has moved stays where it is."""
    back_gain: float = 0.25
    """The gain needed to move a box back to where it came from."""
    remembered_s: float = 900.0
    """For how long a move counts as going back."""
    patience_s: float = 60.0
    """How long an offer waits for its answer, and a promise for news of its move."""
    stale_s: float = 30.0
    """How long a report is believed: a site that was not heard of for longer is offered nothing."""
    merged: float = 0.5
    """What a site may be used after it has taken back a copy that nothing else asks to move."""
    calm_s: float = 1800.0
    """How long there must have been room for that, so that a load that comes and goes splits a box once."""

    def __post_init__(self) -> None:
        if not 0 < self.limits.low <= self.limits.high:
            what = f"has the marks {self.limits.low:g} and {self.limits.high:g}"
            raise PolicyError(Problem("limits", what, "a low one above 0 and at most the high one"))
        if not self.merged < self.limits.high:
            raise PolicyError(Problem("merged", f"is {self.merged:g}", "less than the high mark"))


HASTY = Manners(
    Limits(high=0.8, low=0.8, gain_least=0.0),
    persists_s=0.0,
    settle_s=0.0,
    rest_s=0.0,
    back_gain=0.0,
    remembered_s=0.0,
)
"""No hysteresis, to show what it is good for."""


def micros(seconds: float) -> int:
    """A time in microseconds."""
    return round(seconds * 1e6)
