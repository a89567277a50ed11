"""The messages between two nodes. Unknown fields and values out of bounds are refused.

The reader of a link asks, the writer agrees, the reader says where to begin, the writer sends tuples, and the
reader says what it has stored. A link has a number, chosen by the reader, that is valid for one connection.
Instead of asking, a reader that was granted it defines boxes that the writer is to run first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from australis.policy.machines import Count, Name, Natural, Value

VERSION = 1
"""Of the protocol: a node refuses one that says another."""
LETTER_MOST = 44 << 10
"""The longest letter in bytes; it fits into a control message as base64."""
PIECE_MOST, GRANT_MOST = 24 << 10, 12 << 10
"""The longest definition of a piece, and the longest grant, in bytes: both fit into one control message."""
KEPT_MOST = 200
"""How many pieces a node may have at another one."""

Weight = Annotated[float, msgspec.Meta(ge=0.001, le=1000)]
LinkNumber = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]
Token = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
"""The name of a move."""
GRAPH_MOST = 32
"""The most points of a graph."""
Position = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Utility = Annotated[float, msgspec.Meta(ge=0, le=1)]
Graph = Annotated[tuple[tuple[Position, Utility], ...], msgspec.Meta(max_length=GRAPH_MOST)]
Incarnation = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}-[0-9a-f]{16}$")]


class Refused(StrEnum):
    """Why a link is refused."""

    NOT_OFFERED = "not_offered"
    """There is no such output, or it is not offered to who asks."""
    SCHEMA = "schema"
    """The output's tuples do not fit the input."""
    LOST = "lost"
    """The reader has lost tuples that it had acknowledged."""
    STALE = "stale"
    """The writer is an earlier one than the reader has heard."""
    INPUT = "input"
    """The reader's input is gone, or does not take the tuples."""
    MOVED = "moved"
    """The output is at another node now."""
    GRANT = "grant"
    """No grant that holds lets the reader put these boxes there."""
    PIECE = "piece"
    """The boxes make no sense there."""
    LIMIT = "limit"
    """They take more than their grant admits."""
    TOO_MANY = "too_many"
    STOPPED = "stopped"


class Hello(Value, frozen=True):
    """The first message of each side."""

    version: Natural
    incarnation: Count
    """The life of the node: greater than that of any earlier one."""
    is_dialler: bool


class Beat(Value, frozen=True):
    """A sign of life, with the sender's clock in microseconds."""

    at: int


class Echo(Value, frozen=True):
    """The answer to a beat: its time, and the answering clock."""

    beat: int
    at: int


class Ask(Value, frozen=True):
    """The reader wants an output as an input of its own."""

    link: LinkNumber
    output: Name
    input: Name
    weight: Weight


class Define(Value, frozen=True):
    """The reader wants an output behind boxes that the writer is to run: a piece, named after the input."""

    link: LinkNumber
    output: Name
    input: Name
    weight: Weight
    version: Count
    """Of what is defined for this input: what is defined later has a greater one."""
    piece: Annotated[bytes, msgspec.Meta(max_length=PIECE_MOST)]
    grant: Annotated[bytes, msgspec.Meta(max_length=GRANT_MOST)] = b""
    """What lets the reader do so; a node of the same participant needs none."""


class Keep(Value, frozen=True):
    """Of its pieces at the receiver, the sender wants those of these inputs, and no others."""

    inputs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=KEPT_MOST)]


class Agree(Value, frozen=True):
    """The writer will send it."""

    link: LinkNumber
    incarnation: Incarnation
    """The life of the output's numbers, as the writer counts them for this reader."""
    begin: Natural
    """The first number that the reader has not acknowledged."""
    schema: bytes
    """The schema of the tuples, as Arrow writes it."""


class Begin(Value, frozen=True):
    """The reader has everything before a number, and takes so many bytes before it acknowledges."""

    link: LinkNumber
    number: Natural
    window: Count


class Tuples(Value, frozen=True):
    """All tuples of some numbers; the body is an Arrow stream."""

    link: LinkNumber
    begin: Natural
    end: Count
    rows: Count


class Stored(Value, frozen=True):
    """Everything before a number is durable at the reader."""

    link: LinkNumber
    end: Natural


class Worth(Value, frozen=True):
    """What the tuples of a link are worth at the outputs behind it, by how late they come and how many come.

    Without any points it is worth what any other output is.
    """

    link: LinkNumber
    delay: Graph
    loss: Graph
    weight: Weight
    age_us: Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)]
    """How old tuples are when they are stored, by the reader's clock."""


class Refusal(Value, frozen=True):
    """A link is refused, or ends."""

    link: LinkNumber
    code: Refused
    why: Annotated[str, msgspec.Meta(max_length=2000)]
    moved: Annotated[str, msgspec.Meta(max_length=255)] = ""
    """The node that has the output now, as far as the sender knows."""


class Close(Value, frozen=True):
    """The reader wants nothing more of a link."""

    link: LinkNumber


class Fetch(Value, frozen=True):
    """The sender wants a part of something that a move has: a state's file, or what is said of the move."""

    link: LinkNumber
    move: Token
    name: Name
    begin: Natural


class Chunk(Value, frozen=True):
    """The part is the body; all of it has so many bytes."""

    link: LinkNumber
    begin: Natural
    size: Natural
    is_there: bool
    """Whether there is such a thing, or no longer."""


class Post(Value, frozen=True):
    """A letter between two parts of the same kind; what it says is between them."""

    topic: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    data: Annotated[bytes, msgspec.Meta(max_length=LETTER_MOST)]


Said = (
    Hello
    | Beat
    | Echo
    | Ask
    | Define
    | Keep
    | Agree
    | Begin
    | Tuples
    | Stored
    | Worth
    | Refusal
    | Close
    | Fetch
    | Chunk
    | Post
)
