"""The host: owns the node, and does what callers ask of it, long operations included.

In: networks as documents, tuples, questions. Out: what the node answers, or a `ServiceError` that says why
not. It knows no protocol: HTTP and Flight call it.
"""

from australis.service.host.deploying import (
    Outcome,
    SplitWanted,
    Wanted,
    admitted,
    compare,
    compare_split,
    compare_unsplit,
    detach,
    outputs_of,
    pause,
    resume,
    start_attach,
    start_deploy,
    start_remove,
    start_split,
    start_unsplit,
    step,
)
from australis.service.host.host import Host
from australis.service.host.network_texts import network_of
from australis.service.host.operations import Operation, Operations, OperationState
from australis.service.host.plain import moment, plain
from australis.service.host.pushing import push
from australis.service.host.reading import boxes, inputs, network_of_host, one, outputs, points, quarantine
from australis.service.host.search import Kind, search
from australis.service.host.sizes import EXPANDS_MOST, check_size, too_large
from australis.service.host.state import State

__all__ = [
    "EXPANDS_MOST",
    "Host",
    "Kind",
    "Operation",
    "OperationState",
    "Operations",
    "Outcome",
    "SplitWanted",
    "State",
    "Wanted",
    "admitted",
    "boxes",
    "check_size",
    "compare",
    "compare_split",
    "compare_unsplit",
    "detach",
    "inputs",
    "moment",
    "network_of",
    "network_of_host",
    "one",
    "outputs",
    "outputs_of",
    "pause",
    "plain",
    "points",
    "push",
    "quarantine",
    "resume",
    "search",
    "start_attach",
    "start_deploy",
    "start_remove",
    "start_split",
    "start_unsplit",
    "step",
    "too_large",
]
