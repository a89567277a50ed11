"""Changing a network while it runs: deploy, change, attach, and the optimiser's rewrites.

In: a new record of the network. The running network is switched to it between two trains.
"""

from australis.engine.change.deployment import check_deployable, deploy
from australis.engine.change.difference import Difference
from australis.engine.change.loading import load, switch_to
from australis.engine.change.moving import Moves, Parcel, life
from australis.engine.change.optimiser import Optimiser, Rewritten, redrawn
from australis.engine.change.splitting import SplitChange, Splits
from australis.engine.change.switch import Switch

__all__ = [
    "Difference",
    "Moves",
    "Optimiser",
    "Parcel",
    "Rewritten",
    "SplitChange",
    "Splits",
    "Switch",
    "check_deployable",
    "deploy",
    "life",
    "load",
    "redrawn",
    "switch_to",
]
