"""The example plans of the paper on distributed eddies."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, in_order, plan_of

S3: DistributedPlan = plan_of(
    (
        Operator("op1", work=0.1, selectivity=0.5, resources=10),
        Operator("op2", work=0.1, selectivity=0.2, resources=20),
        Operator("op3", work=0.5, selectivity=0.4, resources=20),
    ),
    (RoutedStream("op0", any_order("op1", "op2", "op3")),),
)
"""Three selections in any order (Table 4.1)."""

J3: DistributedPlan = plan_of(
    (
        Operator("op3", work=0.2, selectivity=0.8, resources=10),
        Operator("op4", work=0.2, selectivity={"op0": 0.1, "op2": 0.4}, resources=20),
        Operator("op5", work=0.4, selectivity=0.2, resources=40),
    ),
    (
        RoutedStream("op0", in_order("op4", "op5"), share=1 / 6),
        RoutedStream("op1", any_order("op3", "op5"), share=4 / 6),
        RoutedStream("op2", in_order("op4", "op3"), share=1 / 6),
    ),
)
"""A join of three streams: A and C go to the window of B first, B has the choice (Tables 4.5 and 4.6)."""

DS3: DistributedPlan = plan_of(
    tuple(replace(operator, resources=inf) for operator in S3.operators.values()), S3.streams
)
"""The selections of S3 that share 100 units of resources (Table 5.1)."""
DS3_RESOURCES = 100.0
