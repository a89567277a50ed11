"""The HTTP API: routes that check the role, call the host, and shape its answer.

In: requests under /v1. Out: JSON, tables, streams, or errors of one shape; an OpenAPI document that describes
all of them.
"""

from australis.service.http.app import create_app
from australis.service.http.context import Context
from australis.service.http.description import openapi_text

__all__ = ["Context", "create_app", "openapi_text"]
