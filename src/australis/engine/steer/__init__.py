"""From measurements to decisions: costs, lags, trials, and the drop boxes that stand.

What trains reported comes in; the next choice of the policies goes out.
"""

from australis.engine.steer.account import Account
from australis.engine.steer.steering import Steering, SteeringPlan

__all__ = [
    "Account",
    "Steering",
    "SteeringPlan",
]
