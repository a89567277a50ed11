"""The process that is killed: opens a node on a root, goes on where the last one was, ends with all outputs.

`python -m tests.crash.child SCENARIO SEED EVENTS FOLDER RUNNER [ROOT]` says `ready` when it begins, and
`working` when it has seen the first trains through.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.crash.scenarios import CAME, FLUSH, TICK, Scenario, scenario

from australis import Node
from australis.engine.history import organisation as keeping
from australis.engine.ledger.copies import copied_catalog
from australis.engine.maintain import compaction, merging, upkeep
from australis.engine.runner import SPARK
from australis.engine.sinks import TextFileSink, write_out
from australis.errors import EngineError

READY, WORKING = "ready", "working"
SOURCE, READER = "feed", "reader"
SINKS = {"windows": "windows.csv", "pairs": "pairs.jsonl.gz"}
READ = ("windows", "hot", "quarantine")
KEPT = "crowded"
EVENTS_AT_ONCE = 4
"""So many events are logged before the child waits for their trains: that makes many small ones."""

EVENTS_A_CHANGE = 3
"""The network changes with every so many events."""
SEGMENTS_OF_A_RUN = 6
"""So few small segments are compacted, that it happens to a child that does not live long."""
TUPLES_OF_A_RUN = 60
"""So few tuples are a run of history."""
LAYERS_OF_A_MERGE, BYTES_OF_A_MERGE = 2, 10_000
"""So few layers are merged, in so small blocks."""
SECONDS_BETWEEN_LOOKS = 0.2
"""So often the files of the root are looked through for orphans."""
COMMITS_OF_A_SNAPSHOT = 25
"""So few commits are replaced by a snapshot, where they are copied to the root."""
CATALOG_FOLDER = "catalog"
"""Where the catalogue of a root elsewhere is."""
# Most of these JVMs live for seconds, so compiling well does not pay.
JAVA = {"spark.driver.extraJavaOptions": "-Xss8m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
HISTORY = "history.kept"
CHANGES = "changes"


def main(name: str, seed: int, events: int, folder: Path, runner: str, root: str = "") -> None:
    given = scenario(name, seed, events)
    compaction.RUN_LEAST, keeping.RUN_ROWS_MOST = SEGMENTS_OF_A_RUN, TUPLES_OF_A_RUN
    upkeep.TIDY_EVERY_S, copied_catalog.SNAPSHOT_EVERY = SECONDS_BETWEEN_LOOKS, COMMITS_OF_A_SNAPSHOT
    merging.LARGE_LAYER, merging.FILES_MOST, merging.BYTES_AT_A_TIME = 0, LAYERS_OF_A_MERGE, BYTES_OF_A_MERGE
    with _node(folder, given, runner, root) as node:
        node.deploy(node.recorded() or given.network, tables=given.tables)
        with Consumers(node, given, folder) as consumers:
            _say(READY)
            feed(node, given, folder, consumers.go_on, lambda: _say(WORKING))
            consumers.end()
        _write_whole(folder / f"{KEPT}.kept", lines(node.read(KEPT)))
        _write_whole(folder / HISTORY, b"".join(history(node, given)))


def history(node: Node, given: Scenario) -> Iterator[bytes]:
    """What connection points keep in any case; what others find in their folders must be of it, and once."""
    for name, point in given.network.connection_points.items():
        whole = pa.concat_tables(node.history(name))
        numbers = Counter(whole["#seq"].to_pylist())
        files = [file for file in node.root.names(f"history/{name}") if file.endswith(".parquet")]
        found = Counter(number for file in files for number in _numbers(node, file))
        assert all(count <= numbers[number] for number, count in found.items() if number >= min(numbers)), (
            name
        )
        if point.history in (CAME, "forever"):
            yield lines(whole.slice(max(0, whole.num_rows - CAME)) if point.history == CAME else whole)


def _numbers(node: Node, file: str) -> list[int]:
    """The numbers in a file of history; none if it has expired since the folder was listed."""
    try:
        return list(pq.read_table(node.root.open(file))["#seq"].to_pylist())
    except EngineError:
        if node.root.exists(file):
            raise
        return []


def _node(folder: Path, given: Scenario, runner: str, root: str) -> Node:
    """A node whose clock stands still, so that timeouts are due by the events' local times alone.

    In two of three lives it keeps all states in layers, and in two of four it splits all segments.
    """
    starts = _one_more(folder / "starts")
    return Node(
        root or folder / "root",
        catalog=folder / CATALOG_FOLDER if root else None,
        runner=runner,
        clock=lambda: 0,
        discipline=given.discipline,
        train=given.train,
        way=given.way,
        partitions=given.partitions[starts % len(given.partitions)],
        layered_from=0 if starts % 3 else 1 << 20,
        split_from=1 if starts % 4 < 2 else 1 << 20,
        spark_options=JAVA if runner == SPARK else None,
    )


def _one_more(file: Path) -> int:
    """Count something that happens; gives how often it has before. The file has a byte for each time."""
    before = counted(file)
    with open(file, "ab") as times:
        times.write(b".")
    return before


def counted(file: Path) -> int:
    """How often something has happened."""
    return file.stat().st_size if file.exists() else 0


def feed(
    node: Node,
    given: Scenario,
    folder: Path,
    heard: Callable[[], None],
    drained: Callable[[], None] = lambda: None,
) -> None:
    """Log the events behind the last one that was committed, each once."""
    for number in range(int(node.position(SOURCE) or 0), len(given.events)):
        log(node, given, number)
        heard()
        if given.changes and change(node, given, number):
            _one_more(folder / CHANGES)
        if number % EVENTS_AT_ONCE == 0:
            node.drain()
            drained()
    node.drain()


def change(node: Node, given: Scenario, number: int) -> bool:
    """Let a query come or go, and now and then the whole network change, while trains are on their way."""
    assert given.query is not None
    if node.attached():
        node.detach("asked")
    elif number % EVENTS_A_CHANGE == 0:
        node.change(given.changes[number // EVENTS_A_CHANGE % len(given.changes)])
    elif node.recorded() == given.changes[0]:
        node.attach(given.query, name="asked")
    else:
        return False
    return True


def log(node: Node, given: Scenario, number: int) -> None:
    """Log an event together with the number of the next."""
    event, position = given.events[number], (SOURCE, str(number + 1))
    if event.what == TICK:
        node.tick(event.now, position=position)
    elif event.what == FLUSH:
        node.flush(event.now, position=position)
    elif event.promise is not None:
        node.promise(event.what, event.promise, event.now, position=position)
    else:
        node.push(event.what, event.batch, now=event.now, position=position)


class Consumers:
    """All that takes tuples out, each in a thread, in rounds that end when the node has nothing to do."""

    def __init__(self, node: Node, given: Scenario, folder: Path) -> None:
        self._takers: dict[str, Callable[[], None]] = {}
        for output, file in SINKS.items():
            sink = TextFileSink(output, str(folder / file), given.network.output_schema(output))
            node.consumer(sink.consumer, output)
            self._takers[file] = partial(write_out, node, sink)
        for output in READ:
            node.consumer(READER, output)
            self._takers[output] = partial(read_on, node, output, folder / f"{output}.read")
        self._pool = ThreadPoolExecutor(len(self._takers))
        self._rounds: Mapping[str, Future[None]] = {}

    def go_on(self) -> None:
        """Begin another round of those that are through with theirs."""
        self._rounds = {
            name: self._round(self._rounds.get(name), take) for name, take in self._takers.items()
        }

    def _round(self, current: Future[None] | None, take: Callable[[], None]) -> Future[None]:
        if current is not None and not current.done():
            return current
        if current is not None:
            current.result()
        return self._pool.submit(take)

    def end(self) -> None:
        """Wait for the rounds, and for one more in which they see all that is there."""
        for _ in range(2):
            for each in self._rounds.values():
                each.result()
            self.go_on()
        for each in self._rounds.values():
            each.result()

    def __enter__(self) -> Consumers:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=error[0] is None, cancel_futures=True)


def read_on(node: Node, output: str, path: Path) -> None:
    """Append the tuples of an output to a file that is first cut back to what was acknowledged of it."""
    size = int(node.consumer(READER, output)[1] or 0)
    with open(path, "ab") as file:
        file.truncate(size)
        for table in node.subscribe(output, consumer=READER, follow=False, rows=100):
            file.write(lines(table))
            file.flush()
            os.fsync(file.fileno())
            node.acknowledge(READER, output, table["#seq"][-1].as_py() + 1, str(file.tell()))


def lines(table: pa.Table) -> bytes:
    """Tuples as text, arrival time and sequence number included; times are numbers."""
    for place, each in enumerate(table.schema):
        if pa.types.is_timestamp(each.type):
            table = table.set_column(place, each.name, table[each.name].cast(pa.int64()))
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


def _write_whole(path: Path, data: bytes) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def _say(word: str) -> None:
    print(word, flush=True)  # noqa: T201


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:])
