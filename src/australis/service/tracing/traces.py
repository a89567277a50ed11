"""What can be traced; as it stands here, nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from australis.engine.ledger import Receipt
from australis.engine.train import Observer

Fact = str | int | float | bool
"""What a span says of itself."""


class Span:
    """Something that takes time, and is not traced."""

    def note(self, facts: Mapping[str, Fact]) -> None:
        """Add facts, by their names."""

    def end(self, name: str = "", *, failure: str = "") -> None:
        """It is over; its name may be known only now."""


NOT_TRACED = Span()


class Push:
    """Tuples that are being stored."""

    def stored(self, receipt: Receipt) -> None:
        """They are durable, or were already."""


class Traces:
    """Traces nothing."""

    observer: Observer | None = None
    """Who is told of trains."""

    def begin(self, name: str, headers: Mapping[str, str], facts: Mapping[str, Fact]) -> Span:
        """A call of a client begins, whose headers may say of which trace it is a part."""
        return NOT_TRACED

    @contextmanager
    def push(self, within: Span, name: str) -> Iterator[Push]:
        """Tuples of an input are stored in the block, which is a part of a call."""
        yield Push()

    def close(self) -> None:
        """Send what was not sent so far."""
