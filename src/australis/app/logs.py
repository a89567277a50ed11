"""The log of a command: the messages of all rooms as lines of text or of JSON, to standard error or a file.

Whoever logs only puts a message into a queue, and a thread of the log writes it. So no train waits for a
terminal or a disk, and a live display may ask the node for its statistics while it holds its own lock.
"""

from __future__ import annotations

import copy
import io
import json
import logging
import logging.handlers
import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

import click

from australis.errors import AustralisError

AUSTRALIS = "australis"
"""The logger above those of all rooms."""
FORMATS = ("text", "json")
TERMINAL = threading.RLock()
"""Whoever holds it writes to the terminal: a line of the log, or the first and last picture of a display."""
_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_SHORTENED = (f"{AUSTRALIS}.", "engine.")


@contextmanager
def log_to(verbose: int, form: str = FORMATS[0], path: str | None = None) -> Iterator[None]:
    """Write the log of what runs inside: warnings, with `verbose` 1 what happens, with 2 every train."""
    logger, target = logging.getLogger(AUSTRALIS), _target(path)
    target.setFormatter(JsonLines() if form == "json" else TextLines())
    messages: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    writer, handler, level = logging.handlers.QueueListener(messages, target), _Queued(messages), logger.level
    logger.setLevel(_LEVELS[min(verbose, len(_LEVELS) - 1)])
    logger.addHandler(handler)
    writer.start()
    try:
        with _noting_what_ends(logger):
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        writer.stop()
        target.close()


@contextmanager
def _noting_what_ends(logger: logging.Logger) -> Iterator[None]:
    """Log the error that ends what runs inside, or a thread of it; both are reported as they would be."""
    hook = threading.excepthook

    def note(failed: threading.ExceptHookArgs) -> None:
        name = "unknown" if failed.thread is None else failed.thread.name
        logger.error("the thread %s ended: %s", name, failed.exc_value, exc_info=failed[:3])  # type: ignore[arg-type]
        hook(failed)

    threading.excepthook = note
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except Exception as error:
        logger.error("failed: %s", error, exc_info=not isinstance(error, AustralisError))
        raise
    finally:
        threading.excepthook = hook


def _target(path: str | None) -> logging.Handler:
    if path is None:
        return _StandardError()
    try:
        return _LogFile(path, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--log-file {path}: cannot be written: {error.strerror}") from None


class TextLines(logging.Formatter):
    """Lines for people; a traceback follows its message."""

    def format(self, record: logging.LogRecord) -> str:
        name = record.name
        for prefix in _SHORTENED:
            name = name.removeprefix(prefix)
        trace = f"\n{record.exc_text}" if record.exc_text else ""
        return f"{_time(record)} {record.levelname} {name}: {record.getMessage()}{trace}"


class JsonLines(logging.Formatter):
    """One object a line, for programs.

    >>> record = logging.LogRecord("australis.engine.node", logging.INFO, "", 0, "%d boxes", (3,), None)
    >>> record.created = 1.5
    >>> JsonLines().format(record)
    '{"time": "1970-01-01T00:00:01.500Z", "level": "INFO", "logger": "australis.engine.node",
    "message": "3 boxes"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        told = {"time": _time(record), "level": record.levelname, "logger": record.name}
        told["message"] = record.getMessage()
        if record.exc_text:
            told["exception"] = record.exc_text
        return json.dumps(told, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Queued(logging.handlers.QueueHandler):
    """Puts messages into the queue as texts: what they are made of may change before they are written."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        prepared = copy.copy(record)
        prepared.msg, prepared.args = record.getMessage(), None
        if record.exc_info and not record.exc_text:
            prepared.exc_text = logging.Formatter().formatException(record.exc_info)
        prepared.exc_info = None
        return prepared


class _Target(logging.StreamHandler[TextIO]):
    """Where lines go. A log that cannot be written stops nothing, and is complained of once."""

    _has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not self._has_failed and sys.stderr is not None:
            click.echo(f"australis: the log cannot be written: {error}", err=True)
        self._has_failed = True


class _LogFile(_Target, logging.FileHandler):
    def close(self) -> None:
        try:
            super().close()
        except OSError:
            # What could not be written was complained of already.
            return


class _StandardError(_Target):
    """Standard error as it is when a line is written, which a live display may have put itself before.

    While processes are started, theirs is another one (`quiet_start`), but that of the log is not.
    """

    def __init__(self) -> None:
        self._before = sys.stderr
        super().__init__(_duplicate(sys.stderr))

    def emit(self, record: logging.LogRecord) -> None:
        own = self.stream
        with TERMINAL:
            self.stream = own if sys.stderr is self._before else sys.stderr
            try:
                super().emit(record)
            finally:
                self.stream = own

    def close(self) -> None:
        if self.stream is not self._before:
            self.stream.close()
        super().close()


def _duplicate(stream: TextIO) -> TextIO:
    """A stream to the same place; the stream itself where that is in memory, as in tests."""
    try:
        return open(os.dup(stream.fileno()), "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    except (io.UnsupportedOperation, OSError):
        # It is in memory, or closed: whoever writes to it finds out.
        return stream
