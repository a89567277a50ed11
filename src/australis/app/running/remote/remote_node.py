"""A node at an address, with the calls that commands make on a node of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.algebra.network import Network
from australis.app.options import NodeAddress
from australis.client import Change, Client
from australis.errors import EngineError, ErrorCode, Problem, ServiceError


class RemoteNode:
    """A node at an address; a context manager."""

    def __init__(self, address: NodeAddress, patience_s: float = 60.0) -> None:
        place = address.place
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

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Change:
        """Run another network, whatever is lost: whoever calls this has asked."""
        return self.client.deploy(network, tables=tables, accept_loss=True)

    def detach(self, name: str) -> None:
        """Remove an ad hoc query."""
        self.client.detach(name)

    def refresh(self, name: str) -> int:
        """Read the store of an input again."""
        return self.client.refresh(name) or 0

    @contextmanager
    def asked(self, query: Network, name: str | None, *, keep: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Attach a query for a while, or for good; its name, and its outputs on the node."""
        chosen = name or self._free_name()
        attached = self.client.attach(query, name=chosen)
        try:
            yield chosen, attached.outputs
        finally:
            if not keep:
                # A node that has gone removes nothing, and says so when it is reached again.
                with suppress(ServiceError):
                    attached.detach()

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
