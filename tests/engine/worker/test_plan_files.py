"""Plan files: a worker loads the superboxes that it runs, and keeps those that it used last."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.store import Root
from australis.engine.worker import Waybill, task, write_plan
from australis.engine.worker.latest import Latest
from australis.engine.worker.plan_files import PlanFile
from australis.engine.worker.task import Ready, ready_for
from australis.errors import EngineError
from australis.plan.superboxes import Discipline, Plan, plan

NETWORKS_OF_ONE = 2
"""A superbox has a network, and may have another one with fewer attributes."""


def fan(outputs: int) -> Plan:
    net = NetworkBuilder("fan")
    stream = net.input("s", "k long, v double")
    for number in range(outputs):
        stream.filter(f"k > {number}", as_=f"f{number}").output(f"o{number}")
    return plan(net.build(), Discipline.TRAIN)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    root = Root.of(tmp_path)
    root.prepare()
    task.forget()
    yield root
    task.forget()


class Order:
    """What a waybill says about its superbox."""

    def __init__(self, plan: str, superbox: str) -> None:
        self.plan, self.superbox, self.asked = plan, superbox, dict[str, int]()


def ready(root: Root, file: str, superbox: str) -> Ready:
    return ready_for(root, cast(Waybill, Order(file, superbox)))


def test_each_superbox_can_be_read_by_itself(root: Root) -> None:
    made = fan(5)
    file = PlanFile(root, write_plan(root, made.superboxes))
    for name in reversed(made.superboxes):
        assert file.superbox(name) == made.superboxes[name]


def test_a_worker_loads_only_what_it_runs(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    file, checked = write_plan(root, fan(40).superboxes), list[Network]()
    plain = Network.__post_init__

    def noting(network: Network, known: Network | None) -> None:
        checked.append(network)
        plain(network, known)

    monkeypatch.setattr(Network, "__post_init__", noting)
    assert ready(root, file, "f7").superbox.id == "f7"
    assert len(checked) <= NETWORKS_OF_ONE
    again = ready(root, file, "f7")
    assert again is ready(root, file, "f7")
    assert len(checked) <= NETWORKS_OF_ONE


def test_the_least_recently_used_superbox_is_forgotten(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fan(6)
    whole, joined = write_plan(root, made.superboxes), made.joined(("f0", "f1"))
    apart = write_plan(root, {joined.id: joined})
    monkeypatch.setattr(task, "_ready", Latest[Any](most=4))
    first = {name: ready(root, whole, name) for name in ("f0", "f1", "f2")}
    ready(root, apart, joined.id)
    assert ready(root, whole, "f0") is first["f0"]
    ready(root, whole, "f3")
    kept = [name for name in ("f0", "f2") if ready(root, whole, name) is first[name]]
    assert kept == ["f0", "f2"], "only f1 had to go"
    assert ready(root, whole, "f1") is not first["f1"]


def test_another_file_is_refused(root: Root) -> None:
    name = root.new_name("plans", "plan", ".plan")
    root.write(name, b"something else, and long enough to have an end")
    with pytest.raises(EngineError, match="is not a plan file"):
        PlanFile(root, name)


def test_threads_may_share_what_was_used_last() -> None:
    latest = Latest[str](most=3)

    def use(seed: int) -> bool:
        random = Random(seed)
        names = [str(random.randrange(9)) for _ in range(3_000)]
        return all(latest.get(name, lambda name=name: f"<{name}>") == f"<{name}>" for name in names)

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(use, range(8)))
    assert len(list(latest)) <= 3
