"""Spans of OpenTelemetry; loaded only where a collector is named."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from australis.engine.ledger import Receipt
from australis.engine.train import FailedTrain, Train
from australis.errors import AustralisError
from australis.service.settings import TracingSettings
from australis.service.tracing.pushes import Pushes
from australis.service.tracing.traces import Fact, Push, Span, Traces

SEND_S = 5.0
"""How long a collector may take to answer, and how long the service waits for it when it ends."""


class OtelTraces(Traces):
    """Traces calls, pushes and trains."""

    def __init__(self, settings: TracingSettings) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": settings.service}),
            sampler=ParentBased(TraceIdRatioBased(settings.share)),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(endpoint=settings.endpoint, timeout=SEND_S)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("australis")
        self._pushes = Pushes[SpanContext]()
        self.observer = TrainSpans(self._tracer, self._pushes)

    def begin(self, name: str, headers: Mapping[str, str], facts: Mapping[str, Fact]) -> Span:
        given = TraceContextTextMapPropagator().extract(headers, Context())
        return OtelSpan(self._tracer.start_span(name, given, SpanKind.SERVER, facts))

    @contextmanager
    def push(self, within: Span, name: str) -> Iterator[Push]:
        given = trace.set_span_in_context(within.span) if isinstance(within, OtelSpan) else Context()
        span = self._tracer.start_span(f"push {name}", given, SpanKind.INTERNAL, {"australis.input": name})
        try:
            yield OtelPush(span, name, self._pushes)
        except AustralisError as error:
            span.set_status(Status(StatusCode.ERROR, str(error)))
            raise
        finally:
            span.end()

    def close(self) -> None:
        # A collector that does not answer must not keep the service from ending.
        ending = threading.Thread(target=self._provider.shutdown, name="australis-traces-end", daemon=True)
        ending.start()
        ending.join(SEND_S)


class OtelSpan(Span):
    """A call of a client."""

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    def note(self, facts: Mapping[str, Fact]) -> None:
        self.span.set_attributes(facts)

    def end(self, name: str = "", *, failure: str = "") -> None:
        if name:
            self.span.update_name(name)
        if failure:
            self.span.set_status(Status(StatusCode.ERROR, failure))
        self.span.end()


class OtelPush(Push):
    """Tuples that are being stored, which the trains that take them will refer to."""

    def __init__(self, span: trace.Span, name: str, pushes: Pushes[SpanContext]) -> None:
        self._span, self._name, self._pushes = span, name, pushes

    def stored(self, receipt: Receipt) -> None:
        self._span.set_attributes(
            {
                "australis.accepted": receipt.accepted,
                "australis.rejected": receipt.rejected,
                "australis.repeated": receipt.is_repeated,
            }
        )
        if receipt.end is None or receipt.is_repeated or not self._span.is_recording():
            return
        self._span.set_attribute("australis.log_end", receipt.end)
        first = receipt.end - receipt.accepted
        self._pushes.note(first, receipt.end, self._name, self._span.get_span_context())


class TrainSpans:
    """A span for each train, with its run and its commit as parts.

    It belongs to the trace of the push whose tuples it takes, or is linked to those of several.
    """

    def __init__(self, tracer: trace.Tracer, pushes: Pushes[SpanContext]) -> None:
        self._tracer, self._pushes = tracer, pushes

    def committed(self, train: Train, inputs: frozenset[str]) -> None:
        """A train was committed just now."""
        end = time.time_ns()
        middle = end - train.commit_us * 1000
        began = middle - train.run_us * 1000
        span = self._begin(train, inputs, began)
        span.set_attributes(
            {
                "australis.received": train.received,
                "australis.emitted": train.emitted,
                "australis.tasks": train.tasks,
            }
        )
        for name, first, last in (("run", began, middle), ("commit", middle, end)):
            part = self._tracer.start_span(name, trace.set_span_in_context(span), start_time=first)
            part.end(last)
        span.end(end)

    def failed(self, train: FailedTrain, inputs: frozenset[str]) -> None:
        """A train has failed for good just now."""
        end = time.time_ns()
        span = self._begin(train, inputs, end - train.took_us * 1000)
        span.set_status(Status(StatusCode.ERROR, str(train.error)))
        span.end(end)

    def _begin(self, train: Train | FailedTrain, inputs: frozenset[str], began: int) -> trace.Span:
        pushes = self._pushes.within(train.lo, train.hi, inputs)
        is_part = len(pushes) == 1
        return self._tracer.start_span(
            f"train {train.superbox}",
            trace.set_span_in_context(NonRecordingSpan(pushes[0])) if is_part else Context(),
            attributes={
                "australis.superbox": train.superbox,
                "australis.begin": train.lo,
                "australis.end": train.hi,
            },
            links=[] if is_part else [Link(each) for each in pushes],
            start_time=began,
        )
