"""What machines exchange: frozen values with a tag, a version and bounds, and their one form on the wire.

The form is JSON: a person can read it in a journal, and it can be signed. Unknown fields are refused.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec

MOST_BYTES = 1 << 20
"""The longest letter; what is larger, such as a state, is sent as files that a message names."""
VERSION = 1
"""Of the wire form of all messages."""

Natural = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53))]
"""A whole number that every JSON reader has exactly."""
Count = Annotated[int, msgspec.Meta(ge=1, le=(1 << 53))]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
"""A load, a rate or a cost."""
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """An event, a message or a command: its tag is the name of its class."""


ENCODE = msgspec.json.Encoder(order="deterministic").encode
"""Equal values have one form."""
KEEP = msgspec.json.Encoder().encode
"""As `ENCODE`, but mappings keep their order, on which choices may depend: the form of snapshots."""
Kept = TypeVar("Kept")


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def decoded(kind: Any, data: bytes | msgspec.Raw) -> Any:
    """A value of a type, or None for bytes that are none."""
    try:
        return _decoder(kind).decode(data)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        # What comes from others may be anything; the caller refuses and counts it.
        return None


def state_of(made: object, kind: type[Kept]) -> Kept:
    """The attributes of an object that a state names."""
    return kind(**{name: getattr(made, name) for name in kind.__struct_fields__})  # type: ignore[attr-defined]


def put(made: object, state: msgspec.Struct) -> None:
    """Give an object the attributes of a state."""
    for name in state.__struct_fields__:
        setattr(made, name, getattr(state, name))
