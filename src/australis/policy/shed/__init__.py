"""What is shed under overload, and where (Aurora 4.5).

In: situations. Out: commands about drop boxes. `shedder` decides when and how much, `drop_boxes` where,
`semantic` and `trials` which values.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.policy.shed.drop_boxes import DropBox, Shedding, shed
    from australis.policy.shed.flow import Flow
    from australis.policy.shed.predicates import monotone
    from australis.policy.shed.semantic import Gate, Trial, value_curve
    from australis.policy.shed.shedder import Command, Insert, Manners, Shedder, Withdraw
    from australis.policy.shed.trials import Samples, by_value
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "drop_boxes": (
                "DropBox",
                "Shedding",
                "shed",
            ),
            "flow": ("Flow",),
            "predicates": ("monotone",),
            "semantic": (
                "Gate",
                "Trial",
                "value_curve",
            ),
            "shedder": (
                "Command",
                "Insert",
                "Manners",
                "Shedder",
                "Withdraw",
            ),
            "trials": (
                "Samples",
                "by_value",
            ),
        },
    )

__all__ = [
    "Command",
    "DropBox",
    "Flow",
    "Gate",
    "Insert",
    "Manners",
    "Samples",
    "Shedder",
    "Shedding",
    "Trial",
    "Withdraw",
    "by_value",
    "monotone",
    "shed",
    "value_curve",
]
