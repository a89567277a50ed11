"""The process: puts host, access and the ways in together, and ends them in order.

In: settings. Out: a service that listens until a signal ends it; an exit code.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.service.serving.process import serve
else:
    __getattr__ = lazy_exports(__name__, {"process": ("serve",)})

__all__ = ["serve"]
