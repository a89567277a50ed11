"""Filter, Map, Union (Aurora 5.2.1) and Unnest: the order-agnostic boxes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from australis.algebra.boxes import Filter, Map, Union, Unnest
from australis.algebra.expr import Value
from australis.algebra.schema import Schema
from australis.reference.expressions import evaluate
from australis.reference.machine import Machine
from australis.reference.row import Item, Tuple


class Stateless(Machine):
    """A machine that remembers nothing."""

    def start(self) -> None:
        pass


class FilterMachine(Stateless):
    """Sends each tuple to the first predicate that it satisfies, or to the last output."""

    def __init__(self, box: Filter, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._predicates = box.bind(schemas[0])
        self._timezone = timezone

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        for output, predicate in enumerate(self._predicates):
            if evaluate(predicate, tuple.values, self._timezone) is True:
                return [(output, tuple)]
        return [(len(self._predicates), tuple)]


class MapMachine(Stateless):
    """Computes every attribute of the output from the input tuple."""

    def __init__(self, box: Map, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._expressions = box.bind(schemas[0])
        self._timezone = timezone

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        values = {name: evaluate(e, tuple.values, self._timezone) for name, e in self._expressions.items()}
        return [(0, Tuple(values, tuple.ts))]


class UnionMachine(Stateless):
    """Emits tuples in the order in which they arrive."""

    def __init__(self, box: Union, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        return [(0, tuple)]


class UnnestMachine(Stateless):
    """Emits a tuple for each element of an array."""

    def __init__(self, box: Unnest, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._box = box
        self._array = box.bind(schemas[0])
        self._timezone = timezone

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        array: Any = evaluate(self._array, tuple.values, self._timezone)
        if not array and self._box.keep_empty:
            return [(0, self._with(tuple, None, None))]
        return [(0, self._with(tuple, element, place)) for place, element in enumerate(array or [])]

    def _with(self, tuple: Tuple, element: Value, place: Value) -> Tuple:
        added = {self._box.attribute: element}
        if self._box.position is not None:
            added[self._box.position] = place
        return replace(tuple, values={**tuple.values, **added})
