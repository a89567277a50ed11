"""What runs at a node, as the placement policy is told: a network, and where its streams come from and go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.cluster.links import Link
from australis.cluster.moves import immovable
from australis.policy.place import End, Runs

_READER = "link:"


def runs_of(
    name: NodeName,
    network: Network,
    text: str,
    sources: Mapping[str, Link],
    readers: Mapping[str, Iterable[str]],
    stay: Collection[str] = (),
) -> Runs:
    """The network of a node, whose JSON form is `text`.

    `sources` are the links into inputs, `readers` the consumers of outputs. What comes from another
    participant, or goes to one, ends here: its nodes decide nothing with this one.
    """
    comes = {each: _from(name, each, sources.get(each)) for each in network.inputs}
    goes = {each: _to(name, each, readers.get(each, ())) for each in network.outputs}
    fixed = immovable(network) | (set(stay) & network.boxes.keys())
    return Runs(text, comes, goes, tuple(sorted(fixed)))


def _from(name: NodeName, input_: str, link: Link | None) -> End:
    if link is None or link.node.participant != name.participant:
        return End(input_, str(name))
    return End(link.source, str(link.node))


def _to(name: NodeName, output: str, consumers: Iterable[str]) -> End:
    """The node that reads an output by a link: of several, the first by name."""
    for each in sorted(consumers):
        participant, _, rest = each.removeprefix(_READER).partition("/")
        if each.startswith(_READER) and participant == name.participant:
            return End(f"{name}/{output}", f"{participant}/{rest.partition('/')[0]}")
    return End(output, str(name))
