"""The client of programs that wait for their calls."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pyarrow as pa

from australis.client.networks import NetworkLike, Networks
from australis.client.place import Place
from australis.client.reading import Following, Missed
from australis.client.retries import Attempts, Backoff, Unreachable
from australis.client.streams import ROWS_OF_PAGE, Observations, Streams
from australis.client.trust import check_trust
from australis.client.tuples import Receipt, as_table, batches
from australis.client.volume import Hanging, Piece, Volume
from australis.client.wire import Answer, Request, Result, Steps
from australis.errors import ErrorCode, Problem, ServiceError

FLIGHT_FROM = 8 << 20
"""From how many bytes on tuples are pushed over Flight, where a node serves it."""
ANSWER_S = 120.0


class Client(Networks, Streams, Observations):
    """A node somewhere else, with the calls of a `Node`; a context manager. Any thread may use it."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        ca: str | Path | None = None,
        patience_s: float = 60.0,
    ) -> None:
        """`ca` is a file of certificates to trust; calls are repeated for `patience_s` where that is safe."""
        self.place, self.backoff = Place.of(url, token, ca), Backoff(patience_s)
        self._http = httpx.Client(**self.place.http(), timeout=httpx.Timeout(ANSWER_S, connect=10.0))
        self._closed, self._lock = threading.Event(), threading.Lock()
        self._volume: Volume | None = None
        self._source, self._number = f"client {secrets.token_hex(12)}", 0

    def close(self) -> None:
        """Hang up; what was acknowledged is durable."""
        self._closed.set()
        self._http.close()
        if self._volume is not None:
            self._volume.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- calls

    def push(self, name: str, pushed: object, *, key: str | None = None) -> Receipt:
        """Push tuples to an input; durable when this returns.

        They are a dictionary, a list of them, an Arrow table or batch, or a DataFrame of pandas or Polars. A
        call is repeated safely until it is answered. With a `key`, so can be another program's: the same key
        with the same tuples changes nothing.
        """
        if key is None:
            table = as_table(pushed)
            volume = None if table is None or table.nbytes < FLIGHT_FROM else self.volume()
            if table is not None and volume is not None:
                return self._push_volume(name, table, volume)
        return self.run(self._pushing(name, pushed, key))

    def push_numbered(self, name: str, parts: Sequence[pa.Table], source: str, number: int) -> Receipt:
        """Push tables as what a source has under numbers from `number` on.

        Each is stored as a whole, and each number of a source is taken once, in ascending order. It goes
        over Flight, where the node serves it.
        """
        volume = self.volume()
        if volume is None:
            # Keys are kept for a day, and numbers for good.
            done = Receipt(0, repeated=True)
            for own, part in enumerate(parts, number):
                done += self.run(self._pushing_once(name, part, f"{source} {own}"))
            return done
        return self._unless_gone(lambda: volume.push(name, parts, source, number))

    def _push_volume(self, name: str, table: pa.Table, volume: Volume) -> Receipt:
        with self._lock:
            source, number = self._source, self._number
            self._number += 1
        parts = batches(table)
        return self._unless_gone(lambda: volume.push(name, parts, f"{source} {number}", 0))

    def _unless_gone(self, call: Callable[[], Receipt]) -> Receipt:
        """Make a call that may be repeated, again and again for a while if the node cannot be reached."""
        following = self._following("", 0, None, False)
        while True:
            try:
                return call()
            except (Unreachable, ServiceError) as error:
                self._sleep(following.wait_s(error))

    def attach(self, network: NetworkLike, *, name: str = "query") -> Attached:
        """Attach an ad hoc query; its inputs are named after connection points, outputs or stored tables."""
        return Attached(self, name, self.run(self._attaching(network, name)))

    def subscribe(
        self,
        output: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        consumer: str | None = None,
        follow: bool = True,
        on_missed: Callable[[Missed], None] | None = None,
    ) -> Subscription:
        """The tuples of an output, table by table, with `#ts` and `#seq`.

        From the number `begin`, or from where the named consumer left off; a table is acknowledged when the
        next one is asked for. It reconnects, without a gap and without a duplicate. What the node did not
        keep is told to `on_missed`, and in `missed`. It ends at `end`; without `follow`, with what is there.
        """
        if consumer is not None and begin is None:
            begin = self.consumer(consumer, output)[0]
        following = self._following(output, begin or 0, consumer, follow)
        following.on_missed, following.end = on_missed, end
        return Subscription(self, following)

    # --- how calls are made

    def run(self, steps: Steps[Result]) -> Result:
        """Make the requests of a call."""
        try:
            request = next(steps)
            while True:
                try:
                    answer = self._answered(request)
                except ServiceError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as done:
            result: Result = done.value
            return result

    def _answered(self, request: Request) -> Answer:
        attempts = Attempts(request, self.backoff, self.place.url, time.monotonic)
        while True:
            outcome = self._attempt(request)
            wait = attempts.wait_s(outcome)
            if wait is None:
                return attempts.result(outcome)
            self._sleep(wait)

    def _attempt(self, request: Request) -> Answer | Unreachable:
        try:
            found = self._http.request(
                request.method,
                request.path,
                params=dict(request.params),
                headers=dict(request.headers),
                content=request.content,
            )
        except httpx.TransportError as error:
            check_trust(self.place, error)
            return gone(error)
        return Answer(found.status_code, {k.lower(): v for k, v in found.headers.items()}, found.content)

    def volume(self) -> Volume | None:
        """The Flight door of the node; None if it has none."""
        with self._lock:
            found = self._volume
        if found is not None:
            return found
        address = self.status().get("flight")
        with self._lock:
            if self._volume is None and address:
                self._volume = Volume(self.place, str(address))
            return self._volume

    def _following(self, output: str, begin: int, consumer: str | None, follow: bool) -> Following:
        return Following(output, begin, consumer, follow, self.backoff, self.place.url, time.monotonic)

    def _sleep(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise ServiceError(ErrorCode.STOPPING, Problem(self.place.url, "the client was closed"))


def connect(
    url: str, *, token: str | None = None, ca: str | Path | None = None, patience_s: float = 60.0
) -> Client:
    """A client of the node at an address, such as `http://127.0.0.1:8400`; nothing is sent yet.

    Without a token or certificates, $AUSTRALIS_TOKEN and $AUSTRALIS_CA have them.
    """
    return Client(url, token=token, ca=ca, patience_s=patience_s)


class Subscription(Iterator[pa.Table]):
    """The tables of an output; a context manager. `close` may be called by another thread, and ends it."""

    def __init__(self, client: Client, following: Following) -> None:
        self._client, self._following = client, following
        self._hanging, self._over = Hanging(), threading.Event()
        self._tables = self._followed()
        self._pending: int | None = None

    @property
    def next(self) -> int:
        """The number after the last tuple that was delivered."""
        return self._following.begin

    @property
    def missed(self) -> tuple[Missed, ...]:
        """What the node did not keep long enough."""
        return tuple(self._following.missed)

    def __next__(self) -> pa.Table:
        self._acknowledge()
        table = next(self._tables)
        self._pending = self._following.begin
        return table

    def _acknowledge(self) -> None:
        consumer, seq = self._following.consumer, self._pending
        if consumer is not None and seq is not None:
            self._client.acknowledge(consumer, self._following.output, seq)
        self._pending = None

    def _followed(self) -> Iterator[pa.Table]:
        """Read until the end, again and again from where the connection was lost."""
        following = self._following
        while not self._over.is_set():
            try:
                if not following.follow:
                    following.limit(self._client.kept(following.output, following.begin).end)
                for piece in self._pieces():
                    table = following.takes(piece)
                    if table is not None:
                        yield table
                if following.is_over and self._has_all():
                    return
                self._over.wait(following.looked(None))
            except (Unreachable, ServiceError) as error:
                if self._over.is_set():
                    return
                self._over.wait(following.wait_s(error))

    def _has_all(self) -> bool:
        client, following = self._client, self._following
        return client.run(client._has_all(following.output, following.begin, following.end))

    def _pieces(self) -> Iterator[Piece]:
        volume = self._client.volume()
        if volume is not None:
            yield from volume.pieces(self._following.ticket(), self._hanging)
            return
        while not self._over.is_set():
            piece = self._page()
            yield piece
            wait = self._following.looked(piece)
            if self._following.is_done(wait):
                return
            self._over.wait(wait)

    def _page(self) -> Piece:
        client, following = self._client, self._following
        return client.run(client._page(following.output, following.begin, following.end, ROWS_OF_PAGE))

    def close(self) -> None:
        """End it; the last table is delivered again to its consumer, unless the next one was asked for."""
        self._over.set()
        self._hanging.end()
        with suppress(ValueError):
            # Another thread is in the generator, and comes out of it by itself.
            self._tables.close()  # type: ignore[attr-defined]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Attached:
    """A query that runs on a node; as a context manager it is detached at the end."""

    def __init__(self, client: Client, name: str, outputs: tuple[str, ...]) -> None:
        self._client, self.name, self.outputs = client, name, outputs

    def subscribe(self, output: str | None = None, **given: Any) -> Subscription:
        """The tuples of the query, or of one of its outputs: history first, then new ones."""
        return self._client.subscribe(named_output(self.name, self.outputs, output), **given)

    def detach(self) -> None:
        """Detach it, with all that it keeps."""
        self._client.detach(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()


def gone(error: httpx.TransportError) -> Unreachable:
    """Why a request got no answer, and whether it may have arrived all the same."""
    never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return Unreachable(str(error) or type(error).__name__, arrived=not never_sent)


def named_output(query: str, outputs: tuple[str, ...], output: str | None) -> str:
    """The output of a query by its own name, or by that on the node."""
    if output is None and len(outputs) == 1:
        return outputs[0]
    found = {name.removeprefix(f"{query}."): name for name in outputs} | {name: name for name in outputs}
    if output not in found:
        what = "has several outputs" if output is None else f"has no output {output!r}"
        raise ServiceError(ErrorCode.NOT_FOUND, Problem(query, what, f"one of {', '.join(outputs)}"))
    return found[output]
