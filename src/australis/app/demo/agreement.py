"""Two checks of the demonstration: Spark against the kernels, and the kernels against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from australis.algebra.network import Network, Output, Ref
from australis.app.running import start_engine


@dataclass(frozen=True)
class Agreement:
    """How much was compared, and what differed."""

    what: str
    count: int
    differences: tuple[str, ...]


def results_agree(network: Network, batches: list[pa.Table], found: Mapping[str, pa.Table]) -> Agreement:
    """Run the same batches on the kernels and compare every output, ignoring order within an event."""
    expected = _outputs("kernels", network, batches)
    differing = tuple(name for name in expected if _sorted(expected[name]) != _sorted(found[name]))
    return Agreement("tuples of all outputs", sum(table.num_rows for table in expected.values()), differing)


def _sorted(table: pa.Table) -> list[tuple[str, ...]]:
    """The attributes of all tuples, in a canonical order."""
    names = [name for name in table.column_names if not name.startswith("#")]
    return sorted(tuple(map(repr, row.values())) for row in table.select(names).to_pylist())


def engines_agree(network: Network, batches: list[pa.Table]) -> Agreement:
    """Run the same batches on both engines and compare what every box emits, tuple by tuple, in order."""
    watched = replace(network, outputs=_taps({str(ref): ref for ref in network.schemas}))
    kernels, reference = (_outputs(engine, watched, batches) for engine in ("kernels", "reference"))
    differing = tuple(name for name in kernels if not kernels[name].equals(reference[name]))
    return Agreement("tuples of all streams", sum(table.num_rows for table in kernels.values()), differing)


def _outputs(engine: str, network: Network, batches: list[pa.Table]) -> dict[str, pa.Table]:
    run = start_engine(engine, network)
    (name,) = network.inputs
    events = [run.push(name, batch, now) for now, batch in enumerate(batches)]
    events.append(run.flush(len(batches)))
    return {
        output: pa.concat_tables([event[output] for event in events]).combine_chunks() for output in events[0]
    }


def _taps(refs: Mapping[str, Ref]) -> dict[str, Output]:
    return {_name(key): Output(ref) for key, ref in refs.items()}


def _name(path: str) -> str:
    return "tap_" + path.replace(".", "__")
