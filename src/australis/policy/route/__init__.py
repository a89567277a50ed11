"""Routing: which operator of a distributed eddy a tuple visits next.

`policies` chooses tuple by tuple from what operators report (`statistics`); `router` is the machine of a
node, which tells others its statistics and divides trains (`messages`); `sharing` slides, splits and merges
operators; `queueing` and `optimum` compute what the best routing could reach if everything were known. In:
plans, rates, statistics, random numbers. Out: choices, shares, rates, response times.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.policy.route import messages, policies, sharing, statistics
    from australis.policy.route.examples import DS3, DS3_RESOURCES, J3, S3
    from australis.policy.route.optimum import (
        best_data_rate,
        best_response_time,
        best_shared_data_rate,
        best_shared_response_time,
    )
    from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, plan_of
    from australis.policy.route.policies import POLICIES, Policy
    from australis.policy.route.router import Router, RouterSetup, divided
    from australis.policy.route.sharing import RULES, Rules
else:
    # `optimum` needs scipy, an extra, which is slow to load.
    __getattr__ = lazy_exports(
        __name__,
        {
            "examples": ("DS3", "DS3_RESOURCES", "J3", "S3"),
            "optimum": (
                "best_data_rate",
                "best_response_time",
                "best_shared_data_rate",
                "best_shared_response_time",
            ),
            "plan": ("Operator", "DistributedPlan", "RoutedStream", "any_order", "plan_of"),
            "policies": ("POLICIES", "Policy"),
            "router": ("Router", "RouterSetup", "divided"),
            "sharing": ("RULES", "Rules"),
        },
        modules=("messages", "policies", "sharing", "statistics"),
    )

__all__ = [
    "DS3",
    "DS3_RESOURCES",
    "J3",
    "POLICIES",
    "RULES",
    "S3",
    "DistributedPlan",
    "Operator",
    "Policy",
    "RoutedStream",
    "Router",
    "RouterSetup",
    "Rules",
    "any_order",
    "best_data_rate",
    "best_response_time",
    "best_shared_data_rate",
    "best_shared_response_time",
    "divided",
    "messages",
    "plan_of",
    "policies",
    "sharing",
    "statistics",
]
