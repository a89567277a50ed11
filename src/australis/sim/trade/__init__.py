"""The market in a virtual world: participants with contracts, and the policies of `policy.trade`.

`graphs` draws the contracts, `configurations` draws prices and loads, `world` connects participants, and
checks what must hold for every movement; `experiments`, `stability` and `chains` are the paper's, `trials`
unreliable. In: prices, loads and a seed. Out: movements and costs.
"""

from australis.sim.trade import experiments
from australis.sim.trade.configurations import MONEY, VARIANTS
from australis.sim.trade.experiments import (
    NODES,
    PAPER_GRAPHS,
    Graphs,
    Job,
    Outcome,
    Result,
    measured,
    summed_up,
    table_1,
)
from australis.sim.trade.stability import LARGE, SMALL, Reaction, Shift, shifted
from australis.sim.trade.trials import Trial, tried
from australis.sim.trade.world import Moment

__all__ = [
    "LARGE",
    "MONEY",
    "NODES",
    "PAPER_GRAPHS",
    "SMALL",
    "VARIANTS",
    "Graphs",
    "Job",
    "Moment",
    "Outcome",
    "Reaction",
    "Result",
    "Shift",
    "Trial",
    "experiments",
    "measured",
    "shifted",
    "summed_up",
    "table_1",
    "tried",
]
