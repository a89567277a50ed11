"""Placement: on which machine a box runs, and when it runs on two (Aurora* 5).

`daemon` is the machine of one site: `giving` and `taking` are its halves, `chart` what it knows, `messages`
what it hears and says, `manners` how slow it is. `survey` is what a decision depends on, `slide` moves boxes
to a neighbour, `parting` makes two boxes of one, `portions` draws the predicate of that, `moves` rates moves.
In: what runs and was measured here, what neighbours tell. Out: slides, splits, and the way back.
"""

from australis.policy.place.daemon import Daemon
from australis.policy.place.manners import HASTY, Manners
from australis.policy.place.messages import (
    Begin,
    Counted,
    Dismiss,
    Done,
    End,
    Expect,
    Form,
    Gone,
    Home,
    Link,
    Measured,
    Runs,
    Slide,
    Split,
    Unsplit,
    Use,
)
from australis.policy.place.moves import Limits, Move, Splitting, carry_s
from australis.policy.place.parting import (
    Assumed,
    BoxSplit,
    Parting,
    made_whole,
    part,
    predicates,
    same_after,
    split_up,
    still_there,
    tracks,
    with_splits,
)
from australis.policy.place.portions import Portion
from australis.policy.place.slide import Direction, Sliding
from australis.policy.place.survey import Line, Placement, Site, Survey

__all__ = [
    "HASTY",
    "Assumed",
    "Begin",
    "BoxSplit",
    "Counted",
    "Daemon",
    "Direction",
    "Dismiss",
    "Done",
    "End",
    "Expect",
    "Form",
    "Gone",
    "Home",
    "Limits",
    "Line",
    "Link",
    "Manners",
    "Measured",
    "Move",
    "Parting",
    "Placement",
    "Portion",
    "Runs",
    "Site",
    "Slide",
    "Sliding",
    "Split",
    "Splitting",
    "Survey",
    "Unsplit",
    "Use",
    "carry_s",
    "made_whole",
    "part",
    "predicates",
    "same_after",
    "split_up",
    "still_there",
    "tracks",
    "with_splits",
]
