"""Traces: calls, pushes and trains as spans of OpenTelemetry, sent to a collector by OTLP over HTTP.

In: calls with the headers of their callers, receipts of pushes, trains with their times. Out: spans. Where no
collector is named nothing is traced, and OpenTelemetry is not loaded.
"""

from australis.service.tracing.opening import open_traces
from australis.service.tracing.traces import NOT_TRACED, Fact, Span, Traces

__all__ = ["NOT_TRACED", "Fact", "Span", "Traces", "open_traces"]
