"""Unreliable worlds for the policies, and journals: `australis simulate trials` and `replay`.

`command` has both; the simulator is loaded when they run. In: the name of a policy and seeds, or a journal.
Out: what happened while everything held; where a machine decides otherwise than its journal says.
"""

from australis.app.papers.worlds.command import replay, trials

__all__ = ["replay", "trials"]
