"""Drop: sheds tuples by a hash of their number (Aurora 4.5)."""

from __future__ import annotations

from australis.algebra.boxes import Drop
from australis.algebra.schema import Schema
from australis.reference.machine import Machine
from australis.reference.row import Item, Tuple

_WORD = 2**64


class DropMachine(Machine):
    """Drops the tuples whose number, hashed to a fraction, is less than the rate."""

    def __init__(self, box: Drop, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._box = box

    def start(self) -> None:
        self._number = 0

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        number, self._number = self._number, self._number + 1
        return [] if fraction(self._box.seed, number) < self._box.rate else [(0, tuple)]


def fraction(seed: int, number: int) -> float:
    """The hash of SplitMix64 of a seed and a number, as a fraction from 0 to 1.

    >>> round(fraction(0, 0), 4)
    0.8833
    """
    z = ((number + 1) * 0x9E3779B97F4A7C15 + seed) % _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % _WORD
    z = z ^ z >> 31
    return (z >> 11) / 2**53
