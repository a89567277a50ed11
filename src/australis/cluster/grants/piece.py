"""Pieces: boxes that one participant wants behind an output of another, and how they are checked.

A piece is a text, the part of an input's document that says what happens before its tuples cross over:
`{"before": [...], "reads": {...}, "schema": {...}}`. Its boxes read one another in turn.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from australis.algebra.boxes import Box
from australis.algebra.expr import FUNCTIONS, OPERATORS, Call, walk
from australis.algebra.form import from_json, to_json
from australis.algebra.network import Network
from australis.algebra.schema import Schema, schema_of
from australis.cluster.grants.grant import Grant, fits
from australis.cluster.wire import PIECE_MOST
from australis.errors import AlgebraError, ClusterError, Problem

PREFIX = "piece_"
"""With which the names of pieces begin at the node that runs them."""
_FIELDS = {"before", "reads", "schema", "timezone"}
_BEFORE_BOXES_MOST = 100


def definition_of(network: Network, name: str) -> str:
    """What the input of a network wants done before its tuples cross over; empty if nothing."""
    if not network.inputs[name].before:
        return ""
    whole = to_json(network)
    document = {**whole["inputs"][name], **({"timezone": network.timezone} if "timezone" in whole else {})}
    found = json.dumps({key: document[key] for key in sorted(_FIELDS & {*document})})
    if len(found.encode()) > PIECE_MOST:
        what = f"is {len(found.encode()):,} bytes long"
        raise ClusterError(Problem(f"{network.name}.inputs.{name}.before", what, f"at most {PIECE_MOST:,}"))
    return found


def name_of(holder: str, name: str) -> str:
    """The name of a piece among the queries of the node that runs it.

    >>> name_of("lab/b-2", "dear")
    'piece_lab_b_2_dear_f6fc7c43'
    """
    # What is left of the names may be the same for several holders.
    mark = hashlib.sha256(f"{holder}\n{name}".encode()).hexdigest()[:8]
    return f"{PREFIX}{re.sub('[^A-Za-z0-9]', '_', f'{holder}/{name}')[:200]}_{mark}"


def query_of(definition: str, query: str, output: str, stream: Schema) -> Network:
    """The query that a piece is behind an output; raises if it makes no sense there."""
    document = _document(definition)
    try:
        makes = schema_of(document["schema"])
        reads = schema_of(document["reads"]) if "reads" in document else makes
        boxes = [*_narrowing(reads, stream, output), *document["before"]]
        whole = _network(query, output, stream, boxes)
        network = from_json({**whole, "timezone": document.get("timezone", "UTC")}, query=True)
    except AlgebraError as error:
        raise ClusterError(error.problems[0]) from error
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise _nonsense() from error
    found = network.output_schema("out")
    if not makes.takes(found):
        raise ClusterError(Problem("before", f"makes ({found}) of {output}", f"({makes})"))
    return network


def check(query: Network, definition: str, grant: Grant | None) -> None:
    """Refuse boxes and functions that a grant does not offer; nobody may bring code along."""
    wanted = len(_document(definition)["before"])
    if grant is not None and wanted > grant.limits.boxes:
        raise ClusterError(
            Problem("before", f"has {wanted} boxes", f"at most {grant.limits.boxes}, by the grant")
        )
    # A narrowing comes from the granter's node.
    for box_id in query.order[-wanted:]:
        box, schemas = query.boxes[box_id].box, query.input_schemas(box_id)
        if not box.is_pure(*schemas):
            raise ClusterError(Problem("before", f"{box.kind} calls a function of a user", "built-in ones"))
        if grant is None:
            continue
        if not fits(grant.boxes, box.kind):
            raise ClusterError(Problem("before", f"{box.kind} is not offered", ", ".join(grant.boxes)))
        for function in sorted({*_functions(box, *schemas)}):
            if not fits(grant.functions, function):
                expected = ", ".join(grant.functions)
                raise ClusterError(Problem("before", f"{function}() is not offered", expected))


def _document(definition: str) -> dict[str, Any]:
    """The document of a piece, as far as its outline goes."""
    try:
        found = json.loads(definition)
    except (ValueError, RecursionError) as error:
        raise _nonsense() from error
    is_sound = (
        isinstance(found, dict)
        and {"before", "schema"} <= {*found} <= _FIELDS
        and isinstance(found["before"], list)
        and 0 < len(found["before"]) <= _BEFORE_BOXES_MOST
        and all(isinstance(each, dict) and "from" not in each for each in found["before"])
        and all(isinstance(found.get(key, {}), dict) for key in ("schema", "reads"))
    )
    if not is_sound:
        raise _nonsense()
    document: dict[str, Any] = found
    return document


def _narrowing(reads: Schema, stream: Schema, output: str) -> Iterator[dict[str, Any]]:
    """A box that leaves out what a piece does not read of a stream, if there is any."""
    known = {each.name: each for each in stream}
    for each in reads:
        found = known.get(each.name)
        if found is None or found.type != each.type or (found.nullable and not each.nullable):
            raise ClusterError(
                Problem("reads", f"has {each}, but {output} has ({stream})", f"some of ({stream})")
            )
    if not reads.takes(stream):
        yield {"box": "map", "attributes": {each.name: f"`{each.name}`" for each in reads}}


def _network(query: str, output: str, stream: Schema, boxes: list[dict[str, Any]]) -> dict[str, Any]:
    source, found = output, dict[str, Any]()
    for each in boxes:
        # Boxes of a kind are counted, so that those that stay the same in a change keep their names.
        kind = str(each.get("box"))
        number = sum(box.get("box") == kind for box in found.values())
        name = f"{kind}_{number + 1}" + "_" * (output.startswith(f"{kind}_"))
        found[name] = {**each, "from": source}
        source = name
    inputs = {output: {"schema": stream.as_dict()}}
    outputs = {"out": {"from": source}}
    return {"australis": 1, "name": query, "inputs": inputs, "boxes": found, "outputs": outputs}


def _functions(box: Box, *schemas: Schema) -> Iterator[str]:
    """The functions that a box calls, operators left out."""
    calls = box.window_functions(*schemas)
    yield from (each.function for each in calls)
    expressions = [*box.expressions(*schemas), *(each for call in calls for each in call.inputs)]
    for expression in expressions:
        for part in walk(expression):
            if isinstance(part, Call) and part.function in FUNCTIONS and part.function not in OPERATORS:
                yield part.function


def _nonsense() -> ClusterError:
    return ClusterError(Problem("before", "is no piece", "boxes, and the schemas of what they read and make"))
