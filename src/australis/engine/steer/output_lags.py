"""Lags: how much of the delay of outputs is not for waiting in queues, but for windows and trains."""

from __future__ import annotations

RISING = 0.3
"""How far a greater lag is believed at once: the first window behind a pause has waited for that, too."""
HALF_LIFE_US = 5_000_000
"""After how long half of a lag is forgotten that was not seen again: who is thought late for ever, and so is
not served, could not show that it is not."""


class OutputLags:
    """The lag of each output in seconds, as its last trains showed.

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
        """An output was so much later than the newest tuples of its train: less is believed at once."""
        known = self.of(output, now) if output in self._known else lag
        self._known[output] = min(lag, known + RISING * (lag - known)), now

    def of(self, output: str, now: int) -> float:
        """What is thought of an output's lag by now; 0 if nothing is known."""
        lag, at = self._known.get(output, (0.0, now))
        halvings = max(0, now - at) / HALF_LIFE_US
        return float(lag * 0.5**halvings)
