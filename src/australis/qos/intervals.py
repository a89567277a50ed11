"""Axes: the values of an ordered type, numbered, so that the ends of intervals can be exact.

Every interval includes its first and its last value, so there are no open and closed ends to distinguish, and
any function that rises along an axis, however it rounds, is inverted by 64 bisections.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from australis.algebra.expr import Value
from australis.algebra.types import DataType

_WIDTHS = {"int": 31, "long": 63, "timestamp": 63}


@dataclass(frozen=True)
class Axis:
    """The values of a number or timestamp type, without NULL and NaN, by their positions in ascending order.

    >>> from australis.algebra.types import DOUBLE
    >>> axis = Axis(DOUBLE)
    >>> axis.value(axis.position(1.0) + 1)
    1.0000000000000002
    """

    type: DataType

    @staticmethod
    def has(type_: DataType) -> bool:
        """Whether a type has an axis."""
        return type_.is_numeric or type_.name == "timestamp"

    @property
    def last(self) -> int:
        """The position of the greatest value."""
        if self.type.is_decimal:
            return int(10**self.type.precision) - 1
        width = _WIDTHS.get(self.type.name)
        return _double_position(math.inf) if width is None else 2**width - 1

    @property
    def first(self) -> int:
        """The position of the least value."""
        return -self.last - (self.type.name in _WIDTHS)

    def value(self, position: int) -> Value:
        if self.type.is_decimal:
            return Decimal((position < 0, tuple(map(int, str(abs(position)))), -self.type.scale))
        return position if self.type.name in _WIDTHS else _double_at(position)

    def position(self, value: Value) -> int:
        assert value is not None
        if isinstance(value, Decimal):
            return int(value.scaleb(self.type.scale))
        return _double_position(float(value)) if self.type.name == "double" else int(value)

    def where(self, holds: Callable[[Value], bool]) -> int:
        """The first position from which a condition holds; one past the last if it never does.

        >>> from australis.algebra.types import INT
        >>> Axis(INT).where(lambda value: value * 0.5 >= 1.2)
        3
        """
        low, high = self.first, self.last + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(self.value(middle)) else (middle + 1, high)
        return low


def along(value: Value, type_: DataType) -> float:
    """The position of a value along the axis of a graph: timestamps in seconds, as in `graphs.positions`."""
    assert value is not None
    return float(value) / 1e6 if type_.name == "timestamp" else float(value)


def _double_position(value: float) -> int:
    """The position of a double among all doubles; both zeros have the same one."""
    bits = int(struct.unpack("<q", struct.pack("<d", value))[0])
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _double_at(position: int) -> float:
    magnitude = float(struct.unpack("<d", struct.pack("<q", abs(position)))[0])
    return magnitude if position >= 0 else -magnitude
