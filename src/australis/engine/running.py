"""A network that runs: its parts, put together over one ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.ingest.back_pressure import BackPressure
from australis.engine.ingest.log import Ingest
from australis.engine.ledger.ledger import Ledger
from australis.engine.maintain.upkeep import Upkeep
from australis.engine.run_state import RunState
from australis.engine.runner import Run
from australis.engine.settings import NodeSettings
from australis.engine.steer.steering import Steering
from australis.engine.tables.refresh import Keeper
from australis.engine.tables.table_states import Tables
from australis.engine.threads import Threads
from australis.engine.train.dispatch import Dispatch, TrainSettings
from australis.engine.train.loop import Loop


@dataclass(frozen=True)
class Running:
    """A network that is deployed."""

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


def assemble(
    ledger: Ledger,
    ingest: Ingest,
    tables: Tables,
    keeper: Keeper,
    settings: NodeSettings,
    run: Run,
    *,
    tasks: int,
    clock: Callable[[], int],
    threads: Threads,
) -> Running:
    """Put the parts of a network together; `tasks` can run at a time."""
    state = RunState(ledger)
    steering = Steering(ledger, settings, threads, clock())
    dispatch = Dispatch(ledger, TrainSettings(settings.partitions, tasks, settings.cache), tables)
    loop = Loop(
        ledger,
        state,
        dispatch,
        steering,
        tables,
        Upkeep(ledger, clock, threads),
        run,
        ingest.tick,
        clock=clock,
        threads=threads,
        train=settings.train_most,
        workers=settings.in_flight,
    )
    back_pressure = BackPressure(settings.disk, ledger, state)
    subscriptions = Subscriptions(ledger, state, clock)
    return Running(
        ledger, state, ingest, tables, keeper, steering, dispatch, loop, back_pressure, subscriptions, clock
    )
