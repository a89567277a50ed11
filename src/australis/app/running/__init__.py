"""Running a network for a command: on a node or in this process, with sources, sinks and Ctrl-C.

In: networks and files. Out: written outputs and a summary.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.running.conductor import Conductor
    from australis.app.running.engines import ENGINES, SPARK, start_engine
    from australis.app.running.file_run import stopped_clock
    from australis.app.running.in_process import RunRequest, run_in_process
    from australis.app.running.on_node import run_on_node
    from australis.app.running.quiet_start import quietly
    from australis.app.running.reference_engine import ReferenceEngine
    from australis.app.running.remote import RemoteNode, nodes_at
    from australis.app.running.roots import (
        as_of_now,
        for_reading,
        network_of,
        optimisations_of,
        reach_node,
        reach_or_start_node,
        record_of,
    )
    from australis.app.running.stopping import Stop, stoppable
    from australis.app.running.summary import Summary
    from australis.app.running.whole_files import open_inputs
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "conductor": ("Conductor",),
            "engines": (
                "ENGINES",
                "SPARK",
                "start_engine",
            ),
            "in_process": (
                "RunRequest",
                "run_in_process",
            ),
            "on_node": ("run_on_node",),
            "quiet_start": ("quietly",),
            "reference_engine": ("ReferenceEngine",),
            "remote": ("RemoteNode", "nodes_at"),
            "roots": (
                "as_of_now",
                "for_reading",
                "network_of",
                "optimisations_of",
                "reach_node",
                "reach_or_start_node",
                "record_of",
            ),
            "stopping": (
                "Stop",
                "stoppable",
            ),
            "summary": ("Summary",),
            "file_run": ("stopped_clock",),
            "whole_files": ("open_inputs",),
        },
    )

__all__ = [
    "ENGINES",
    "SPARK",
    "Conductor",
    "ReferenceEngine",
    "RemoteNode",
    "RunRequest",
    "Stop",
    "Summary",
    "as_of_now",
    "for_reading",
    "network_of",
    "nodes_at",
    "open_inputs",
    "optimisations_of",
    "quietly",
    "reach_node",
    "reach_or_start_node",
    "record_of",
    "run_in_process",
    "run_on_node",
    "start_engine",
    "stoppable",
    "stopped_clock",
]
