"""Chooses by the settings whether anything is traced."""

from __future__ import annotations

import importlib

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.settings import TracingSettings
from australis.service.tracing.traces import Traces


def open_traces(settings: TracingSettings) -> Traces:
    """What traces calls, pushes and trains, if a collector is named."""
    if settings.endpoint is None:
        return Traces()
    try:
        made = importlib.import_module("australis.service.tracing.otel")
    except ImportError as error:
        problem = Problem(
            "tracing.endpoint", f"needs OpenTelemetry: {error}", "pip install 'australis[otel]'"
        )
        raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None
    found: Traces = made.OtelTraces(settings)
    return found
