"""Hot spots, simulated: peers that share the components of stream applications, and move them.

`station` is a peer with its policy, `overlay` all of them; `workload` draws the applications of the paper's
experiment and `run` runs them; `trials` moves components while messages are lost and peers crash;
`experiments` compares the paper's numbers with ours. In: jobs with seeds. Out: delays, loads and messages.
"""

from australis.sim.hotspot import experiments
from australis.sim.hotspot.experiments import (
    PAPER_DATA,
    PAPER_MIGRATION,
    PAPER_OVERHEAD,
    PAPER_UPDATES,
    Compared,
    HotSpots,
    Job,
    Sensitivity,
    hot_spots,
    measured,
)
from australis.sim.hotspot.run import Outcome
from australis.sim.hotspot.trials import Trial, tried

__all__ = [
    "PAPER_DATA",
    "PAPER_MIGRATION",
    "PAPER_OVERHEAD",
    "PAPER_UPDATES",
    "Compared",
    "HotSpots",
    "Job",
    "Outcome",
    "Sensitivity",
    "Trial",
    "experiments",
    "hot_spots",
    "measured",
    "tried",
]
