"""The interface of a node that the control channel serves to its clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine.deliver import Subscription


class Difference(Protocol):
    """What another network would change, or has changed."""

    def as_dict(self) -> dict[str, Any]:
        """As a dictionary, for programs; `lost` names what is lost."""

    def lines(self) -> Iterable[str]:
        """As text, for people."""


class Told(Protocol):
    """Something that a node reports to programs."""

    def as_dict(self) -> dict[str, Any]:
        """As a dictionary, for programs."""


class Served(Protocol):
    """A node, as the control channel sees it."""

    def network(self) -> Network:
        """The network as it runs."""

    def statistics(self) -> Told:
        """The statistics of boxes, queues and outputs."""

    def difference(self, network: Network) -> Difference:
        """What `change` would do."""

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Difference:
        """Run another network from now on."""

    def attach(self, network: Network, *, name: str = "query") -> object:
        """Attach an ad hoc query."""

    def split(
        self,
        box: str,
        into: int = ...,
        *,
        by: Sequence[str] = ...,
        any_order: bool = ...,
        dry_run: bool = ...,
    ) -> Difference:
        """Run a box as several copies from now on."""

    def unsplit(self, box: str, *, dry_run: bool = ...) -> Difference:
        """Run a box that was split as one again."""

    def detach(self, name: str) -> None:
        """Remove an ad hoc query; its reader comes to the end."""

    def attached(self) -> Mapping[str, Network]:
        """The ad hoc queries by name."""

    def subscribe(self, output: str, *, consumer: str = ..., follow: bool = ...) -> Subscription:
        """What an output delivers, from where the consumer of this name left off."""

    def refresh(self, name: str) -> int:
        """Read the store of an input again; returns the end of the log."""

    def pause(self) -> None:
        """Start no more trains, and wait for the running ones to finish."""

    def resume(self) -> None:
        """Start trains again."""
