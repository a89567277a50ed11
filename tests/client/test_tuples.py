"""Tuples through a real service: pushed once, followed without gap or duplicate, also when it restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.client.test_control import network

import australis
from australis.client import Client


def rows(begin: int, end: int) -> pa.Table:
    numbers = range(begin, end)
    return pa.table(
        {
            "sid": pa.array([1] * len(numbers), pa.int32()),
            "time": pa.array(list(numbers), pa.int64()),
            "pos": pa.array([40] * len(numbers), pa.int32()),
        }
    )


def test_what_is_pushed_is_there_once_and_is_followed(start: Callable[..., str]) -> None:
    with australis.connect(start()) as node:
        node.deploy(network())
        assert node.push("pos", {"sid": 1, "time": 0, "pos": 40}).accepted == 1
        assert node.push("pos", rows(1, 10), key="mine").repeated is False
        assert node.push("pos", rows(1, 10), key="mine").repeated is True
        end = node.status()["log_end"]
        with node.subscribe("far", begin=0, end=end) as tables:
            found = [number for table in tables for number in table["time"].to_pylist()]
        assert found == list(range(10))
        assert node.read("far")["time"].to_pylist() == found
        numbered = [node.push_numbered("pos", [rows(10, 20)], "me", 7).repeated for _ in range(2)]
        assert numbered == [False, True]
        with node.subscribe("far", begin=end) as tables:
            assert next(tables)["time"][0].as_py() == 10


def test_a_consumer_goes_on_where_it_was(start: Callable[..., str]) -> None:
    with australis.connect(start()) as node:
        node.deploy(network())
        end = node.push("pos", rows(0, 10)).end
        for expected in (list(range(10)), []):
            with node.subscribe("far", consumer="me", end=end) as tables:
                assert [n for table in tables for n in table["time"].to_pylist()] == expected


def test_the_same_on_an_event_loop(start: Callable[..., str]) -> None:
    url = start()
    with Client(url) as node:
        node.deploy(network())

    async def session() -> list[int]:
        async with australis.connect_async(url) as node:
            end = (await node.push("pos", rows(0, 10))).end
            async with node.subscribe("far", begin=0, end=end) as tables:
                return [n async for table in tables for n in table["time"].to_pylist()]

    assert asyncio.run(session()) == list(range(10))


@pytest.mark.parametrize("pushed", [[{"sid": "x"}], [{"sid": 1, "time": "never"}]])
def test_rows_that_are_no_tuples_are_counted(start: Callable[..., str], pushed: object) -> None:
    with australis.connect(start()) as node:
        node.deploy(network())
        assert node.push("pos", pushed).rejected_count == 1
