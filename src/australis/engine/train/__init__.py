"""Trains: what the next one takes, how it is committed, and the loop that runs them.

In: queues and choices. Out: committed trains.
"""

from australis.engine.train.breakpoints import Breakpoint, Stop
from australis.engine.train.commit import Train
from australis.engine.train.dispatch import Dispatch, TrainSettings
from australis.engine.train.loop import Loop
from australis.engine.train.observing import FailedTrain, Observer

__all__ = [
    "Breakpoint",
    "Dispatch",
    "FailedTrain",
    "Loop",
    "Observer",
    "Stop",
    "Train",
    "TrainSettings",
]
