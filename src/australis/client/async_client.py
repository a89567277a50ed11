"""The client of programs that run on an event loop: the same calls, as coroutines."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pyarrow as pa

from australis.client.client import ANSWER_S, FLIGHT_FROM, gone, named_output
from australis.client.networks import NetworkLike, Networks
from australis.client.place import Place
from australis.client.reading import Following, Missed
from australis.client.retries import Attempts, Backoff, Unreachable
from australis.client.streams import ROWS_OF_PAGE, Observations, Streams
from australis.client.trust import check_trust
from australis.client.tuples import Receipt, as_table, batches
from australis.client.volume import Hanging, Piece, Volume
from australis.client.wire import Answer, Request, Result, Steps
from australis.errors import ServiceError


class AsyncClient(Networks, Streams, Observations):
    """A node somewhere else, for an event loop; an asynchronous context manager."""

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
        self._http = httpx.AsyncClient(**self.place.http(), timeout=httpx.Timeout(ANSWER_S, connect=10.0))
        self._volume: Volume | None = None
        self._source, self._number = f"client {secrets.token_hex(12)}", 0

    async def close(self) -> None:
        """Hang up; what was acknowledged is durable."""
        await self._http.aclose()
        if self._volume is not None:
            self._volume.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- calls

    async def push(self, name: str, pushed: object, *, key: str | None = None) -> Receipt:
        """Push tuples to an input, as `Client.push` does; durable when this returns."""
        if key is None:
            table = as_table(pushed)
            volume = None if table is None or table.nbytes < FLIGHT_FROM else await self.volume()
            if table is not None and volume is not None:
                self._number += 1
                source = f"{self._source} {self._number}"
                return await self._unless_gone(lambda: volume.push(name, batches(table), source, 0))
        return await self.run(self._pushing(name, pushed, key))

    async def _unless_gone(self, call: Callable[[], Receipt]) -> Receipt:
        following = self._following("", 0, None, False)
        while True:
            try:
                return await asyncio.to_thread(call)
            except (Unreachable, ServiceError) as error:
                await asyncio.sleep(following.wait_s(error))

    async def attach(self, network: NetworkLike, *, name: str = "query") -> AsyncAttached:
        """Attach an ad hoc query; its inputs are named after connection points, outputs or stored tables."""
        return AsyncAttached(self, name, await self.run(self._attaching(network, name)))

    def subscribe(
        self,
        output: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        consumer: str | None = None,
        follow: bool = True,
        on_missed: Callable[[Missed], None] | None = None,
    ) -> AsyncSubscription:
        """The tuples of an output, table by table, as `Client.subscribe` has them: use `async for`."""
        following = self._following(output, begin or 0, consumer, follow)
        following.on_missed, following.end = on_missed, end
        return AsyncSubscription(self, following, has_begun=begin is not None or consumer is None)

    # --- how calls are made

    async def run(self, steps: Steps[Result]) -> Result:
        """Make the requests of a call."""
        try:
            request = next(steps)
            while True:
                try:
                    answer = await self._answered(request)
                except ServiceError as error:
                    request = steps.throw(error)
                else:
                    request = steps.send(answer)
        except StopIteration as done:
            result: Result = done.value
            return result

    async def _answered(self, request: Request) -> Answer:
        attempts = Attempts(request, self.backoff, self.place.url, time.monotonic)
        while True:
            outcome = await self._attempt(request)
            wait = attempts.wait_s(outcome)
            if wait is None:
                return attempts.result(outcome)
            await asyncio.sleep(wait)

    async def _attempt(self, request: Request) -> Answer | Unreachable:
        try:
            found = await self._http.request(
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

    async def volume(self) -> Volume | None:
        """The Flight door of the node; None if it has none."""
        if self._volume is None and (address := (await self.status()).get("flight")):
            self._volume = Volume(self.place, str(address))
        return self._volume

    def _following(self, output: str, begin: int, consumer: str | None, follow: bool) -> Following:
        return Following(output, begin, consumer, follow, self.backoff, self.place.url, time.monotonic)


def connect_async(
    url: str, *, token: str | None = None, ca: str | Path | None = None, patience_s: float = 60.0
) -> AsyncClient:
    """An asynchronous client of the node at an address; nothing is sent yet."""
    return AsyncClient(url, token=token, ca=ca, patience_s=patience_s)


class AsyncSubscription(AsyncIterator[pa.Table]):
    """The tables of an output; an asynchronous context manager."""

    def __init__(self, client: AsyncClient, following: Following, *, has_begun: bool) -> None:
        self._client, self._following, self._has_begun = client, following, has_begun
        self._hanging = Hanging()
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

    async def __anext__(self) -> pa.Table:
        following = self._following
        if not self._has_begun and following.consumer is not None:
            following.begin = (await self._client.consumer(following.consumer, following.output))[0]
        self._has_begun = True
        if following.consumer is not None and self._pending is not None:
            await self._client.acknowledge(following.consumer, following.output, self._pending)
        self._pending = None
        table = await anext(self._tables)
        self._pending = following.begin
        return table

    async def _followed(self) -> AsyncIterator[pa.Table]:
        following = self._following
        while not self._hanging.is_over:
            try:
                if not following.follow:
                    following.limit((await self._client.kept(following.output, following.begin)).end)
                async for piece in self._pieces():
                    table = following.takes(piece)
                    if table is not None:
                        yield table
                if following.is_over and await self._has_all():
                    return
                await asyncio.sleep(following.looked(None))
            except (Unreachable, ServiceError) as error:
                if not self._hanging.is_over:
                    await asyncio.sleep(following.wait_s(error))

    async def _has_all(self) -> bool:
        client, following = self._client, self._following
        return await client.run(client._has_all(following.output, following.begin, following.end))

    async def _pieces(self) -> AsyncIterator[Piece]:
        volume = await self._client.volume()
        if volume is not None:
            # Flight waits in a thread, one piece at a time: nothing piles up here.
            pieces = iter(volume.pieces(self._following.ticket(), self._hanging))
            while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                yield piece
            return
        client, following = self._client, self._following
        while not self._hanging.is_over:
            found = await client.run(
                client._page(following.output, following.begin, following.end, ROWS_OF_PAGE)
            )
            yield found
            wait = following.looked(found)
            if following.is_done(wait):
                return
            await asyncio.sleep(wait)

    async def close(self) -> None:
        """End it; the last table is delivered again to its consumer, unless the next one was asked for."""
        self._hanging.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncAttached:
    """A query that runs on a node; as an asynchronous context manager it is detached at the end."""

    def __init__(self, client: AsyncClient, name: str, outputs: tuple[str, ...]) -> None:
        self._client, self.name, self.outputs = client, name, outputs

    def subscribe(self, output: str | None = None, **given: Any) -> AsyncSubscription:
        """The tuples of the query, or of one of its outputs: history first, then new ones."""
        return self._client.subscribe(named_output(self.name, self.outputs, output), **given)

    async def detach(self) -> None:
        """Detach it, with all that it keeps."""
        await self._client.detach(self.name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.detach()
