"""Finds new rows of a store by an ascending attribute: every row once, even one that appears late.

A serial number is drawn before its row is committed, so rows may appear out of order; and several rows may
have the same time. So each reading begins an overlap before the greatest value of the last one, and leaves
out rows that were taken then. Their digests are part of the position that is committed with them.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import Attribute, Call, Expr, Literal
from australis.algebra.types import BOOLEAN
from australis.engine.files import Batch, Rejected
from australis.engine.tables.stored import Stored
from australis.kernels.arrays import DIGEST_BYTES, Digests, digests

KNOWN_MOST = 250_000
"""How many rows of the overlap are remembered; their digests, of 16 bytes each, are in the catalogue."""
_log = logging.getLogger(__name__)
_DIGEST = f"S{DIGEST_BYTES}"
_NO_ROWS = (np.zeros(0, np.int64), np.zeros(0, _DIGEST))
Values = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Rows that can be recognised: their values of the ascending attribute, and their digests."""

    values: Values
    digests: Digests

    def without(self, taken: Rows) -> npt.NDArray[np.bool_]:
        """Which rows are new: those with an unknown digest, at values that have more rows than before.

        So a row that was updated but kept its value is not new, unless there are more rows with this value.
        """
        distinct, of = np.unique(self.values, return_inverse=True)
        more = np.bincount(of, minlength=len(distinct)) > _counts(distinct, taken.values)
        return _is_unknown(self.digests, taken.digests) & more[of]


@dataclass(frozen=True)
class Reached:
    """How far a store was read."""

    last: int | None
    """The greatest value; None before the first row."""
    begin: int
    """The least value that is read again."""
    taken: Rows
    """The rows from there on that were taken."""
    rejected: Digests
    """The number of rows from there on that did not fit."""
    form: str
    """The attributes that the digests cover."""

    @property
    def text(self) -> str:
        known = {"last": self.last, "begin": self.begin, "form": self.form}
        rows = {"values": self.taken.values, "taken": self.taken.digests, "rejected": self.rejected}
        return json.dumps({**known, **{name: _packed(each) for name, each in rows.items()}})


def read_reached(text: str | None, form: str) -> Reached | None:
    """Parse a position; one without digests, or with those of other attributes, has no overlap."""
    known: Mapping[str, Any] = json.loads(text) if text else {}
    if known.get("form") == form:
        values, taken, rejected = (known[name] for name in ("values", "taken", "rejected"))
        rows = Rows(_unpacked(values, "i8"), _unpacked(taken, _DIGEST))
        return Reached(known["last"], known["begin"], rows, _unpacked(rejected, _DIGEST), form)
    last = known.get("last")
    return None if last is None else Reached(last, last + 1, Rows(*_NO_ROWS), _NO_ROWS[1], form)


def read_new(stored: Stored, position: str | None, where: Expr | None) -> tuple[Batch, str]:
    """The rows that are new since a position, in ascending order, and the position after them."""
    form = str(stored.schema)
    before = read_reached(position, form)
    found = stored.read(where if before is None else _both(_from(stored, before.begin), where))
    table, values = _ordered(found.table, stored.store.ascending, before)
    # From a file, or if rows are compared here, everything is read again: its faults are reported the first
    # time.
    is_part = stored.looks_up([stored.store.ascending])
    bad = _digests_of(found.rejected if is_part else ())
    last, begin = _next(stored, values, before)
    at = int(np.searchsorted(values, begin))
    known = Rows(values[at:], digests(table.slice(at).columns))
    after = Reached(last, begin, known, bad[-KNOWN_MOST:], form)
    if before is None:
        return Batch(table, found.rejected), after.text
    rejected = compress(found.rejected, _is_unknown(bad, before.rejected))
    return Batch(_without_taken(table, values, before), tuple(rejected)), after.text


# --- what is read


def _from(stored: Stored, begin: int) -> Expr:
    name, field = stored.store.ascending, stored.schema[stored.store.ascending]
    return Call(">=", (Attribute(name, field.type, False), Literal(begin, field.type)), BOOLEAN)


def _both(one: Expr, other: Expr | None) -> Expr:
    return one if other is None else Call("and", (one, other), BOOLEAN)


def _ordered(table: pa.Table, name: str, before: Reached | None) -> tuple[pa.Table, Values]:
    """The rows from the start of a reading on, in ascending order, and their values."""
    if before is not None:
        table = table.filter(pc.greater_equal(table[name].cast(pa.int64()), before.begin))
    table = table.sort_by(name).combine_chunks()
    return table, table[name].cast(pa.int64()).to_numpy()


def _next(stored: Stored, values: Values, before: Reached | None) -> tuple[int | None, int]:
    """The greatest value so far, and where the next reading begins."""
    type_ = stored.schema[stored.store.ascending].type
    least = -(1 << 31) if type_.name == "int" else -(1 << 63)
    seen = [*values[-1:].tolist(), *([before.last] if before and before.last is not None else [])]
    last = max(seen, default=None)
    if last is None:
        return None, least
    begin = max(last - stored.store.overlap_along(type_), least, before.begin if before else least)
    if np.count_nonzero(values >= begin) > KNOWN_MOST:
        begin = int(values[-KNOWN_MOST - 1]) + 1
        what = "%s: the overlap has more than %d rows; a row that appears after so many others is missed"
        _log.warning(what, stored.path, KNOWN_MOST)
    return last, begin


# --- what is new of it


def _without_taken(table: pa.Table, values: Values, before: Reached) -> pa.Table:
    """The rows that were not taken before; those beyond the last greatest value cannot have been."""
    rows = 0 if before.last is None else int(np.searchsorted(values, before.last, side="right"))
    again = table.slice(0, rows)
    new = Rows(values[:rows], digests(again.columns)).without(before.taken)
    return pa.concat_tables([again.filter(pa.array(new)), table.slice(rows)])


def _is_unknown(keys: Digests, taken: Digests) -> npt.NDArray[np.bool_]:
    """Which rows look like none that were taken; of equal rows, as many as were not."""
    distinct, of = np.unique(keys, return_inverse=True)
    return _places(of) >= _counts(distinct, taken)[of]


def _counts(distinct: npt.NDArray[Any], among: npt.NDArray[Any]) -> Values:
    """How often each of some ascending values occurs among others."""
    found = np.zeros(len(distinct), np.int64)
    known, counts = np.unique(among, return_counts=True)
    _, mine, theirs = np.intersect1d(distinct, known, assume_unique=True, return_indices=True)
    found[mine] = counts[theirs]
    return found


def _places(of: npt.NDArray[np.intp]) -> Values:
    """The rank of each row within its group."""
    order = np.argsort(of, kind="stable")
    ordered, places = of[order], np.empty(len(of), np.int64)
    places[order] = np.arange(len(of)) - np.searchsorted(ordered, ordered)
    return places


def _digests_of(rejected: tuple[Rejected, ...]) -> Digests:
    return digests([pa.array([row.tuple for row in rejected], pa.string())])


def _packed(known: npt.NDArray[Any]) -> str:
    return base64.b64encode(known.tobytes()).decode()


def _unpacked(text: str, kind: str) -> npt.NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), kind)
