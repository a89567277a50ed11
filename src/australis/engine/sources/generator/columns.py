"""Random columns: each attribute has a kind, and every batch is a pure function of seed and number."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from australis.algebra.schema import Field
from australis.algebra.spans import microseconds
from australis.errors import AlgebraError, EngineError, Problem

BATCH_TUPLES = 65_536
"""The rows of a batch; it is generated as a whole, whatever is taken of it."""
BEGIN_US = round(datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1e6)
_KEYS = 1000
_TIME_NAME = re.compile(r"(?i)(.*_)?(time|ts|seconds)")

Chance = np.random.Generator


@dataclass(frozen=True)
class GeneratedColumn:
    """How the values of an attribute are drawn: a kind and its arguments, such as `normal(50, 15)`."""

    kind: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(self.arguments)})"


def default_column(field: Field, step: str, disorder: str) -> GeneratedColumn:
    """The default for an attribute: times grow, whole numbers and texts are keys."""
    if field.type.name == "timestamp" or (field.type.is_numeric and _TIME_NAME.fullmatch(field.name)):
        return GeneratedColumn("time", (step, disorder))
    if field.type.name == "boolean":
        return GeneratedColumn("chance", ("0.5",))
    if field.type.name in ("double", "decimal"):
        return GeneratedColumn("uniform", ("0", "100") if _whole_digits(field) >= 3 else ("0", "1"))
    return GeneratedColumn("key", (str(_KEYS),))


def _whole_digits(field: Field) -> int:
    return field.type.precision - field.type.scale if field.type.is_decimal else 15


def draw(field: Field, column: GeneratedColumn, seed: int, batch: int) -> pa.Array:
    """The values of an attribute in a batch; they do not depend on other attributes."""
    chance = np.random.default_rng([seed, batch, zlib.crc32(field.name.encode())])
    values = _KINDS[column.kind].draw(_Request(field, column.arguments, chance, batch * BATCH_TUPLES))
    try:
        return _as_type(values, field)
    except pa.ArrowInvalid as error:
        raise EngineError(Problem(field.name, f"{column} gives no {field.type}: {error}")) from None


@dataclass(frozen=True)
class _Request:
    field: Field
    arguments: tuple[str, ...]
    chance: Chance
    first: int

    @property
    def serials(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.arange(self.first, self.first + BATCH_TUPLES)

    def number(self, index: int) -> float:
        return _number(self.field.name, self.arguments[index])


def _number(path: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise EngineError(Problem(path, f"{text!r} is no number", "such as 100 or 0.5")) from None


def _time(request: _Request) -> pa.Array:
    """One step per tuple; each time is early by up to the disorder, so it may come after later ones."""
    step, disorder = (span(request.field.name, text) for text in request.arguments)
    early = request.chance.integers(0, disorder, BATCH_TUPLES, endpoint=True)
    since = request.serials * step - early
    if request.field.type.name == "timestamp":
        return pa.array(BEGIN_US + since, pa.int64())
    return since / 1e6


def span(path: str, text: str) -> int:
    """The microseconds of a length of time, which may be 0."""
    try:
        return microseconds(text, zero=True)
    except AlgebraError as error:
        raise EngineError(error.problems[0].under(path)) from None


def _key(request: _Request) -> pa.Array:
    return request.chance.integers(0, max(1, int(request.number(0))), BATCH_TUPLES)


def _zipf(request: _Request) -> pa.Array:
    """Keys of which the first are far more frequent: the n-th comes 1/n times as often."""
    weights = 1 / np.arange(1, max(1, int(request.number(0))) + 1)
    return np.searchsorted(np.cumsum(weights / weights.sum()), request.chance.random(BATCH_TUPLES))


def _choice(request: _Request) -> pa.Array:
    picked = request.chance.integers(0, len(request.arguments), BATCH_TUPLES)
    return pa.array(request.arguments, pa.string()).take(pa.array(picked))


@dataclass(frozen=True)
class _Kind:
    """A way to draw values: how many arguments it takes, and for which types."""

    draw: Callable[[_Request], pa.Array]
    arguments: tuple[int, int]
    types: tuple[str, ...]


_NUMBERS = ("int", "long", "double", "decimal")
_KINDS = {
    "serial": _Kind(lambda request: request.serials, (0, 0), (*_NUMBERS, "string")),
    "time": _Kind(_time, (2, 2), (*_NUMBERS, "timestamp")),
    "key": _Kind(_key, (1, 1), (*_NUMBERS, "string")),
    "zipf": _Kind(_zipf, (1, 1), (*_NUMBERS, "string")),
    "uniform": _Kind(lambda r: r.chance.uniform(r.number(0), r.number(1), BATCH_TUPLES), (2, 2), _NUMBERS),
    "normal": _Kind(lambda r: r.chance.normal(r.number(0), r.number(1), BATCH_TUPLES), (2, 2), _NUMBERS),
    "chance": _Kind(lambda r: r.chance.random(BATCH_TUPLES) < r.number(0), (1, 1), ("boolean",)),
    "choice": _Kind(_choice, (1, 10_000), ("string",)),
}


def check_column(field: Field, column: GeneratedColumn) -> None:
    """Refuse a kind that is unknown, not for the attribute's type, or lacks arguments."""
    kind = _KINDS.get(column.kind)
    if kind is None:
        raise EngineError(Problem(field.name, f"unknown kind {column.kind!r}", f"one of {', '.join(_KINDS)}"))
    if field.type.name not in kind.types:
        what = f"{column} is for {', '.join(kind.types)}, and the attribute is {field.type}"
        fitting = [name for name, other in _KINDS.items() if field.type.name in other.types]
        raise EngineError(Problem(field.name, what, f"one of {', '.join(fitting)}"))
    least, most = kind.arguments
    if not least <= len(column.arguments) <= most:
        what = f"{column} has {len(column.arguments)} arguments"
        raise EngineError(Problem(field.name, what, str(least) if least == most else f"{least} or more"))
    draw(field, column, 0, 0)


def _as_type(values: pa.Array, field: Field) -> pa.Array:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    wanted = field.type.arrow
    if field.type.is_integral and pa.types.is_floating(array.type):
        array = pa.array(np.rint(array.to_numpy()).astype(np.int64))
    if field.type.is_decimal:
        return _decimals(array, field)
    return array.cast(wanted)


def _decimals(array: pa.Array, field: Field) -> pa.Array:
    """Numbers as decimals: rounded to the last digit, and then exact."""
    steps = np.rint(np.asarray(array, np.float64) * 10.0 ** min(field.type.scale, 15)) / 10.0 ** min(
        field.type.scale, 15
    )
    return pa.array(steps).cast(field.type.arrow)
