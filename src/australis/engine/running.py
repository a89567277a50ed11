"""A running network: its parts, put together over one ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from australis.engine.deliver import Subscriptions
from australis.engine.ingest import BackPressure, Ingest
from australis.engine.ledger import Ledger
from australis.engine.maintain import Upkeep
from australis.engine.run_state import RunState
from australis.engine.settings import NodeSettings
from australis.engine.steer import Steering
from australis.engine.store import SplitSettings
from australis.engine.tables import Keeper, Tables
from australis.engine.threads import Threads
from australis.engine.train import Dispatch, Loop, Observer, TrainSettings
from australis.engine.worker import RunTrain


@dataclass(frozen=True)
class Running:
    """A deployed network."""

    ledger: Ledger
    state: RunState
    ingest: Ingest
    tables: Tables
    keeper: Keeper
    steering: Steering
    dispatch: Dispatch
    loop: Loop
    back_pressure: BackPressure
    subscriptions: Subscriptions
    clock: Callable[[], int]


def splits_of(settings: NodeSettings) -> SplitSettings:
    """When a node splits segments."""
    return SplitSettings(settings.partitions, settings.split_from)


def assemble(
    ledger: Ledger,
    ingest: Ingest,
    tables: Tables,
    keeper: Keeper,
    settings: NodeSettings,
    run: RunTrain,
    *,
    tasks: int,
    clock: Callable[[], int],
    threads: Threads,
    observer: Observer | None = None,
) -> Running:
    """Put the parts of a network together; `tasks` can run at a time."""
    state = RunState(ledger)
    steering = Steering(ledger, settings, threads, clock())
    splits = splits_of(settings)
    trains = TrainSettings(
        settings.partitions,
        tasks,
        settings.cache,
        settings.layered_from,
        splits,
        limit_s=settings.train_limit_s,
        bytes_most=settings.train_bytes,
    )
    dispatch = Dispatch(ledger, trains, tables)
    loop = Loop(
        ledger,
        state,
        dispatch,
        steering,
        tables,
        Upkeep(ledger, clock, threads, splits),
        run,
        ingest.tick,
        clock=clock,
        threads=threads,
        train=settings.train_most,
        workers=settings.in_flight,
        observer=observer,
    )
    back_pressure = BackPressure(settings.disk, ledger, state)
    subscriptions = Subscriptions(ledger, state, clock, threads)
    return Running(
        ledger, state, ingest, tables, keeper, steering, dispatch, loop, back_pressure, subscriptions, clock
    )
