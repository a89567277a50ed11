"""The rules of the optimiser: each finds one way to make a network cheaper, in a file named after it.

In: a network and its measurements. Out: the rewrites that a rule finds. The order in which they are tried is
in `improve.RULES`.
"""

from australis.rewrite.rules.combine_filters import combine_filters
from australis.rewrite.rules.combine_maps import combine_maps
from australis.rewrite.rules.fold_sorts import fold_sorts
from australis.rewrite.rules.leave_out import leave_out
from australis.rewrite.rules.project import project
from australis.rewrite.rules.prune import prune
from australis.rewrite.rules.reorder import goes_first, reorder
from australis.rewrite.rules.share import share
from australis.rewrite.rules.share_sorts import share_sorts

__all__ = [
    "combine_filters",
    "combine_maps",
    "fold_sorts",
    "goes_first",
    "leave_out",
    "project",
    "prune",
    "reorder",
    "share",
    "share_sorts",
]
