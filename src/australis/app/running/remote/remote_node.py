"""A node at an address, with the calls that commands make on a node of this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.algebra.network import Network
from australis.app.options import NodeAddress
from australis.client import Change, Checked, Client
from australis.engine.ledger import Entry
from australis.engine.observe import Statistics
from australis.errors import EngineError, ErrorCode, Problem, ServiceError

RUNNING = "running"
LOOK_S = 0.1
"""How often a command looks whether a query has come far enough."""
ASKING_S, STAYING_S = 10.0, 60.0
"""How long a node may be away before a command that asks, or one that stays connected, gives up."""


@contextmanager
def nodes_at(places: Mapping[str, NodeAddress]) -> Iterator[dict[str, RemoteNode]]:
    """Nodes at some addresses, by name."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(RemoteNode(place)) for name, place in places.items()}


class RemoteNode:
    """A node at an address; a context manager. What `stays` for a while waits longer for one that is away."""

    def __init__(self, address: NodeAddress, *, stays: bool = False) -> None:
        place, patience_s = address.place, STAYING_S if stays else ASKING_S
        self.client = Client(place.url, token=place.token, ca=place.ca, patience_s=patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def difference(self, network: Network) -> Change:
        """What `change` would do; a node without a network gains all of it, and loses nothing."""
        try:
            return self.client.difference(network)
        except ServiceError as error:
            if error.code is not ErrorCode.CONFLICT:
                raise
            return Change({"lost": []}, (f"{network.name} would be the first network of the node",))

    def runs(self, name: str) -> bool:
        """Whether it runs a network of this name."""
        try:
            return self.client.network().name == name
        except ServiceError as error:
            if error.code not in (ErrorCode.CONFLICT, ErrorCode.NOT_FOUND):
                raise
            return False

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Change:
        """Run another network, whatever is lost: whoever calls this has asked."""
        return self.client.deploy(network, tables=tables, accept_loss=True)

    def check(self, network: Network | str) -> Checked:
        """Whether the node could run a network, or the text of one, and all that is wrong with it."""
        return self.client.check(network)

    def statistics(self) -> Statistics:
        """The statistics of boxes, queues and outputs."""
        return Statistics.from_dict(self.client.statistics())

    def shed(self) -> list[Entry]:
        """All drop boxes so far."""
        return [Entry(**each) for each in self.client.dropboxes()]

    def detach(self, name: str) -> None:
        """Remove an ad hoc query."""
        self.client.detach(name)

    def split(self, box: str, into: int, *, by: Sequence[str], any_order: bool, dry_run: bool) -> Change:
        """Run a box as several copies."""
        return self.client.split(box, into, by=by, any_order=any_order, dry_run=dry_run)

    def unsplit(self, box: str, *, dry_run: bool) -> Change:
        """Run a box that was split as one again."""
        return self.client.unsplit(box, dry_run=dry_run)

    def refresh(self, name: str) -> int:
        """Read the store of an input again."""
        return self.client.refresh(name) or 0

    @contextmanager
    def asked(self, query: Network, name: str | None, *, keep: bool) -> Iterator[str]:
        """Attach a query for a while, or for good; its name."""
        chosen = name or self._free_name()
        attached = self.client.attach(query, name=chosen)
        try:
            yield chosen
        finally:
            if not keep:
                # A node that has gone removes nothing, and says so when it is reached again.
                with suppress(ServiceError):
                    attached.detach()

    def wait_for(self, query: str) -> None:
        """Wait until a query has processed what the node has now, or the node runs no trains."""
        end, pause = self.client.statistics()["log_end"], threading.Event()
        while self._is_behind(query, end) and self.client.status()["state"] == RUNNING:
            pause.wait(LOOK_S)

    def _is_behind(self, query: str, end: int) -> bool:
        superboxes = self.client.statistics()["superboxes"].items()
        own = [each for name, each in superboxes if name.partition(".")[0] == query]
        return any(each["queue"] and each["head"] < end for each in own)

    def tables(
        self,
        outputs: Mapping[str, str],
        *,
        follow: bool,
        begin: int | None = None,
        consumer: str | None = None,
    ) -> Iterator[tuple[str, pa.Table]]:
        """The tuples of an output, under the name that it has for the user."""
        if len(outputs) != 1:
            expected = "a query with one output, or a client of your own for each"
            raise EngineError(Problem("--node", f"there are {len(outputs)} outputs to read", expected))
        ((output, shown),) = outputs.items()
        with self.client.subscribe(output, begin=begin, consumer=consumer, follow=follow) as tables:
            for table in tables:
                yield shown, table

    def _free_name(self) -> str:
        taken = self.client.attached()
        return next(name for n in range(1, len(taken) + 2) if (name := f"query{n}") not in taken)
