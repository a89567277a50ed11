"""Which stage runs next, and how long its train is (Aurora 4.3).

In: a situation. Out: a choice. `schedules` names the schedules that can be chosen.
"""

from australis.policy.schedule.construction import constructed
from australis.policy.schedule.schedule import Choice, waited
from australis.policy.schedule.schedules import Scheduling, schedule
from australis.policy.schedule.views import next_view, without_views

__all__ = [
    "Choice",
    "Scheduling",
    "constructed",
    "next_view",
    "schedule",
    "waited",
    "without_views",
]
