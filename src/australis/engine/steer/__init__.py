"""From measurements to decisions: costs, lags, trials, and the drop boxes in place.

In: reports of trains. Out: the next choice of the policies.
"""

from australis.engine.steer.account import Account
from australis.engine.steer.steering import Steering, SteeringPlan

__all__ = [
    "Account",
    "Steering",
    "SteeringPlan",
]
