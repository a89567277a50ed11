"""Large networks: many boxes, each with its own output and graphs."""

from __future__ import annotations

from australis import Network, NetworkBuilder, Quality

SCHEMA = "k long, v double"
QUALITY = Quality(delay=((0, 1), (2, 1), (10, 0)), loss=((0, 0), (1, 1)))
POINT = "all"
"""The connection point at the input."""


def fan(outputs: int) -> Network:
    """As many filters of one input, each with an output: as many superboxes."""
    net = NetworkBuilder("fan")
    stream = net.input("x", SCHEMA).point(POINT, history="1 hour")
    for index in range(outputs):
        stream.filter(f"k > {index}", as_=f"f{index}").output(f"o{index}", QUALITY)
    return net.build()


def pairs(outputs: int) -> Network:
    """Half as many filters of one input, each with two outputs after it: outputs share what leads to them."""
    net = NetworkBuilder("pairs")
    stream = net.input("x", SCHEMA).point(POINT, history="1 hour")
    for index in range(outputs // 2):
        shared = stream.filter(f"k > {index}", as_=f"f{index}")
        for side in ("a", "b"):
            shared.map({"k": "k", "v": "v + 1"}, as_=f"{side}{index}").output(f"o{index}{side}", QUALITY)
    return net.build()


def chains(boxes: int, length: int = 10) -> Network:
    """Chains of filters, each with an output at its end."""
    net = NetworkBuilder("chains")
    stream = net.input("x", SCHEMA)
    for index in range(boxes // length):
        end = stream
        for step in range(length):
            end = end.filter(f"k > {index + step}", as_=f"f{index}_{step}")
        end.output(f"o{index}", QUALITY)
    return net.build()


def comb(boxes: int) -> Network:
    """One chain of filters, each with an output: the deepest plan."""
    net = NetworkBuilder("comb")
    stream = net.input("x", SCHEMA)
    for index in range(boxes):
        stream = stream.filter(f"k > {index}", as_=f"f{index}")
        stream.output(f"o{index}", QUALITY)
    return net.build()
