"""The demonstration of many nodes: three services on this machine, of which the first has too much to do.

`network` is what it runs, `services` are the child processes, `alone` is one undisturbed node, `story` tells
what happens. In: for how long, and how fast. Out: where boxes went, and whether the outputs are right.
"""

from australis.app.demo.sliding.story import Slid, tell_of_nodes

__all__ = ["Slid", "tell_of_nodes"]
