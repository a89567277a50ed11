"""The demonstration: a made-up hour of network connections, and a network that finds the intruders in it.

Comes in: a seed. Goes out: what was found, how fast, and that the evaluators agree.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.demo.show import Shown, stream_on_node
    from australis.app.demo.story import tell_story
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "show": (
                "Shown",
                "stream_on_node",
            ),
            "story": ("tell_story",),
        },
    )

__all__ = [
    "Shown",
    "stream_on_node",
    "tell_story",
]
