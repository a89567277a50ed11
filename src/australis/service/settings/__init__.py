"""The settings of the service: a model, and how a file, the environment and options fill it.

In: `australis.yaml`, variables `AUSTRALIS_SERVICE_…`, texts `key=value`. Out: `ServiceSettings`, or an error
that names the setting, where it was given, and the nearest name that exists.
"""

from australis.service.settings.defaults import default_text, settings_schema
from australis.service.settings.model import (
    AccessSettings,
    ClusterSettings,
    FeedSettings,
    FlightSettings,
    LimitSettings,
    LogSettings,
    NodeSection,
    OutputSettings,
    ServiceSettings,
    TlsSettings,
    TracingSettings,
)
from australis.service.settings.places import place_of
from australis.service.settings.reading import FILE, PREFIX, read_settings, variable_of

__all__ = [
    "FILE",
    "PREFIX",
    "AccessSettings",
    "ClusterSettings",
    "FeedSettings",
    "FlightSettings",
    "LimitSettings",
    "LogSettings",
    "NodeSection",
    "OutputSettings",
    "ServiceSettings",
    "TlsSettings",
    "TracingSettings",
    "default_text",
    "place_of",
    "read_settings",
    "settings_schema",
    "variable_of",
]
