"""Files of a whole run: inputs are opened before it starts; outputs appear together at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from australis.algebra.network import Network
from australis.algebra.store import FileFormat
from australis.app.running.stopping import Stop
from australis.engine.files import Reader, Writer, open_writer
from australis.engine.sources import Options, open_source
from australis.engine.tables import StoreReader


@contextmanager
def open_inputs(
    network: Network,
    sources: Mapping[str, str],
    stream_format: str,
    formats: Mapping[str, FileFormat] | None = None,
) -> Iterator[dict[str, Reader]]:
    """Open the inputs; a file that is missing or lacks a column is found before anything runs.

    `formats` are other formats than the network says.
    """
    shared = Options(timezone=network.timezone, stream_format=stream_format)
    with ExitStack() as stack:
        readers = {}
        for name, text in sources.items():
            given = network.inputs[name]
            options = replace(shared, format=(formats or {}).get(name, given.format))
            readers[name] = stack.enter_context(open_source(name, text, given.arriving, options))
        yield readers


@contextmanager
def open_stores(network: Network) -> Iterator[dict[str, Reader]]:
    """Open the stores of inputs, to be read as they are when the run begins."""
    stored = [name for name, given in network.inputs.items() if given.store is not None]
    with ExitStack() as stack:
        yield {name: stack.enter_context(StoreReader(network, name)) for name in stored}


@contextmanager
def open_outputs(
    network: Network, targets: Mapping[str, str], stream_format: str, stop: Stop
) -> Iterator[dict[str, Writer]]:
    """Open the outputs, which all get their names at the end, or leave nothing behind."""
    writers: dict[str, Writer] = {}
    try:
        for name, path in targets.items():
            with stop.defer():
                writers[name] = open_writer(path, network.output_schema(name), stream_format=stream_format)
        yield writers
        for writer in writers.values():
            writer.finish()
        stop.too_late()
        for writer in writers.values():
            writer.publish()
    except BaseException:
        stop.too_late()
        for writer in writers.values():
            writer.discard()
        raise
