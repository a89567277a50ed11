"""Lags: how much of the delay of outputs is due not to queues, but to windows and trains."""

from __future__ import annotations

RISING = 0.3
"""How far a greater lag is believed at once: the first window after a pause has waited for that, too."""
HALF_LIFE_US = 5_000_000
"""The half-life of a lag that was not seen again, so that an output thought late is served at times."""


class OutputLags:
    """The lag of each output in seconds, by its last trains.

    >>> lags = OutputLags()
    >>> for lag in (1.0, 11.0, 1.0):
    ...     lags.learn("averages", lag, now=0)
    ...     print(lags.of("averages", now=0), lags.of("averages", now=HALF_LIFE_US))
    1.0 0.5
    4.0 2.0
    1.0 0.5
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, int]] = {}

    def learn(self, output: str, lag: float, now: int) -> None:
        """Note how much later an output was than the newest tuples of its train: less is believed at once."""
        known = self.of(output, now) if output in self._known else lag
        self._known[output] = min(lag, known + RISING * (lag - known)), now

    def of(self, output: str, now: int) -> float:
        """The current estimate of an output's lag; 0 if nothing is known."""
        lag, at = self._known.get(output, (0.0, now))
        halvings = max(0, now - at) / HALF_LIFE_US
        return float(lag * 0.5**halvings)

    def all_known(self, now: int) -> dict[str, float]:
        """The current estimates for the outputs of which something is known."""
        return {output: self.of(output, now) for output in self._known}
