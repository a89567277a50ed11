"""The rule of the ledger's lock: no file, network, kernel or planning work is done while it is held.

This module lists the entry points of such work, and refuses them in tests. While a thread holds the lock, no
other can commit or choose trains, so slow work has to be done before or after.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest

from australis.engine.ledger.guard import is_held_here
from australis.engine.ledger.record import Record
from australis.engine.store import segments, states
from australis.engine.store.disk import ArrowDisk, LocalDisk
from australis.engine.store.objects import ObjectDisk
from australis.engine.store.root import Root
from australis.engine.tables import opening
from australis.engine.tables.opening import FileStored
from australis.engine.tables.postgresql import PostgresqlStored
from australis.engine.tables.sqlite import SqliteStored
from australis.kernels import repartition
from australis.kernels.pipeline import Pipeline
from australis.plan import spread, superboxes
from australis.rewrite import improve, rewrite

FILES, NETWORKS, KERNELS, PLANNING = "files", "networks", "kernels", "planning"
KINDS = (FILES, NETWORKS, KERNELS, PLANNING)


@dataclass(frozen=True)
class Way:
    """An entry point of slow work: a function of a module, or a method of a class."""

    kind: str
    owner: Any
    name: str

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"


def _all(kind: str, owner: Any, names: str) -> list[Way]:
    return [Way(kind, owner, name) for name in names.split()]


WAYS = (
    *_all(
        FILES,
        Root,
        "prepare identity write write_all open delete delete_folder move claim sync exists size names",
    ),
    *_all(FILES, ArrowDisk, "create sync open delete delete_folder move claim exists size names make_folder"),
    *_all(FILES, LocalDisk, "create sync open claim"),
    # A commit is copied with the lock held (`create_once`); `open` shows whose commit is in its way.
    *_all(FILES, ObjectDisk, "create delete delete_all delete_folder move claim exists size sizes names"),
    *_all(FILES, segments, "read_segment read_metadata check_segment encode adopt"),
    *_all(FILES, states, "encode_state read_state"),
    *_all(FILES, pq, "write_table"),
    *_all(FILES, pq.ParquetFile, "read_row_groups"),
    *_all(NETWORKS, opening, "open_store"),
    *_all(NETWORKS, FileStored, "size read"),
    *_all(NETWORKS, SqliteStored, "size read lookup"),
    *_all(NETWORKS, PostgresqlStored, "size read lookup"),
    *_all(KERNELS, Pipeline, "start load push advance tick flush"),
    *_all(KERNELS, repartition, "repartition"),
    *_all(PLANNING, superboxes, "plan"),
    *_all(PLANNING, superboxes.Plan, "joined"),
    *_all(PLANNING, spread, "spread_of"),
    *_all(PLANNING, improve, "improve"),
    *_all(PLANNING, rewrite, "kept"),
    *_all(PLANNING, Record, "to_json"),
)
"""All entry points that are refused; not SQLite's work on the catalogue, which the lock is for."""


@contextmanager
def enforced() -> Iterator[list[str]]:
    """Refuse everything that breaks the rule; returns what did, even if the error was caught."""
    broken: list[str] = []
    with ExitStack() as stack:
        for way in WAYS:
            stack.enter_context(_guarded(way, broken))
        yield broken


@contextmanager
def _guarded(way: Way, broken: list[str]) -> Iterator[None]:
    plain = inspect.getattr_static(way.owner, way.name)
    checked = _checked(way, plain, broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(way.owner, way.name, checked)
        if isinstance(way.owner, ModuleType):
            for module, name in _places_of(plain):
                patch.setattr(module, name, checked)
        yield


def _places_of(function: object) -> list[tuple[ModuleType, str]]:
    """Other modules that have already imported a function, under any name."""
    ours = [module for name, module in sys.modules.items() if name.startswith(("australis.", "tests."))]
    return [
        (module, name) for module in ours for name, each in list(vars(module).items()) if each is function
    ]


def _checked(way: Way, plain: Callable[..., Any], broken: list[str]) -> Callable[..., Any]:
    def check() -> None:
        if is_held_here():
            broken.append(f"{way}\n{''.join(traceback.format_stack(limit=12))}")
            raise AssertionError(f"{way}: {way.kind} while the lock of a ledger is held")

    @wraps(plain)
    def call(*args: Any, **options: Any) -> Any:
        check()
        return plain(*args, **options)

    @wraps(plain)
    def iterate(*args: Any, **options: Any) -> Iterator[Any]:
        check()
        for each in plain(*args, **options):
            yield each
            check()

    return iterate if inspect.isgeneratorfunction(plain) else call
