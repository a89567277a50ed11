"""An ad hoc query attached to a node: what it delivers, until it is detached."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from australis.algebra.grafting import output_names
from australis.algebra.network import Network
from australis.engine.deliver.subscription import Subscription
from australis.errors import EngineError, Problem


class Host(Protocol):
    """A node, as a query sees it."""

    def subscribe(self, output: str, *, consumer: str = ..., follow: bool = ...) -> Subscription: ...

    def attached(self) -> Mapping[str, Network]: ...

    def detach(self, name: str) -> None: ...


class Attached:
    """A query that runs on a node; as a context manager it is detached at the end."""

    def __init__(self, node: Host, name: str, query: Network) -> None:
        self._node, self.name, self._outputs = node, name, output_names(name, query)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the query's outputs on the node."""
        return tuple(self._outputs.values())

    @property
    def is_attached(self) -> bool:
        """Whether it is still attached."""
        return self.name in self._node.attached()

    def subscribe(self, output: str | None = None, *, follow: bool = True) -> Subscription:
        """The tuples of an output, table by table: history first, then new tuples, until it is detached.

        Without `follow` it ends when everything that has arrived is processed.
        """
        return self._node.subscribe(self._named(output), consumer=self.name, follow=follow)

    def _named(self, output: str | None) -> str:
        if output is None and len(self._outputs) == 1:
            return next(iter(self._outputs.values()))
        if output not in self._outputs:
            what = "has several outputs" if output is None else f"has no output {output!r}"
            raise EngineError(Problem(self.name, what, f"one of {', '.join(self._outputs)}"))
        return self._outputs[output]

    def detach(self) -> None:
        """Detach it, with all that it keeps."""
        self._node.detach(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()
