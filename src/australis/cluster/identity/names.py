"""The names of nodes: `participant/node`, where a participant is whoever owns nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from australis.errors import ClusterError, Problem

SCHEME = "australis"
_PART = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_HINT = "small letters, digits and hyphens inside, at most 63"


@dataclass(frozen=True, order=True)
class NodeName:
    """The name of a node, unique among all participants.

    >>> name = NodeName.parse("lab/edge-1")
    >>> name.participant, name.uri, NodeName.of_uri(name.uri) == name
    ('lab', 'australis://lab/edge-1', True)
    """

    participant: str
    node: str

    @classmethod
    def parse(cls, text: str, path: str = "") -> NodeName:
        participant, slash, node = text.partition("/")
        if not slash:
            problem = Problem(path, f"{text!r} is no name of a node", "PARTICIPANT/NODE, such as lab/edge-1")
            raise ClusterError(problem)
        check_participant(participant, path)
        if not _PART.fullmatch(node):
            raise ClusterError(Problem(path, f"{node!r} cannot name a node", _HINT))
        return cls(participant, node)

    @classmethod
    def of_uri(cls, uri: str) -> NodeName:
        """The name in a certificate."""
        head = f"{SCHEME}://"
        if not uri.startswith(head):
            raise ClusterError(Problem(uri, "is no identity", f"{head}PARTICIPANT/NODE"))
        return cls.parse(uri.removeprefix(head), uri)

    @property
    def uri(self) -> str:
        """The name as it stands in a certificate."""
        return f"{SCHEME}://{self}"

    def __str__(self) -> str:
        return f"{self.participant}/{self.node}"


def check_participant(text: str, path: str = "") -> None:
    """Refuse what cannot name a participant.

    >>> check_participant("lab")
    """
    if not _PART.fullmatch(text):
        raise ClusterError(Problem(path, f"{text!r} cannot name a participant", _HINT))
