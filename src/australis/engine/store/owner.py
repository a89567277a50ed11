"""The owner of a root: a small file that names its catalogue, and how far that had come.

It is written when a root is opened, periodically while a node runs, and when the node stops: never for a
train. Opening a root compares it with the catalogue before any file is taken for an orphan.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass, fields

from australis.engine.store.root import PLANS, Root
from australis.errors import EngineError, Problem

OWNER = "owner.json"
"""The name of the file."""


@dataclass(frozen=True)
class Owner:
    """Whose a root is."""

    root: str
    """The identity of the root."""
    catalog: str
    """The identity of its catalogue."""
    place: str
    """The folder of the catalogue, for messages only: both may be moved."""
    epoch: int
    """How often the root was opened."""
    commits: int
    """How many commits the catalogue had when this was written."""
    is_open: bool
    """Whether a node has the root, or ended without releasing it."""
    process: str
    """The process that opened it."""


def this_process() -> str:
    """How this process is named to others."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def read_owner(root: Root) -> Owner | None:
    """The owner of a root; None if it was never opened, or only by a version that wrote no owner."""
    if not root.exists(OWNER):
        return None
    with root.open(OWNER) as file:
        text = file.read()
    try:
        return _parsed(text)
    except (ValueError, TypeError) as error:
        raise EngineError(
            Problem(root.uri_of(OWNER), f"is damaged: {error}", f"the file as it was; {WITHOUT_OWNER}")
        ) from error


def _parsed(text: bytes) -> Owner:
    """An owner of which every field is what it should be; raises ValueError or TypeError otherwise."""
    given = json.loads(text)
    if not isinstance(given, dict):
        raise TypeError(f"it has a {type(given).__name__} in place of an object")
    owner = Owner(**given)
    for field in fields(owner):
        value = getattr(owner, field.name)
        if type(value).__name__ != field.type:
            raise TypeError(f"{field.name} is {value!r}")
    return owner


WITHOUT_OWNER = (
    f"restore it from a copy. If there is none, delete {OWNER}: "
    "files that the catalogue does not know then go to the trash, and stay there for a day"
)
"""What to do if owner and catalogue do not match, and there is no better advice."""


def write_owner(root: Root, owner: Owner, *, is_first: bool = False) -> None:
    """Replace the owner atomically and durably; the first one is only written if there is none."""
    name = root.new_name(PLANS, "owner", ".tmp")
    root.write(name, json.dumps(asdict(owner), indent=1).encode())
    if is_first:
        try:
            root.claim(name, OWNER)
        except FileExistsError as error:
            what = "was opened by another node at the same moment"
            raise EngineError(Problem(root.uri, what, "one node on a root; stop the other")) from error
    else:
        root.move(name, OWNER)
    root.sync(OWNER)
