"""Where a node can be reached: a file beside its catalogue, which only its user can read."""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from australis.engine.store import unwritable
from australis.errors import EngineError, Problem

FILE = "control.json"
VERSION = 1
"""The version of the channel: which requests there are, and what they contain."""
ADDRESS_MOST = 100
"""The most bytes in the path of a socket; Linux takes 107, other systems less."""
_FOLDER = "australis-"
_SOCKET = "control"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """The socket of a node, its key, and which node answers there."""

    address: str
    key: str
    process: int
    australis: str
    version: int = VERSION

    def write(self, directory: Path) -> None:
        """Write to a folder how to reach the node, readable only by its user, and atomically."""
        path = directory / FILE
        part = path.with_name(f".{FILE}.part")
        try:
            part.unlink(missing_ok=True)
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(asdict(self), file)
            os.replace(part, path)
        except OSError as error:
            raise unwritable(str(path), error) from error

    @classmethod
    def read(cls, directory: Path) -> Place | None:
        """How to reach the node of a folder; None if no address is written there."""
        path = directory / FILE
        try:
            told = json.loads(path.read_text())
            check_version(str(directory), told["version"], told["australis"])
            return cls(**told)
        except FileNotFoundError:
            # No node runs, or it has no control channel.
            return None
        except PermissionError:
            what = "cannot be read: the node belongs to another user"
            raise EngineError(Problem(str(path), what, "the user who started the node")) from None
        except (ValueError, TypeError, KeyError, OSError) as error:
            what = f"does not say how the node is reached: {error}"
            raise EngineError(Problem(str(path), what, "the file that the node has written")) from None

    def remove(self, directory: Path | None = None) -> None:
        """Remove the socket, and with a folder the address in it."""
        address = Path(self.address)
        with _left_behind(address):
            if stat.S_ISSOCK(address.lstat().st_mode):
                address.unlink()
            address.parent.rmdir()
        if directory is not None:
            with _left_behind(directory / FILE):
                (directory / FILE).unlink()


@contextmanager
def _left_behind(path: Path) -> Iterator[None]:
    """Log what cannot be removed; it does no harm: the next node on the root takes another address."""
    try:
        yield
    except FileNotFoundError:
        # Somebody has already removed it.
        return
    except OSError as error:
        _log.debug("%s stays, though its node has ended: %s", path, error)


def check_version(who: str, version: object, australis: object) -> None:
    """Refuse a peer with another version of the channel."""
    if version != VERSION:
        what = f"speaks version {version} of the control channel, and this is version {VERSION}"
        raise EngineError(Problem(who, what, f"the same australis on both sides: that one is {australis}"))


def listen(directory: Path, australis: str) -> tuple[socket.socket, Place]:
    """Listen for clients of the node whose catalogue is in a folder, which this process has locked.

    What a killed node has left there is removed.
    """
    try:
        if (stale := Place.read(directory)) is not None:
            stale.remove()
    except EngineError as error:
        _log.debug("the socket of the node before may stay: %s", error)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = Place(_bind(listener), secrets.token_hex(32), os.getpid(), australis)
        listener.listen(16)
        listener.setblocking(False)
        place.write(directory)
    except BaseException:
        listener.close()
        raise
    return listener, place


def _bind(listener: socket.socket) -> str:
    """Bind to a short path in a private folder of this user, wherever one can be made."""
    reason = f"no folder has a path of less than {ADDRESS_MOST} bytes"
    for where in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        try:
            folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=where))
        except OSError as error:
            reason = str(error)
            continue
        address = str(folder / _SOCKET)
        try:
            if len(os.fsencode(address)) < ADDRESS_MOST:
                listener.bind(address)
                return address
        except OSError as error:
            reason = str(error)
        folder.rmdir()
    what = f"no socket for the control channel can be made: {reason}"
    raise EngineError(Problem("control", what, "a TMPDIR with a short path, or a node without control"))
