"""The demonstration: an artificial hour of network connections, and a network that finds the intruders.

In: a seed. Out: what was found, how fast, and whether the engines agree.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.demo.page import keep_page
    from australis.app.demo.show import Shown, stream_on_node
    from australis.app.demo.sliding import Slid, tell_of_nodes
    from australis.app.demo.story import tell_story
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "page": ("keep_page",),
            "show": (
                "Shown",
                "stream_on_node",
            ),
            "sliding": ("Slid", "tell_of_nodes"),
            "story": ("tell_story",),
        },
    )

__all__ = [
    "Shown",
    "Slid",
    "keep_page",
    "stream_on_node",
    "tell_of_nodes",
    "tell_story",
]
