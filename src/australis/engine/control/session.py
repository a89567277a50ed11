"""The conversation with one client: its requests are answered one after the other, in a separate thread."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

import pyarrow as pa

from australis.algebra.form import to_json
from australis.algebra.network import Network
from australis.engine.control.channel import Channel, Garbled, Message
from australis.engine.control.messages import australis_version, network_of, networks, part, refusal, welcome
from australis.engine.control.node_protocol import Difference, Served
from australis.engine.control.queries import Queries
from australis.engine.control.streams import End, Stream
from australis.engine.deliver import Attached
from australis.errors import AustralisError, EngineError, Problem

_log = logging.getLogger(__name__)


class Session:
    """Answers a client until it leaves, or `ending` becomes readable, which is when the node ends."""

    def __init__(
        self, channel: Channel, served: Served, queries: Queries, ending: socket.socket, patience_s: float
    ) -> None:
        self._channel, self._served, self._queries = channel, served, queries
        self._ending, self._patience_s = ending, patience_s
        self._requests: Mapping[str, Callable[[Message], None]] = {
            "status": self._send_status,
            "statistics": self._send_statistics,
            "difference": self._send_difference,
            "change": self._change,
            "split": self._split,
            "unsplit": self._unsplit,
            "attach": self._attach,
            "join": self._join,
            "detach": self._detach,
            "attached": self._send_attached,
            "refresh": self._refresh,
            "pause": self._pause,
            "resume": self._resume,
        }

    def run(self, key: str, *, refused: EngineError | None = None) -> None:
        """Greet the client, and answer it until the end; a client that is refused is told why."""
        # A client that has gone needs no answer.
        with suppress(EOFError):
            try:
                welcome(self._channel, key)
                if refused is not None:
                    raise refused
                while self._channel.wait(self._ending):
                    self._answer()
            except EOFError:
                raise
            except Exception as error:
                self._refuse(error)

    def _answer(self) -> None:
        """Answer a request; an invalid request gets an error as its answer, and the next one may follow."""
        try:
            message = self._channel.receive()
            self._handler(message)(message)
        except (EOFError, Garbled):
            raise
        except Exception as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> None:
        """Send an error as the answer; an unexpected one is a fault of the node, and is logged."""
        is_foreseen = isinstance(error, AustralisError)
        level = logging.DEBUG if is_foreseen else logging.ERROR
        _log.log(level, "a request of a client failed: %s", error, exc_info=not is_foreseen)
        self._channel.send(refusal(error))

    def _handler(self, message: Message) -> Callable[[Message], None]:
        name = part(message, "request", str)
        if name not in self._requests:
            expected = f"one of {', '.join(self._requests)}"
            raise EngineError(Problem("request", f"there is no request {name!r}", expected))
        return self._requests[name]

    # --- state and control

    def _send_status(self, message: Message) -> None:
        running = to_json(self._served.network())
        attached = networks(self._queries.attached())
        self._channel.send({"australis": australis_version(), "network": running, "attached": attached})

    def _send_statistics(self, message: Message) -> None:
        self._channel.send({"statistics": self._served.statistics().as_dict()})

    def _refresh(self, message: Message) -> None:
        self._channel.send({"log_end": self._served.refresh(part(message, "name", str))})

    def _pause(self, message: Message) -> None:
        self._served.pause()
        self._channel.send({"paused": True})

    def _resume(self, message: Message) -> None:
        self._served.resume()
        self._channel.send({"paused": False})

    # --- another network

    def _send_difference(self, message: Message) -> None:
        self._report(self._served.difference(network_of(message)))

    def _change(self, message: Message) -> None:
        tables = {name: self._receive_table(parts) for name, parts in part(message, "tables", dict).items()}
        self._report(self._queries.change(network_of(message), tables))

    def _split(self, message: Message) -> None:
        by = [str(each) for each in part(message, "by", list)]
        box, into = part(message, "box", str), part(message, "into", int)
        any_order, dry_run = part(message, "any_order", bool), part(message, "dry_run", bool)
        self._report(self._queries.split(box, into, by, any_order=any_order, dry_run=dry_run))

    def _unsplit(self, message: Message) -> None:
        box, dry_run = part(message, "box", str), part(message, "dry_run", bool)
        self._report(self._queries.unsplit(box, dry_run=dry_run))

    def _receive_table(self, parts: object) -> pa.Table:
        if not isinstance(parts, int) or parts < 1:
            raise Garbled(Problem("request.tables", f"{parts!r} is no number of parts", "1 or more"))
        return pa.concat_tables([self._channel.receive_table() for _ in range(parts)])

    def _report(self, difference: Difference) -> None:
        self._channel.send({"change": difference.as_dict(), "lines": list(difference.lines())})

    # --- ad hoc queries

    def _send_attached(self, message: Message) -> None:
        self._channel.send({"attached": networks(self._queries.attached())})

    def _detach(self, message: Message) -> None:
        name = part(message, "name", str)
        self._queries.detach(name)
        self._channel.send({"detached": name})

    def _attach(self, message: Message) -> None:
        network, keep, follow = (
            network_of(message, query=True),
            part(message, "keep", bool),
            part(message, "follow", bool),
        )
        name = None if message.get("name") is None else part(message, "name", str)
        self._stream(self._queries.attach(network, name, keep=keep), network, follow=follow)

    def _join(self, message: Message) -> None:
        name, follow = part(message, "name", str), part(message, "follow", bool)
        query = self._queries.join(name)
        self._stream(query, self._served.attached()[name], follow=follow)

    def _stream(self, query: Attached, network: Network, *, follow: bool) -> None:
        """Send what a query delivers, until the client leaves it."""
        stream = Stream(self._channel, query, network, follow=follow, patience_s=self._patience_s)
        try:
            self._channel.send({"name": query.name, "network": to_json(network)})
            stream.start()
            self._heed(stream)
        finally:
            stream.end()
            self._queries.leave(query.name)
        self._channel.send({"left": query.name})

    def _heed(self, stream: Stream) -> None:
        """Receive acknowledgements, until the client leaves or the node ends."""
        while self._channel.wait(self._ending):
            message = self._channel.receive()
            request = part(message, "request", str)
            if request == "leave":
                return
            if request != "took":
                what = f"{request!r} cannot be asked while a query is read"
                raise EngineError(Problem("request", what, "took or leave"))
            stream.took(message.get("output"))
        self._channel.send({"end": End.STOPPED})
        raise EOFError("the node ends")
