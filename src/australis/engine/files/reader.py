"""What every reader is: an iterator of batches with a position and notes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from australis.algebra.schema import Schema
from australis.engine.files.blocks import TextSource
from australis.engine.files.opening import Idle
from australis.engine.files.rows import Batch, Mark
from australis.errors import EngineError, Problem

_SHOWN_COLUMNS = 20


class Reader(ABC):
    """Reads a file batch by batch; a context manager that closes it."""

    notes: tuple[str, ...] = ()
    """Notes that are not errors, such as columns that are not attributes."""

    is_live: bool = False
    """Whether the rows come in over time: then each batch is what was there."""

    def while_waiting(self, idle: Idle) -> None:  # noqa: B027
        """Call `idle` while there is nothing to read; a file that does not grow never waits."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """The rows of the file, in their order."""

    @property
    @abstractmethod
    def mark(self) -> Mark:
        """The beginning of the block that the latest batch is from."""

    @abstractmethod
    def resume(self, mark: Mark) -> None:
        """Begin at a mark of another reader of the file: from there on, `batches` are the same."""

    @abstractmethod
    def position(self) -> int:
        """How much of the file has been read, in the units of `size`."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """How much there is to read, or None if unknown."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TextReader(Reader):
    """A reader of a text file, which may be compressed, standard input, or a file that still grows."""

    def __init__(self, source: TextSource) -> None:
        self._path = source.path
        self._source = source
        self.is_live = source.is_live

    def while_waiting(self, idle: Idle) -> None:
        self._source.while_waiting(idle)

    @property
    def mark(self) -> Mark:
        return self._source.mark

    def resume(self, mark: Mark) -> None:
        self._source.resume(mark)

    def position(self) -> int:
        return self._source.position()

    @property
    def size(self) -> int | None:
        return self._source.size

    def close(self) -> None:
        self._source.close()


def there(schema: Schema, wanted: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    """The columns wanted for attributes, without those that are left out where the schema allows it."""
    return {name: of for name, of in wanted.items() if of in columns or not schema[name].optional}


def check_columns(
    path: str, wanted: Mapping[str, str], columns: Sequence[str], what: str, hint: str = ""
) -> tuple[str, ...]:
    """Refuse a file that lacks the column of an attribute or has it twice; note columns that are not wanted.

    `wanted` has the name of the column for each attribute, `hint` what else may help.
    """
    missing = [name for name in wanted.values() if name not in columns]
    if missing:
        raise EngineError(
            Problem(
                path,
                f"{what} lacks {_listed(missing)}: it has {_some(columns)}",
                ", ".join(wanted.values()) + hint,
            )
        )
    twice = [name for name in dict.fromkeys(wanted.values()) if list(columns).count(name) > 1]
    if twice:
        raise EngineError(Problem(path, f"{what} has {_listed(twice)} more than once", "each attribute once"))
    return ignored(path, "column", {name: "" for name in columns if name not in wanted.values()})


def _some(columns: Sequence[str]) -> str:
    """The first names of many."""
    shown = [*columns[:_SHOWN_COLUMNS], *(["..."] if len(columns) > _SHOWN_COLUMNS else [])]
    return ", ".join(shown) or "nothing"


def ignored(path: str, kind: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Notes on columns or fields of a file that are not attributes, each with the one that may be meant.

    >>> ignored("in.jsonl", "field", {"rank": "", "spede": "speed"})
    ("in.jsonl: field 'spede' is not in the schema; did you mean 'speed'?",
     "in.jsonl: field 'rank' is not in the schema and is ignored")
    """
    meant = [
        f"{path}: {kind} {name!r} is not in the schema; did you mean {attribute!r}?"
        for name, attribute in names.items()
        if attribute
    ]
    rest = [name for name, attribute in names.items() if not attribute]
    if not rest:
        return tuple(meant)
    are = "are not in the schema and are ignored" if len(rest) > 1 else "is not in the schema and is ignored"
    return (*meant, f"{path}: {_listed(rest, kind)} {are}")


def _listed(names: Sequence[str], kind: str = "column") -> str:
    return f"{kind}{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
