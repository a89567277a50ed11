"""The limit: the utility that no shedding could exceed, and where the rest was lost (beyond Aurora 4.5).

In: what each stage would have to do, which outputs need it, and the capacity. Out: the best total utility,
the fractions that have it, and what of it was lost to what. `attainable` says what an output can have by the
fraction delivered, `selection` which outputs are worth their stages, `bound` the best fractions, `losses`
the rest.
"""

from australis.policy.limit.attainable import attainable
from australis.policy.limit.bound import Bound, Work, bound
from australis.policy.limit.losses import Losses, losses

__all__ = ["Bound", "Losses", "Work", "attainable", "bound", "losses"]
