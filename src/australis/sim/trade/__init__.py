"""The market in a virtual world: participants with contracts, and the policies of `policy.trade`.

`graphs` draws who has contracts with whom, `configurations` draws prices and loads, `world` lets participants
talk, and checks what must be true of every movement; `experiments`, `stability` and `chains` are the paper's.
Prices, loads and a seed come in; who moved what, and what it cost, goes out.
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
    "experiments",
    "measured",
    "shifted",
    "summed_up",
    "table_1",
]
