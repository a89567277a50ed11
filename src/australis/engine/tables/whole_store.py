"""A store as a reader, for runs without a node: all its rows as they are when the run begins."""

from __future__ import annotations

from collections.abc import Iterator

from australis.algebra.network import Network
from australis.algebra.store import Pull
from australis.engine.files import Batch, Mark, Reader
from australis.engine.tables.opening import open_store
from australis.engine.tables.reading import read_open


class StoreReader(Reader):
    """The rows of an input's store, in one batch; a table that would be looked up is read whole."""

    def __init__(self, network: Network, name: str) -> None:
        self._network, self._name = network, name
        self._stored = open_store(network, name)
        self._is_read = False

    def batches(self) -> Iterator[Batch]:
        found = read_open(self._network, self._name, self._stored, None, Pull.LOAD.value)
        self._is_read = True
        yield found.batch

    @property
    def mark(self) -> Mark:
        return Mark()

    def resume(self, mark: Mark) -> None:
        """A store has no places to resume at: it is read from its beginning."""

    def position(self) -> int:
        return int(self._is_read)

    @property
    def size(self) -> int:
        return 1

    def close(self) -> None:
        self._stored.close()
