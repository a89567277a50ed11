"""Recovery, simulated: servers that fail, and upstream servers that redo their work.

`boxes` compute, `network` assigns them to servers and computes the expected output; `world` runs servers on
machines that crash; `trials` crash up to k of them; `pipeline` has virtual machines on one; `experiments`
measure what checkpoints cost and save. In: seeds. Out: what was sent, kept, lost and redone.
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
