"""What is served: the face of a node that clients of its control channel see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.deliver import Subscription


class Difference(Protocol):
    """What another network would change, or has changed."""

    def as_dict(self) -> dict[str, Any]:
        """For programs; `lost` names what is lost."""

    def lines(self) -> Iterable[str]:
        """For people."""


class Told(Protocol):
    """What can be said of a node for programs."""

    def as_dict(self) -> dict[str, Any]:
        """For programs."""


class Served(Protocol):
    """A node."""

    def network(self) -> Network:
        """The network as it runs."""

    def statistics(self) -> Told:
        """What is known of boxes, queues and outputs."""

    def difference(self, network: Network) -> Difference:
        """What `change` would do."""

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Difference:
        """Run another network from now on."""

    def attach(self, network: Network, *, name: str = "query") -> object:
        """Attach an ad hoc query."""

    def detach(self, name: str) -> None:
        """Take an ad hoc query away; who reads it comes to the end."""

    def attached(self) -> Mapping[str, Network]:
        """The ad hoc queries by name."""

    def subscribe(self, output: str, *, consumer: str = ..., follow: bool = ...) -> Subscription:
        """What an output delivers, from where the consumer of this name left off."""

    def refresh(self, name: str) -> int:
        """Read the store of an input again; gives the end of the log."""

    def pause(self) -> None:
        """Start no more trains, and wait for those on their way."""

    def resume(self) -> None:
        """Go on."""
