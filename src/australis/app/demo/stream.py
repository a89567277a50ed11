"""The stream of the demonstration: an artificial hour of connections, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.schema import Schema

BEGIN_US = 1_055_426_400_000_000  # 2003-06-12T14:00:00Z
HOUR_S = 3600.0
SCANNER, BEACON, HOME = "203.0.113.66", "10.4.1.77", "198.51.100.23"
WORM_NET = "10.9.4"
SERVER = "10.1.0.25"
USUAL_PORTS = np.array([443, 443, 443, 80, 53, 53, 25, 22])

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Part:
    """Connections of one kind, before they are mixed with the others."""

    seconds: Numbers
    src: npt.NDArray[np.object_]
    dst: npt.NDArray[np.object_]
    port: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


def connections(schema: Schema, count: int, seed: int) -> pa.Table:
    """`count` connections in the order of arrival, which is almost that of their times."""
    chance = np.random.default_rng(seed)
    intruders = [_scan(chance), _beacon(chance), _worm(chance), _server(chance)]
    parts = [_everyday(chance, count - sum(len(part.seconds) for part in intruders)), *intruders]
    seconds = np.concatenate([part.seconds for part in parts])
    # A tuple may be overtaken by those of the next 100 ms.
    arrival = np.argsort(seconds + chance.random(len(seconds)) * 0.1, kind="stable")
    columns = {
        "time": pa.array((BEGIN_US + seconds[arrival] * 1e6).astype(np.int64)).cast(
            schema["time"].type.arrow
        ),
        "src": pa.array(np.concatenate([part.src for part in parts])[arrival], pa.string()),
        "dst": pa.array(np.concatenate([part.dst for part in parts])[arrival], pa.string()),
        "port": pa.array(np.concatenate([part.port for part in parts])[arrival].astype(np.int32)),
        "bytes": pa.array(np.concatenate([part.bytes for part in parts])[arrival]),
    }
    return pa.table([columns[name] for name in schema.names], schema.arrow)


def _everyday(chance: np.random.Generator, count: int) -> _Part:
    """A few hundred sources that talk to well-known hosts, some far more often than others."""
    hosts = np.array([f"10.{n // 100}.{n % 10}.{n % 100 + 10}" for n in range(400)], object)
    servers = np.array([f"192.0.2.{n}" for n in range(1, 201)], object)
    popular = 1 / np.arange(1, len(servers) + 1)
    return _Part(
        chance.random(count) * HOUR_S,
        chance.choice(hosts, count),
        chance.choice(servers, count, p=popular / popular.sum()),
        chance.choice(USUAL_PORTS, count),
        chance.lognormal(8.5, 1.5, count).astype(np.int64),
    )


def _scan(chance: np.random.Generator) -> _Part:
    """One source tries 900 ports of one host, within two minutes."""
    count = 900
    seconds = 1500 + np.sort(chance.random(count)) * 110
    return _Part(
        seconds, *_fixed(count, SCANNER, "10.1.0.9"), chance.permutation(count) + 1, _sizes(chance, count, 60)
    )


def _beacon(chance: np.random.Generator) -> _Part:
    """One source calls home every 30 s, give or take 200 ms, with very little data."""
    seconds = np.arange(7.0, HOUR_S, 30.0)
    seconds += chance.normal(0, 0.2, len(seconds))
    count = len(seconds)
    return _Part(seconds, *_fixed(count, BEACON, HOME), np.full(count, 443), _sizes(chance, count, 300))


def _worm(chance: np.random.Generator) -> _Part:
    """Five neighbours are all active in the same minute."""
    each, neighbours = 260, 5
    count = each * neighbours
    sources = np.repeat(np.array([f"{WORM_NET}.{n + 20}" for n in range(neighbours)], object), each)
    targets = np.array([f"10.{n % 4}.{n % 10}.{n % 100 + 10}" for n in range(count)], object)
    seconds = 2401 + chance.random(count) * 57
    return _Part(seconds, sources, targets, np.full(count, 445), _sizes(chance, count, 900))


def _server(chance: np.random.Generator) -> _Part:
    """A mail server that is always busy, and harmless: active, but with one service."""
    count = 15_000
    targets = np.array([f"192.0.2.{n % 200 + 1}" for n in range(count)], object)
    seconds = chance.random(count) * HOUR_S
    sources = _fixed(count, SERVER, "")[0]
    return _Part(seconds, sources, targets, np.full(count, 25), _sizes(chance, count, 20_000))


def _fixed(count: int, src: str, dst: str) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
    return np.full(count, src, object), np.full(count, dst, object)


def _sizes(chance: np.random.Generator, count: int, mean: int) -> npt.NDArray[np.int64]:
    return chance.poisson(mean, count).astype(np.int64)
