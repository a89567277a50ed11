"""The calls about networks, queries and statistics, of both clients, on a real service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

import australis
from australis import Network, NetworkBuilder
from australis.client import Client
from australis.errors import ErrorCode, ServiceError


def network(limit: int = 30) -> Network:
    net = NetworkBuilder("soldiers")
    net.input("pos", "sid int, time long, pos int").filter(f"pos >= {limit}").output("far")
    return net.build()


def test_a_network_is_checked_deployed_changed_and_removed(start: Callable[..., str]) -> None:
    with australis.connect(start()) as node:
        assert node.status()["state"] == "empty"
        with pytest.raises(ServiceError) as raised:
            node.network()
        assert raised.value.code is ErrorCode.NOT_FOUND
        bad = node.check("{australis: 1, name: n, inputs: {s: {schema: x int}}, outputs: {o: {from: t}}}")
        assert not bad.ok
        assert bad.problems
        assert node.check(network()).ok
        first = node.deploy(network())
        assert first.revision is not None
        assert node.network() == network()
        assert node.deploy(network(), revision=first.revision).revision == first.revision
        change = node.difference(network(40))
        assert change.lines()
        with pytest.raises(ServiceError) as raised:
            node.deploy(network(40), revision="another")
        assert raised.value.code is ErrorCode.REVISION_MISMATCH
        node.deploy(network(40), accept_loss=True)
        assert node.network() == network(40)
        assert [each["name"] for each in node.inputs()] == ["pos"]
        assert node.output("far")["schema"] == "sid int, time long, pos int"
        assert node.kept("far").rows == 0
        assert "far" in [each["id"] for each in node.search("far")]
        box = next(iter(network().boxes))
        assert node.split(box, 3, dry_run=True).as_dict()["copies"] == [f"{box}_{n}" for n in (1, 2, 3)]
        assert node.splits() == {}
        assert node.split(box, by=["sid"]).lines()[0].startswith(f"{box} runs as {box}_1, {box}_2: ")
        assert node.splits()[box] == {"box": box, "into": 2, "by": ["sid"], "any_order": False}
        assert node.split(box, by=["sid"]).as_dict()["added"] == []
        with pytest.raises(ServiceError, match="is split already, into 2 by sid") as raised:
            node.split(box, 3)
        assert raised.value.code is ErrorCode.CONFLICT
        assert node.network() == network(40)
        assert node.unsplit(box, dry_run=True).as_dict()["removed"]
        assert node.unsplit(box).as_dict()["copies"] == []
        assert node.splits() == {}
        node.pause()
        assert node.status()["state"] == "paused"
        assert node.step() is None
        node.set_breakpoint("here", "pos", "pos > 50")
        assert node.breakpoints()["here"]["where"] == "pos > 50"
        assert node.remove_breakpoint("here")
        node.resume()
        assert node.optimiser()["switches"] == []
        assert node.statistics()["waiting"] == 0
        assert node.operations()
        node.flush()
        node.remove(accept_loss=True)
        assert node.status()["state"] == "empty"


def test_the_same_on_an_event_loop(start: Callable[..., str]) -> None:
    url = start()

    async def session() -> None:
        async with australis.connect_async(url) as node:
            await node.deploy(network())
            assert await node.network() == network()
            statistics, outputs = await asyncio.gather(node.statistics(), node.outputs())
            assert statistics["waiting"] == 0
            assert "far" in [each["name"] for each in outputs]
            with pytest.raises(ServiceError, match="no input"):
                await node.promise("nothing", 7)

    asyncio.run(session())


def test_a_node_that_is_not_there() -> None:
    with (
        Client("http://127.0.0.1:1", patience_s=0.2) as node,
        pytest.raises(ServiceError, match="cannot be reached"),
    ):
        node.status()
