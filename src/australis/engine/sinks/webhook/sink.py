"""The settings of a webhook, and its run: a cut of the output is noted, posted, and then acknowledged."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.addresses import Settings, filled_in, refuse_secrets
from australis.engine.files import json_rows
from australis.engine.sinks.appended import check_folder, trouble
from australis.engine.sinks.consuming import Heard, Outlet, RunningSink, Tables
from australis.engine.sinks.doors import DEFAULT_DOOR, DoorOptions, Patience
from australis.engine.sinks.webhook.posting import Poster, Refused
from australis.errors import EngineError, Problem

LINES, ARRAY = "lines", "array"
STOP = "stop"
_TYPES = {LINES: "application/x-ndjson", ARRAY: "application/json"}


@dataclass(frozen=True)
class WebhookSink:
    """A URL to which an output's tuples are posted as JSON lines or as an array.

    Each request has an `Idempotency-Key`. What was posted and not acknowledged, as when the node was killed
    in between, is posted again with the same key and the same tuples.
    """

    output: str
    url: str
    schema: Schema
    form: str = LINES
    secret: str = ""
    """As the address has it: the name of a variable, not its value."""
    most: int = 500
    """The most tuples of a request."""
    timeout_s: float = 10.0
    rejected: str = STOP
    """`stop`, or the file for tuples that the server refuses for good."""
    options: DoorOptions = DEFAULT_DOOR

    @property
    def consumer(self) -> str:
        return f"webhook:{self.shown}"

    @property
    def shown(self) -> str:
        """The address as messages show it: without what follows its path."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def check(self, position: str | None) -> None:
        if position is not None:
            read_position(position, self.shown)
        if self.rejected != STOP:
            check_folder(self.rejected)
        self.poster().close()

    def poster(self) -> Poster:
        """What posts to the URL, with its secrets."""
        url = filled_in(self.url, self.shown)
        secret = filled_in(self.secret, self.shown, quoted=False)
        self.options.check_host(self.shown, urlsplit(url).hostname or "")
        return Poster(url, self.shown, secret, self.timeout_s)

    def start(self, outlet: Outlet) -> RunningWebhook:
        return RunningWebhook(self, outlet)


class RunningWebhook(RunningSink):
    """A webhook that is being called."""

    def __init__(self, sink: WebhookSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink, self._poster = sink, sink.poster()
        self._patience = Patience(sink.options.patience_s, time.monotonic, self._ended)
        self._origin, _ = read_position(self._ensure_position(_first), sink.shown)

    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """One step for each cut; the one that was noted and not acknowledged comes first, as it was."""
        del tables, is_last
        while True:
            begin, position = self._outlet.consumer(self._consumer, self._output)
            _, end = read_position(position or _first(), self._sink.shown)
            if end <= begin:
                kept = self._outlet.kept(self._output, begin, self._sink.most)
                if not kept.rows:
                    return
                end = kept.end
                # A repetition after a crash shall have the same key and the same tuples.
                self._outlet.acknowledge(self._consumer, self._output, begin, _text(self._origin, end))
            yield partial(self._post, begin, end, heard)

    def _post(self, begin: int, end: int, heard: Heard) -> None:
        """Post the tuples from one number up to another, and acknowledge them."""
        table = self._outlet.read(self._output, begin, end)
        for part, first in enumerate(range(0, table.num_rows, self._sink.most)):
            key = f"{self._origin}-{self._output}-{begin}-{end}-{part}"
            some = table.slice(first, self._sink.most)
            self._patience.until_done(partial(self._attempt, some, key))
        self._outlet.acknowledge(self._consumer, self._output, end, _text(self._origin, end))
        if table.num_rows:
            heard(table)

    def _attempt(self, table: pa.Table, key: str) -> None:
        sink = self._sink
        lines = json_rows(table.select(sink.schema.names), sink.schema)
        body = lines if sink.form == LINES else b"[" + lines.rstrip(b"\n").replace(b"\n", b",") + b"]"
        try:
            self._poster.post(body, _TYPES[sink.form], key, self._output)
        except Refused as refused:
            if sink.rejected == STOP:
                raise
            self._set_aside(refused, key, lines)

    def _set_aside(self, refused: Refused, key: str, lines: bytes) -> None:
        """Append what the server refuses to a file, on disk before it is acknowledged."""
        head = json.dumps({"key": key, "status": refused.status, "reason": refused.problem.what})
        tuples = lines.rstrip(b"\n").replace(b"\n", b",")
        with trouble(self._sink.rejected), open(self._sink.rejected, "ab") as file:
            file.write(head[:-1].encode() + b', "tuples": [' + tuples + b"]}\n")
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        self._poster.close()


def _first() -> str:
    """A number for this output of this root, which no other has."""
    return _text(uuid.uuid4().hex, 0)


def _text(origin: str, end: int) -> str:
    return json.dumps({"origin": origin, "end": end})


def read_position(position: str, where: str) -> tuple[str, int]:
    """The number of this output, and where the cut ends that was posted or is about to be."""
    try:
        known = json.loads(position)
        return str(known["origin"]), int(known["end"])
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(where, f"the position {position!r} is none of a webhook")) from None


def parse_webhook(output: str, text: str, schema: Schema, options: DoorOptions) -> WebhookSink:
    """The sink that a URL names; what follows # are settings, and no part of the URL.

    >>> from australis.algebra.schema import parse_schema
    >>> sink = parse_webhook("alarms", "https://example.org/hook?x=1#form=array&secret=${AUSTRALIS_HOOK}",
    ...                      parse_schema("n int"), DoorOptions())
    >>> sink.url, sink.form, sink.secret, sink.shown
    ('https://example.org/hook?x=1', 'array', '${AUSTRALIS_HOOK}', 'https://example.org/hook')
    """
    url, _, settings = text.partition("#")
    where = f"webhook of {output}"
    refuse_secrets(url)
    given = Settings(where, settings)
    if not urlsplit(url).hostname:
        raise EngineError(Problem(where, "the address has no host", "https://HOST/PATH"))
    said_s = given.seconds("patience", options.patience_s)
    sink = WebhookSink(
        output,
        url,
        schema,
        given.one_of("form", LINES, (LINES, ARRAY)),
        given.text("secret"),
        given.whole("most", 500, 100_000),
        given.seconds("timeout", 10.0),
        given.text("rejected", STOP),
        DoorOptions(said_s if options.patience_s else 0.0, options.allows),
    )
    given.end()
    if sink.rejected != STOP and not Path(sink.rejected).suffix:
        raise EngineError(
            Problem(where, f"rejected is {sink.rejected!r}", "stop, or a file such as bad.jsonl")
        )
    return sink
