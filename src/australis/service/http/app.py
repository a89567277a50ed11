"""The application: all routes over one host, with one shape of errors."""

from __future__ import annotations

import importlib.metadata

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from australis.service.access import Access
from australis.service.fanout import Fanout
from australis.service.host import Host
from australis.service.http.context import Context
from australis.service.http.description import describe
from australis.service.http.errors import handle_errors
from australis.service.http.gate import Gate
from australis.service.http.pages import page_routes
from australis.service.http.routes import ROUTERS
from australis.service.settings import ServiceSettings

VERSION = "/v1"
"""The prefix of all calls but those about health and metrics."""
_DESCRIPTION = (
    "A node that runs an Aurora-model stream network: deploy it, push tuples into its inputs, "
    "read and follow its outputs. All errors have one shape: `{error: {code, message, path, hint}}`."
)


def create_app(host: Host, access: Access, settings: ServiceSettings, fanout: Fanout) -> FastAPI:
    """The application that serves a host."""
    app = FastAPI(
        title="Australis",
        description=_DESCRIPTION,
        version=importlib.metadata.version("australis"),
        openapi_url=f"{VERSION}/openapi.json",
        docs_url=f"{VERSION}/docs",
        redoc_url=None,
    )
    context = app.state.context = Context(host, access, settings, fanout)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    handle_errors(app)
    app.add_middleware(Gate, context=context)
    if settings.access.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.access.origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Australis-Next", "Retry-After", "X-Request-Id"],
        )
    for router in ROUTERS:
        app.include_router(router)
    app.router.routes.extend(page_routes())
    return app
