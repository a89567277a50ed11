"""Kafka on both sides of a node: node, producing client and broker are killed again and again.

`python -m tests.kafka.campaign --kills 50 --seed 1`: so many kills of each, with `kill -9`, at random moments
of its own for each of them, so that two are often down at once. At the end every number that the broker
acknowledged, and every other one in the first topic, must be in the last topic once, as a reader of committed
transactions sees it. The last line is JSON; the exit code is 1 if one is lost or there twice, or if a node
ended by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from tests.kafka.broker import Broker, missing
from tests.kafka.messages import read_all

PARTITIONS = 4
_STEP = 10_000_000
_MOVE_S, _END_S = 120.0, 600.0
_NETWORK = """\
australis: 1
name: lanes
inputs:
  reports:
    schema: {id: long not null, lane: long not null}
boxes:
  moved:
    box: map
    from: reports
    attributes: {id: id, lane: lane + 1}
outputs:
  seen: {from: moved}
"""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Process:
    """A child that is started again after each kill."""

    def __init__(self, name: str, folder: Path, command: Callable[[int], list[str]]) -> None:
        self.name, self._folder, self._command = name, folder, command
        self.starts = 0
        self.ended: list[str] = []
        """What was said by those that ended though nobody had killed them."""
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self._folder / f"{self.name}.log", "wb") as log:
            self._child = subprocess.Popen(
                self._command(self.starts), stdout=log, stderr=log, start_new_session=True
            )
        self.starts += 1

    def check(self) -> None:
        """Start it again, and remember what it said, if it has ended by itself."""
        assert self._child is not None
        if self._child.poll() is not None:
            self.ended.append((self._folder / f"{self.name}.log").read_text()[-1500:])
            self.start()

    def kill(self) -> None:
        """Kill it alone: its workers find out by themselves."""
        assert self._child is not None
        self._child.kill()
        self._child.wait()

    def clear(self) -> None:
        """Kill what is left of it and its workers."""
        assert self._child is not None
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def stop(self, seconds: float) -> None:
        """Ask it to end."""
        assert self._child is not None
        self._child.send_signal(signal.SIGTERM)
        self._child.wait(seconds)


class Campaign:
    """A broker, a node and a producing client, and what happened to them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed = folder, seed
        self.broker = Broker(folder / "broker", {"log.segment.bytes": "1048576"})
        self.acknowledged = folder / "acknowledged"
        self.acknowledged.touch()
        self.client = Process("client", folder, self._client)
        self.node = Process("node", folder, self._node)
        self.kills: Counter[str] = Counter()
        self._failed: list[BaseException] = []

    def _client(self, starts: int) -> list[str]:
        module = [sys.executable, "-m", "tests.kafka.producing"]
        return [*module, self.broker.servers, "reports", str(self.acknowledged), str(starts * _STEP)]

    def _node(self, starts: int) -> list[str]:
        del starts
        at = f"servers={self.broker.servers}&patience=600 s"
        command = [sys.executable, "-m", "australis", "run", str(self._folder / "network.yaml")]
        command += ["--runner", "light", "--root", str(self._folder / "root"), "--follow"]
        return [*command, "-i", f"reports=kafka:reports?{at}", "-o", f"seen=kafka:seen?{at}&key=id"]

    def begin(self) -> None:
        (self._folder / "network.yaml").write_text(_NETWORK)
        self.broker.start()
        for topic in ("reports", "seen"):
            self.broker.create(topic, PARTITIONS)
        self.client.start()
        self.node.start()

    # --- kills

    def kill_all(self, kills: int) -> None:
        """Kill each of the three so many times, each at moments of its own."""
        loops = [
            threading.Thread(target=self._guarded, args=(name, kills), daemon=True)
            for name in ("node", "client", "broker")
        ]
        for loop in loops:
            loop.start()
        for loop in loops:
            loop.join()
        if self._failed:
            raise self._failed[0]

    def _guarded(self, name: str, kills: int) -> None:
        try:
            getattr(self, f"_kill_{name}")(kills, random.Random(f"{self._seed} {name}"))
        except BaseException as error:
            self._failed.append(error)
            raise

    def _kill_node(self, kills: int, chance: random.Random) -> None:
        for number in range(kills):
            # One in three is killed while it starts, the others after they have written something.
            if number % 3:
                self._moved("seen")
                time.sleep(chance.uniform(0, 1.5))
            else:
                time.sleep(chance.uniform(0, 8))
            self.node.check()
            self.node.kill()
            self._note("node")
            self.node.start()

    def _kill_client(self, kills: int, chance: random.Random) -> None:
        for _ in range(kills):
            size, until = self.acknowledged.stat().st_size, time.monotonic() + _MOVE_S
            while self.acknowledged.stat().st_size == size and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(chance.uniform(0, 8))
            self.client.check()
            self.client.kill()
            self._note("client")
            self.client.start()

    def _kill_broker(self, kills: int, chance: random.Random) -> None:
        for _ in range(kills):
            self._moved("seen", _MOVE_S if chance.random() < 0.7 else 0)
            time.sleep(chance.uniform(0, 3))
            self.broker.kill()
            self._note("broker")
            self.broker.start()

    def _note(self, name: str) -> None:
        self.kills[name] += 1
        say(f"{time.strftime('%H:%M:%S')} killed {dict(self.kills)}")

    def _moved(self, topic: str, seconds: float = _MOVE_S) -> None:
        """Wait until a topic grows, or for a limited time."""
        before, until = self._length(topic), time.monotonic() + seconds
        while time.monotonic() < until:
            now = self._length(topic)
            if before is not None and now is not None and now > before:
                return
            before = now if before is None else before
            time.sleep(0.1)

    def _length(self, topic: str) -> int | None:
        """The offsets of a topic, or None while no broker answers."""
        settings = {"bootstrap.servers": self.broker.servers, "group.id": "campaign", "log_level": 0}
        asking = Consumer(settings)
        try:
            places = [TopicPartition(topic, each) for each in range(PARTITIONS)]
            return sum(asking.get_watermark_offsets(each, timeout=2)[1] for each in places)
        except KafkaException:
            return None
        finally:
            asking.close()

    # --- the end

    def finish(self) -> None:
        """Let the client end, and the node finish what is left."""
        self.client.check()
        self.client.stop(_END_S)
        wanted, until = len(self.numbers("reports")), time.monotonic() + _END_S
        while len(read_all(self.broker, "seen", PARTITIONS)) < wanted and time.monotonic() < until:
            self.node.check()
            time.sleep(2)
        # What comes twice would come now.
        self._moved("seen", 5)
        self.node.check()
        self.node.kill()

    def numbers(self, topic: str) -> list[int]:
        found = read_all(self.broker, topic, PARTITIONS)
        return [json.loads(each.value() or b"null")["id"] for each in found]

    def result(self) -> dict[str, Any]:
        given, seen = self.numbers("reports"), Counter(self.numbers("seen"))
        acknowledged = {int(line) for line in self.acknowledged.read_text().split()}
        wanted = set(given)
        return {
            "kills": dict(self.kills),
            "acknowledged": len(acknowledged),
            "in_first_topic": len(given),
            "twice_in_first_topic": len(given) - len(wanted),
            "acknowledged_and_not_there": len(acknowledged - wanted),
            "seen": seen.total(),
            "lost": len((acknowledged | wanted) - seen.keys()),
            "duplicated": sum(count - 1 for count in seen.values()),
            "never_given": len(seen.keys() - wanted),
            "ended_by_themselves": {each.name: len(each.ended) for each in (self.node, self.client)},
        }

    def close(self) -> None:
        for each in (self.node, self.client):
            try:
                each.clear()
            except (AssertionError, ProcessLookupError):
                continue  # it has ended, or was never started
        self.broker.stop()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    given = parser.parse_args()
    if (why := missing()) is not None:
        say(why)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="kafka-campaign-"))
    campaign = Campaign(folder, given.seed)
    began = time.monotonic()
    try:
        campaign.begin()
        campaign.kill_all(given.kills)
        campaign.finish()
        result = campaign.result() | {"seconds": round(time.monotonic() - began)}
    finally:
        campaign.close()
    for each in (campaign.node, campaign.client):
        for words in each.ended:
            say(f"{each.name} ended by itself:\n{words}")
    faults = ("twice_in_first_topic", "acknowledged_and_not_there", "lost", "duplicated", "never_given")
    is_right = not any(result[name] for name in faults) and not any(result["ended_by_themselves"].values())
    if not given.keep:
        shutil.rmtree(folder, ignore_errors=True)
    say(json.dumps(result))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
