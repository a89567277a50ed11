"""Grants: a participant lets others put boxes behind its outputs, so that only what they need crosses over.

In: signed grants, definitions of pieces that their holders want, what a node measures. Out: queries that are
attached to the node and detached again; refusals with reasons; how the pieces go.
"""

from typing import TYPE_CHECKING

from australis.cluster.grants.grant import (
    Grant,
    Limits,
    Signed,
    Withdrawal,
    examined,
    read_signed,
    signed,
)
from australis.cluster.grants.piece import PREFIX, definition_of, query_of
from australis.cluster.grants.wallet import SUFFIX, HeldGrant, Wallet
from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.cluster.grants.admission import GuestNode
    from australis.cluster.grants.granter import WATCH_S, WITHDRAWALS, Granter
    from australis.cluster.grants.placed import PieceRefused, PieceStatus
else:
    # Grants are read where no node runs.
    __getattr__ = lazy_exports(
        __name__,
        {
            "admission": ("GuestNode",),
            "granter": ("WATCH_S", "WITHDRAWALS", "Granter"),
            "placed": ("PieceRefused", "PieceStatus"),
        },
    )

__all__ = [
    "PREFIX",
    "SUFFIX",
    "WATCH_S",
    "WITHDRAWALS",
    "Grant",
    "Granter",
    "GuestNode",
    "HeldGrant",
    "Limits",
    "PieceRefused",
    "PieceStatus",
    "Signed",
    "Wallet",
    "Withdrawal",
    "definition_of",
    "examined",
    "query_of",
    "read_signed",
    "signed",
]
