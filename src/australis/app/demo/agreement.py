"""Two checks of the demonstration: kernels against reference, and Spark's expressions against Arrow's."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from australis.algebra.boxes import Filter, Map
from australis.algebra.expr import Expr
from australis.algebra.network import Network, Output, Ref
from australis.app.engines import start


@dataclass(frozen=True)
class Compared:
    """How much was compared, and what differed."""

    what: str
    count: int
    differences: tuple[str, ...]


def engines_agree(network: Network, batches: list[pa.Table]) -> Compared:
    """Run the same batches on both engines and compare what every box emits, tuple by tuple, in sequence."""
    watched = replace(network, outputs=_taps({str(ref): ref for ref in network.schemas}))
    kernels, reference = (_outputs(engine, watched, batches) for engine in ("kernels", "reference"))
    differing = tuple(name for name in kernels if not kernels[name].equals(reference[name]))
    return Compared("tuples of all streams", sum(table.num_rows for table in kernels.values()), differing)


def _outputs(engine: str, network: Network, batches: list[pa.Table]) -> dict[str, pa.Table]:
    run = start(engine, network)
    (name,) = network.inputs
    events = [run.push(name, batch, now) for now, batch in enumerate(batches)]
    events.append(run.flush(len(batches)))
    return {
        output: pa.concat_tables([event[output] for event in events]).combine_chunks() for output in events[0]
    }


def evaluators_agree(network: Network, batches: list[pa.Table], session: Any) -> Compared:
    """Evaluate every predicate and map of a network over the rows that reach it, by Arrow and by Spark."""
    evaluate_all = importlib.import_module("australis.kernels.expressions").evaluate_all
    column = importlib.import_module("australis.compile.expressions").column
    count, differing = 0, []
    for box_id, rows in _rows_before(network, batches).items():
        expressions = _expressions(network, box_id)
        by_arrow = evaluate_all(list(expressions.values()), rows, network.timezone)
        columns = [column(expr).alias(name) for name, expr in expressions.items()]
        by_spark = session.createDataFrame(rows).select(*columns).toArrow()
        for name, values in zip(expressions, by_arrow, strict=True):
            count += len(values)
            if not values.equals(by_spark[name].combine_chunks().cast(values.type)):
                differing.append(f"{box_id}.{name}")
    return Compared("values of its predicates and maps", count, tuple(differing))


def _rows_before(network: Network, batches: list[pa.Table]) -> dict[str, pa.Table]:
    """The rows that reach each Filter and Map, by a run in which these arcs are outputs."""
    stateless = {
        b: node.sources[0] for b, node in network.boxes.items() if isinstance(node.box, Filter | Map)
    }
    found = _outputs("kernels", replace(network, outputs=_taps(stateless)), batches)
    return {
        box_id: found[_name(box_id)].select(list(network.input_schemas(box_id)[0].names))
        for box_id in stateless
    }


def _taps(refs: Mapping[str, Ref]) -> dict[str, Output]:
    return {_name(key): Output(ref) for key, ref in refs.items()}


def _name(path: str) -> str:
    return "tap_" + path.replace(".", "__")


def _expressions(network: Network, box_id: str) -> dict[str, Expr]:
    box, schema = network.boxes[box_id].box, network.input_schemas(box_id)[0]
    if isinstance(box, Map):
        return box.bind(schema)
    assert isinstance(box, Filter)
    return {f"predicate{number}": expr for number, expr in enumerate(box.bind(schema))}
