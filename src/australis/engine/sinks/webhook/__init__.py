"""Webhooks as sinks: tuples are posted as JSON, at least once, under a key by which repetitions are known.

In: the tables of an output, and an address such as `https://host/path#secret=${AUSTRALIS_HOOK}`. Out:
requests that are tried again while the server is away; what it refuses stops the sink, or goes to a file.
"""

from australis.engine.sinks.webhook.sink import WebhookSink, parse_webhook

__all__ = ["WebhookSink", "parse_webhook"]
