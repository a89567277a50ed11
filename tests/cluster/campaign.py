"""Three services in a row, linked: killed, stopped and cut off again and again, while a client pushes.

`python -m tests.cluster.campaign --harms 60 --seed 1`: so many harms at random moments, of three kinds:
`kill -9` of a service, SIGSTOP of one for a while, and a connection that is cut or held up. With
`--moves 200`, boxes are moved meanwhile between random services, with their states. At the end the last
output must have what one undisturbed node would have, in the same order: every acknowledged tuple once.
The last line is JSON; the exit code is 1 if a tuple is lost, there twice, or wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import yaml
from tests.cluster.identities import identity
from tests.cluster.proxy import Proxy

import australis
from australis.errors import AustralisError

ROWS, KEYS = 20, 5
"""Tuples of a push, and among how many keys they are divided."""
_MOVE_S, _END_S, _STOP_S, _HOLD_S = 60.0, 300.0, 7.0, 7.0
BOXES = ("odd", "pair")
SCHEMA = {"k": "int not null", "n": "long not null"}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def networks() -> list[dict[str, Any]]:
    """What the nodes a, b and c run: a filter, a sum by key over windows of two tuples, and nothing more."""

    def network(
        name: str, source: str | None, boxes: dict[str, Any], out: str, schema: Any
    ) -> dict[str, Any]:
        given = {"schema": schema} | ({} if source is None else {"from": source})
        outputs = {"out": {"from": out}}
        return {"australis": 1, "name": name, "inputs": {"s": given}, "boxes": boxes, "outputs": outputs}

    odd = {"box": "filter", "from": "s", "predicates": ["n % 2 = 1"]}
    pair = {
        "box": "aggregate",
        "from": "s",
        "functions": {"total": "sum(n)"},
        "order": {"on": "n", "group_by": ["k"]},
        "size": 2 * KEYS * 2,
        "align": True,
    }
    sums = {"k": "int not null", "n": "long not null", "total": "long"}
    return [
        network("one", None, {"odd": odd}, "odd", SCHEMA),
        network("two", "lab/a/out", {"pair": pair}, "pair", SCHEMA),
        network("three", "lab/b/out", {}, "s", sums),
    ]


def expected(tuples: int) -> dict[int, list[tuple[int, int]]]:
    """What comes out by key: the begin and the sum of each window that a later tuple has closed."""
    size, open_windows, found = 2 * KEYS * 2, {}, {key: [] for key in range(KEYS)}  # type: ignore[var-annotated]
    for n in range(1, tuples, 2):
        key, window = n // 2 % KEYS, n // size * size
        begin, total = open_windows.get(key, (window, 0))
        if begin != window:
            found[key].append((begin, total))
            total = 0
        open_windows[key] = window, total + n
    return found


class Served:
    """A service that is started again after each kill, always at the same ports."""

    def __init__(self, folder: Path, name: str, network: dict[str, Any], nodes: dict[str, str]) -> None:
        self.name, self._folder, self._network = name, folder, network
        self.port, self.link_port = _free(), _free()
        home = identity(folder, f"lab/{name}")
        settings = {
            "listen": f"127.0.0.1:{self.port}",
            "node": {"root": str(folder / f"root-{name}"), "runner": "light[1]"},
            "flight": {"enabled": False},
            "cluster": {"identity": str(home), "listen": f"127.0.0.1:{self.link_port}", "nodes": nodes},
        }
        self._settings = folder / f"{name}.yaml"
        self._settings.write_text(yaml.safe_dump(settings))
        self._child: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with open(self._folder / f"{self.name}.log", "ab") as log:
            command = [sys.executable, "-m", "australis", "serve", "--config", str(self._settings)]
            self._child = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def deploy(self) -> None:
        """Give it its network once it answers."""
        until = time.monotonic() + _END_S
        while time.monotonic() < until:
            try:
                answer = httpx.put(f"{self.url}/v1/network", json={"network": self._network}, timeout=60)
                if answer.is_success:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.2)
        raise TimeoutError(f"{self.name} took no network")

    def signal(self, number: signal.Signals) -> None:
        assert self._child is not None
        os.kill(self._child.pid, number)

    def kill(self) -> None:
        """Kill it and its workers."""
        assert self._child is not None
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._child is not None and self._child.poll() is not None

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.url}{path}", timeout=60).raise_for_status().json()


def _free() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Campaign:
    """Three services, the proxies between them, and the client."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        one, two, three = networks()
        a = Served(folder, "a", one, {})
        self._proxies = [Proxy(("127.0.0.1", a.link_port))]
        b = Served(folder, "b", two, {"lab/a": _place(self._proxies[0])})
        self._proxies.append(Proxy(("127.0.0.1", b.link_port)))
        self._proxies.append(Proxy(("127.0.0.1", a.link_port)))
        places = {"lab/b": _place(self._proxies[1]), "lab/a": _place(self._proxies[2])}
        c = Served(folder, "c", three, places)
        self.services = [a, b, c]
        self.moves: Counter[str] = Counter()
        self._mover: threading.Thread | None = None
        self.pushes = 0
        self._ended = threading.Event()
        self.harms: Counter[str] = Counter()

    def begin(self) -> None:
        for each in self.services:
            each.start()
        for each in self.services:
            each.deploy()
        self._client = threading.Thread(target=self._push, daemon=True)
        self._client.start()

    def move(self, moves: int) -> None:
        """Move boxes again and again, beside whatever else happens."""
        self._mover = threading.Thread(target=self._move, args=(moves, self._chance.random()), daemon=True)
        self._mover.start()

    @property
    def is_moving(self) -> bool:
        return self._mover is not None and self._mover.is_alive()

    def _move(self, moves: int, seed: float) -> None:
        chance = random.Random(seed)
        while sum(self.moves.values()) < moves and not self._ended.is_set():
            giver, taker = chance.sample(self.services, 2)
            try:
                told = self._moved_or_split(giver, taker, chance)
            except httpx.HTTPError:
                told = "unknown"
            if told:
                self.moves[told] += 1
            self._ended.wait(chance.choice([0, 0.1, 1]))

    def _moved_or_split(self, giver: Served, taker: Served, chance: random.Random) -> str:
        """Move some boxes or copies of a node, or split one or make it whole; what came of it."""
        boxes = [*giver.get("/v1/network?live=true")["network"].get("boxes", {})]
        here = [box for box in boxes if box.rpartition("_")[0] in BOXES or box in BOXES]
        if not here:
            return ""
        url, box = giver.url, chance.choice(here).removesuffix("_1").removesuffix("_2")
        match chance.random():
            case low if low < 0.15:
                by = {"into": 2, "by": ["k"], "any_order": True}
                answer = httpx.put(f"{url}/v1/splits/{box}", json=by, timeout=90)
                return "split" if answer.is_success else "no_split"
            case low if low < 0.3:
                answer = httpx.delete(f"{url}/v1/splits/{box}", timeout=90)
                return "whole" if answer.is_success else "no_whole"
        asked = {"boxes": chance.sample(here, chance.randint(1, len(here))), "to": f"lab/{taker.name}"}
        answer = httpx.post(f"{url}/v1/cluster/moves", json=asked, timeout=90)
        return str(answer.json().get("state", "refused"))

    def _push(self) -> None:
        """Push batches in their order, each until it is acknowledged."""
        while not self._ended.is_set():
            first = self.pushes * ROWS
            rows = [{"k": n // 2 % KEYS, "n": n} for n in range(first, first + ROWS)]
            if self._is_pushed(rows):
                self.pushes += 1
            else:
                self._ended.wait(0.2)

    def _is_pushed(self, rows: list[dict[str, int]]) -> bool:
        key = {"Idempotency-Key": f"push-{self.pushes}"}
        try:
            url = f"{self.services[0].url}/v1/inputs/s/tuples"
            return httpx.post(url, json=rows, headers=key, timeout=10).is_success
        except httpx.HTTPError:
            # It is being killed, or starts: the same push is tried again.
            return False

    def harm(self) -> None:
        """Do one harm, at a random moment: most when something has moved since the last one."""
        if self._chance.random() < 0.7:
            self._moved()
        time.sleep(self._chance.uniform(0, 3))
        kind = self._chance.choice(["kill", "kill", "stop", "cut", "cut", "hold"])
        victim, proxy = self._chance.choice(self.services), self._chance.choice(self._proxies)
        match kind:
            case "kill":
                victim.kill()
                time.sleep(self._chance.choice([0, 0, 1]))
                victim.start()
            case "stop":
                victim.signal(signal.SIGSTOP)
                time.sleep(self._chance.uniform(0, _STOP_S))
                victim.signal(signal.SIGCONT)
            case "cut":
                proxy.cut()
            case "hold":
                proxy.hold()
                time.sleep(self._chance.uniform(0, _HOLD_S))
                proxy.release()
        self.harms[kind] += 1

    def _moved(self) -> None:
        """Wait until the client has pushed something, for a limited time."""
        before, until = self.pushes, time.monotonic() + _MOVE_S
        while self.pushes == before and time.monotonic() < until:
            time.sleep(0.05)

    def found(self) -> dict[int, list[tuple[int, int]]]:
        """What the last output has, by key, once it has all that was pushed."""
        self._ended.set()
        self._client.join()
        if self._mover is not None:
            self._mover.join()
        wanted = expected(self.pushes * ROWS)
        count, until = sum(map(len, wanted.values())), time.monotonic() + _END_S
        rows: list[dict[str, int]] = []
        while time.monotonic() < until:
            rows = self._read()
            if len(rows) >= count:
                break
            time.sleep(0.5)
        found: dict[int, list[tuple[int, int]]] = {key: [] for key in range(KEYS)}
        for row in rows:
            found[row["k"]].append((row["n"], row["total"]))
        return found

    def _read(self) -> list[dict[str, int]]:
        """What the last output has now; nothing while its node starts."""
        try:
            with (
                australis.connect(self.services[2].url) as node,
                node.subscribe("out", begin=0, follow=False) as tables,
            ):
                return [row for table in tables for row in table.to_pylist()]
        except AustralisError as error:
            say(f"the last node does not answer yet: {error}")
            return []

    def close(self) -> None:
        self._ended.set()
        for proxy in self._proxies:
            proxy.close()
        for each in self.services:
            each.kill()


def _place(proxy: Proxy) -> str:
    return f"{proxy.place[0]}:{proxy.place[1]}"


def compared(found: dict[int, list[Any]], wanted: dict[int, list[Any]]) -> dict[str, int]:
    """How many tuples are lost, there twice, wrong, or out of order within their key."""
    lost = twice = wrong = 0
    for key, tuples in wanted.items():
        had, want = Counter(found[key]), Counter(tuples)
        twice += sum(count - 1 for each, count in had.items() if count > 1)
        lost += sum((want - had).values())
        wrong += sum(each not in want for each in had)
        wrong += had == want and found[key] != tuples
    return {"lost": lost, "duplicated": twice, "wrong": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.campaign", description=__doc__)
    parser.add_argument("--harms", type=int, default=60, help="how many harms [60]")
    parser.add_argument("--moves", type=int, default=0, help="how many moves of boxes [0]")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="of the moments and kinds")
    given = parser.parse_args()
    say(f"seed {given.seed}")
    with tempfile.TemporaryDirectory(prefix="links-") as folder:
        campaign = Campaign(Path(folder), given.seed)
        try:
            campaign.begin()
            if given.moves:
                campaign.move(given.moves)
            while sum(campaign.harms.values()) < given.harms or campaign.is_moving:
                campaign.harm()
                if sum(campaign.harms.values()) % 10 == 0:
                    done = f"{dict(campaign.harms)}, moves {dict(campaign.moves)}"
                    say(f"harms {done}, {campaign.pushes:,} pushes")
            found, wanted = campaign.found(), expected(campaign.pushes * ROWS)
            bad = compared(found, wanted)
            if any(bad.values()):
                for each in campaign.services:
                    say(f"{each.name}: {(Path(folder) / f'{each.name}.log').read_text()[-3000:]}")
        finally:
            campaign.close()
    tuples = sum(map(len, wanted.values()))
    done = {"harms": dict(campaign.harms), "moves": dict(campaign.moves)}
    say(json.dumps({**done, "pushes": campaign.pushes, "results": tuples, **bad}))
    sys.exit(any(bad.values()))


if __name__ == "__main__":
    main()
