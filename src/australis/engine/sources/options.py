"""How to read a source: how fast, for how long, in which steps."""

from __future__ import annotations

from dataclasses import dataclass

from australis.algebra.schema import Schema
from australis.algebra.store import FileFormat
from australis.engine.sources.pacing import Rate, Replay, Speed
from australis.engine.sources.rates import parse_rate, parse_speed
from australis.errors import EngineError, Problem

DEFAULT_BATCH = 65_536


@dataclass(frozen=True)
class Options:
    """The settings that all sources of a run share; the defaults read a file as it is."""

    follow: bool = False
    """Continue with what is appended to a text file, and with new files in a folder."""
    replay: Replay | None = None
    """Deliver tuples over time, not as fast as they can be read."""
    batch: int = DEFAULT_BATCH
    """The most tuples of one delivery."""
    timezone: str = "UTC"
    """The zone of times that are written without one."""
    stream_format: str | None = None
    """The format of standard input."""
    format: FileFormat | None = None
    """How files are written, where their names do not say it."""
    poll_seconds: float = 0.2
    """How often a followed file or folder is checked."""
    settle_seconds: float = 0.5
    """How long a file in a folder must be unchanged to be complete; 0 if files are renamed into it."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise EngineError(Problem("batch", f"is {self.batch}", "1 or more"))
        if not self.poll_seconds > 0:
            raise EngineError(Problem("poll_seconds", f"is {self.poll_seconds}", "more than 0"))
        if not self.settle_seconds >= 0:
            raise EngineError(Problem("settle_seconds", f"is {self.settle_seconds}", "0 or more"))

    def check(self, schema: Schema) -> None:
        """Raise if tuples of a schema cannot be read with these settings."""
        if isinstance(self.replay, Speed):
            self.replay.check(schema)


AS_IT_IS = Options()
"""A file is read once, from beginning to end, as fast as possible."""


def parse_replay(rate: str | None = None, speed: str | None = None, by: str | None = None) -> Replay | None:
    """The replay that texts such as `5000/s`, or `20x` by an attribute, ask for.

    >>> parse_replay(speed="20x", by="time")
    Speed(factor=20.0, attribute='time')
    """
    if rate is not None and speed is not None:
        what = f"both a rate, {rate}, and a speed, {speed}, are given"
        raise EngineError(Problem("replay", what, "one of the two"))
    if rate is not None:
        return Rate(parse_rate(rate))
    if speed is None:
        return None
    if by is None:
        raise EngineError(
            Problem("speed", "no attribute is given for the time", "the name of one beside the speed")
        )
    return Speed(parse_speed(speed), by)
