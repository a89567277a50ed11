"""The client's side of the control channel: sends requests to the node that has a root open."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from australis.algebra.form import from_json, to_json
from australis.algebra.network import Network
from australis.engine.control.address import Place
from australis.engine.control.channel import Channel, Message, slices
from australis.engine.control.messages import answered, greet, network_of
from australis.engine.control.streams import End
from australis.errors import EngineError, Problem

_PATIENCE_S = 60.0
"""The seconds that an answer may take once it has begun; there is no limit on when it begins."""
_LEAVE_S = 10.0


@dataclass(frozen=True)
class RemoteChange:
    """What another network would change, or has changed, as the node reports it."""

    told: Mapping[str, Any]
    shown: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As a dictionary, for programs."""
        return dict(self.told)

    def lines(self) -> tuple[str, ...]:
        """As text, for people."""
        return self.shown


class Control:
    """A conversation with a node; a context manager. Errors of the node are raised here."""

    def __init__(self, directory: Path, place: Place, connected: socket.socket) -> None:
        self.who, self._process = str(directory), place.process
        self._channel = Channel(connected, _PATIENCE_S)
        try:
            with self._while_there():
                greet(self._channel, place.key, self.who)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Hang up; a query that is still being read is removed, unless it is kept."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- requests

    def network(self) -> Network:
        """The network as it runs, including its drop boxes."""
        return network_of(self._ask("status"), system=True)

    def statistics(self) -> dict[str, Any]:
        """The statistics of boxes, queues and outputs."""
        found: dict[str, Any] = self._ask("statistics")["statistics"]
        return found

    def difference(self, network: Network) -> RemoteChange:
        """What `change` would do."""
        return _change(self._ask("difference", network=_as_sent(network)))

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> RemoteChange:
        """Let the node run another network from now on; `tables` are its new stored tables."""
        parts = {name: list(slices(table)) for name, table in (tables or {}).items()}
        counts = {name: len(found) for name, found in parts.items()}
        sent = [each for found in parts.values() for each in found]
        return _change(self._ask("change", *sent, network=_as_sent(network), tables=counts))

    def split(
        self,
        box: str,
        into: int = 2,
        *,
        by: Sequence[str] = (),
        any_order: bool = False,
        dry_run: bool = False,
    ) -> RemoteChange:
        """Let the node run a box as several copies from now on."""
        parts = {"box": box, "into": into, "by": list(by), "any_order": any_order, "dry_run": dry_run}
        return _change(self._ask("split", **parts))

    def unsplit(self, box: str, *, dry_run: bool = False) -> RemoteChange:
        """Let the node run a box that was split as one again."""
        return _change(self._ask("unsplit", box=box, dry_run=dry_run))

    def attached(self) -> dict[str, Network]:
        """The ad hoc queries by name."""
        found: Mapping[str, Any] = self._ask("attached")["attached"]
        return {name: from_json(each, query=True) for name, each in found.items()}

    def attach(
        self, network: Network, *, name: str | None = None, keep: bool = False, follow: bool = True
    ) -> RemoteQuery:
        """Attach an ad hoc query and read it; without a name it gets a free one.

        Without `keep` it is removed when it is closed, and when this process ends for whatever reason.
        Without `follow` it ends when everything that has arrived so far is processed.
        """
        answer = self._ask("attach", network=_as_sent(network), name=name, keep=keep, follow=follow)
        return RemoteQuery(self, answer)

    def join(self, name: str, *, follow: bool = True) -> RemoteQuery:
        """Resume reading a query that was kept."""
        return RemoteQuery(self, self._ask("join", name=name, follow=follow))

    def detach(self, name: str) -> None:
        """Remove an ad hoc query, whoever reads it."""
        self._ask("detach", name=name)

    def refresh(self, name: str) -> int:
        """Read the store of an input again; returns the end of the log, after which the new rows apply."""
        return int(self._ask("refresh", name=name)["log_end"])

    def pause(self) -> None:
        """Start no more trains, and wait for the running ones to finish."""
        self._ask("pause")

    def resume(self) -> None:
        """Start trains again."""
        self._ask("resume")

    # --- inside

    def _ask(self, request: str, *tables: pa.Table, **parts: Any) -> Message:
        self.say({"request": request, **parts}, *tables)
        return self.hear()

    def say(self, message: Message, *tables: pa.Table) -> None:
        """Send a message."""
        with self._while_there():
            self._channel.send(message, *tables)

    def hear(self) -> Message:
        """The next message; a refusal is raised."""
        with self._while_there():
            self._channel.wait()
            return answered(self._channel.receive())

    def hear_table(self) -> pa.Table:
        """The table that follows a message that announced it."""
        with self._while_there():
            return self._channel.receive_table()

    def has_heard(self, timeout_s: float) -> bool:
        """Whether there is something to receive, within a time."""
        return self._channel.wait(timeout_s=timeout_s)

    @property
    def is_torn(self) -> bool:
        """Whether the conversation was cut off in the middle of a frame, and cannot continue."""
        return self._channel.is_torn

    @contextmanager
    def _while_there(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            what = f"its node, process {self._process}, has gone; what it had committed is safe"
            expected = "`australis run` to continue from there"
            raise EngineError(Problem(self.who, what, expected)) from None


class RemoteQuery:
    """An ad hoc query read by this process: iterates over pairs of an output and a table; a context manager.

    A table is acknowledged when the next one is asked for; only then is the next one sent.
    """

    def __init__(self, control: Control, answer: Message) -> None:
        self._control = control
        self.name: str = answer["name"]
        self.network = network_of(answer, query=True)
        self.end: End | None = None
        """Why there is no more to read, once it has ended."""

    def __iter__(self) -> Iterator[tuple[str, pa.Table]]:
        while self.end is None:
            message = self._control.hear()
            if "end" in message:
                self.end = End(message["end"])
                return
            output = str(message["table"])
            yield output, self._control.hear_table()
            # If the node has hung up, it has said why.
            with suppress(EngineError):
                self._control.say({"request": "took", "output": output})

    def close(self) -> None:
        """Leave the query, which is removed unless it is kept; when this returns, its name is free."""
        if self.end is End.STOPPED or self._control.is_torn:
            return
        # A node that has ended has no clients any more.
        with suppress(EngineError):
            self._control.say({"request": "leave"})
            while self._control.has_heard(_LEAVE_S):
                message = self._control.hear()
                if "left" in message:
                    return
                if "table" in message:
                    self._control.hear_table()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _change(answer: Message) -> RemoteChange:
    return RemoteChange(answer["change"], tuple(answer["lines"]))


def reach(directory: Path) -> Control | None:
    """Connect to the node that has a root open, by the folder of its catalogue; None if no node answers.

    The address file of a killed node leads nowhere.
    """
    place = Place.read(directory)
    if place is None:
        return None
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.connect(place.address)
    except (FileNotFoundError, ConnectionRefusedError):
        # A node that was killed has left its address.
        connected.close()
        return None
    except OSError as error:
        connected.close()
        what = f"cannot be reached at {place.address}: {error.strerror or error}"
        raise EngineError(Problem(str(directory), what, "the user and the machine of its node")) from None
    return Control(directory, place, connected)


def _as_sent(network: Network) -> dict[str, Any]:
    """A network with absolute paths: the node may have another current directory than this process."""
    return to_json(network.located(str(Path.cwd())))
