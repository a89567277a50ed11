"""A network that runs: its parts, put together on one ground."""

from __future__ import annotations

from dataclasses import dataclass

from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.ingest.back_pressure import Room
from australis.engine.ingest.log import Ingest
from australis.engine.runner import Run
from australis.engine.settings import NodeSettings
from australis.engine.shared import Ground
from australis.engine.steer.steering import Steering
from australis.engine.tables.refresh import Keeper
from australis.engine.train.loop import Loop
from australis.engine.train.trains import Settings, Trains


@dataclass(frozen=True)
class Running:
    """A network that is deployed."""

    ground: Ground
    ingest: Ingest
    steering: Steering
    trains: Trains
    loop: Loop
    room: Room
    subscriptions: Subscriptions
    keeper: Keeper


def assembled(
    ground: Ground, ingest: Ingest, settings: NodeSettings, run: Run, tasks: int, keeper: Keeper
) -> Running:
    """The parts of a network; `tasks` can run at a time."""
    steering = Steering(ground, settings)
    trains = Trains(ground, Settings(settings.partitions, tasks, settings.cache), steering)
    loop = Loop(
        ground,
        trains,
        steering,
        run,
        ingest.tick,
        train=settings.train_most,
        workers=settings.in_flight,
    )
    room, subscriptions = Room(settings.disk, ground, loop), Subscriptions(ground, loop)
    return Running(ground, ingest, steering, trains, loop, room, subscriptions, keeper)
