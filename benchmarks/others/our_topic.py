"""Our side of `topics`: a node that reads a topic and writes one, exactly once, until its input ends."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from benchmarks.engine.australis_side import RUNNERS

from australis import NetworkBuilder, Node
from australis.app.running.conductor import Conductor
from australis.engine.sinks import SinkTaker, parse_sink
from australis.engine.sources import parse_source


def main(job: dict[str, Any]) -> None:
    """Run a node from topic to topic."""
    net = NetworkBuilder("topics")
    messages = net.input("messages", "id long not null, key long not null, value double not null")
    above = messages.filter("value > 50")
    above.map({"id": "id", "key": "key", "value": "value * 2 + 1"}).output("results")
    network = net.build()
    at = f"servers={job['servers']}"
    source = parse_source("messages", f"kafka:messages?{at}&end=never", network.inputs["messages"].schema)
    sink = parse_sink("results", f"kafka:results?{at}", network.output_schema("results"))
    with Node(Path(job["folder"]) / "root", runner=RUNNERS[job["side"]]) as node:
        node.deploy(network)
        with sink.start(node) as running:
            taker = SinkTaker("results", sink.consumer, running, lambda table: None)
            conductor = Conductor(node, [source], [taker], flush=False)
            threading.Thread(target=lambda: (sys.stdin.read(), conductor.ask())).start()
            conductor.run()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
