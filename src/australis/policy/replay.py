"""Which machines there are, by the names of their policies: what a journal speaks of can be made again.

In: the lines of a journal. Out: where a machine of today decides otherwise than the journal says.
"""

from __future__ import annotations

from collections.abc import Iterable

from australis.policy.hotspot import Peer
from australis.policy.machines import Machine, Replayed, replay
from australis.policy.place import Daemon
from australis.policy.recover import Server
from australis.policy.route import Router
from australis.policy.trade import Participant

_KINDS: tuple[type[Machine], ...] = (Participant, Peer, Daemon, Server, Router)
MACHINES = {kind.POLICY: kind for kind in _KINDS}


def replayed(lines: Iterable[bytes], most: int = 10) -> Replayed:
    """Repeat what machines decided; stops after some differences."""
    return replay(lines, MACHINES, most)
