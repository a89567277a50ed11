"""Where the parts of a network run: nodes, and patterns of inputs and boxes.

A placement file names the services of the nodes, and what runs where:

    nodes:
      lab/edge: http://edge.example:8400
      lab/centre: http://centre.example:8400
    place:
      reports: lab/edge
      detect.*: lab/centre

The first pattern that fits counts. What no pattern fits runs where its first source does; an input, on the
first node of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.errors import ClusterError, Problem

_EXPECTED = "`nodes` with the addresses of services by name, and `place` with names of nodes by pattern"


@dataclass(frozen=True)
class Placement:
    """The nodes and the addresses of their services, and what runs where.

    >>> Placement({"lab/a": "http://a:8400"}, {"count": "lab/b"})
    Traceback (most recent call last):
    australis.errors.ClusterError: place.count: 'lab/b' is none of the nodes; expected one of lab/a
    """

    nodes: Mapping[str, str]
    patterns: Mapping[str, str]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ClusterError(Problem("nodes", "names no node", _EXPECTED))
        for name in self.nodes:
            NodeName.parse(name, "nodes")
        for pattern, name in self.patterns.items():
            if name not in self.nodes:
                known = f"one of {', '.join(self.nodes)}"
                raise ClusterError(Problem(f"place.{pattern}", f"{name!r} is none of the nodes", known))

    def of(self, network: Network) -> dict[str, str]:
        """The node of each stream input and each box."""
        found: dict[str, str] = {}
        first = next(iter(self.nodes))
        unused = set(self.patterns)
        for name, given in network.inputs.items():
            if not given.table:
                found[name] = self._named(name, unused) or first
        for box in network.order:
            streams = [ref.id for ref in network.boxes[box].sources if ref.id in found]
            found[box] = self._named(box, unused) or (found[streams[0]] if streams else first)
        if unused:
            pattern = sorted(unused)[0]
            known = ", ".join([*network.inputs, *network.boxes])
            raise ClusterError(Problem(f"place.{pattern}", "fits no input and no box", f"one of {known}"))
        return found

    def _named(self, part: str, unused: set[str]) -> str | None:
        """The node of the first pattern that fits."""
        fitting = [pattern for pattern in self.patterns if fnmatchcase(part, pattern)]
        unused.difference_update(fitting)
        return self.patterns[fitting[0]] if fitting else None


def load_placement(path: str | Path) -> Placement:
    """The placement in a file."""
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ClusterError(Problem(str(path), f"cannot be read: {error.strerror}", _EXPECTED)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ClusterError(Problem(str(path), f"is no YAML: {error}", _EXPECTED)) from error
    if not isinstance(found, dict) or not set(found) <= {"nodes", "place"}:
        raise ClusterError(Problem(str(path), "is no placement", _EXPECTED))
    sections = [found.get(name) or {} for name in ("nodes", "place")]
    for section in sections:
        texts = section.items() if isinstance(section, dict) else [(None, None)]
        if not all(isinstance(key, str) and isinstance(value, str) for key, value in texts):
            raise ClusterError(Problem(str(path), "has a section that is no mapping of texts", _EXPECTED))
    return Placement(*sections)
