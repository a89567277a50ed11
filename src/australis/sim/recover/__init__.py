"""Recovery, simulated: servers that fail, and those before them that redo what they did.

`boxes` compute, `network` says which server has which and what should come out; `world` lets servers live on
machines that crash; `trials` crash up to k of them; `pipeline` has virtual machines on one; `experiments`
measure what checkpoints cost and save. Seeds come in; what was sent, kept, lost and redone goes out.
"""

from australis.sim.recover.experiments import Frequency, Volume, frequencies, machines, volume
from australis.sim.recover.pipeline import Traded, traded
from australis.sim.recover.trials import Trial, tried

__all__ = [
    "Frequency",
    "Traded",
    "Trial",
    "Volume",
    "frequencies",
    "machines",
    "traded",
    "tried",
    "volume",
]
