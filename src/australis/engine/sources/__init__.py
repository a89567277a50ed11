"""Sources: files, folders, pipes and generators as streams that can be stopped and resumed anywhere.

In: a text that names a source, a schema, options; a clock to wait on. Out: deliveries of tuples, rejected
rows and a position, which a node commits together; a restarted source continues after the last committed
position. Settings (`FileSource`, `FolderSource`, `GeneratorSource`) and runs are separate objects.
"""

from australis.engine.sources.delivery import (
    Adoption,
    Delivery,
    Inlet,
    Positions,
    RunningSource,
    Source,
    hand_over,
)
from australis.engine.sources.feeding import bring, feed, in_turns
from australis.engine.sources.files import FileSource, FolderSource
from australis.engine.sources.generator import PREFIX, GeneratorSource, parse_generator
from australis.engine.sources.kafka import KafkaSource
from australis.engine.sources.opening import is_file, parse_source
from australis.engine.sources.options import AS_IT_IS, DEFAULT_BATCH, Options, parse_replay
from australis.engine.sources.pacing import Pacer, Rate, Speed
from australis.engine.sources.rates import parse_rate, parse_speed
from australis.engine.sources.reading import check_ends, open_source
from australis.engine.sources.ticks import TICKS, TickSource, parse_ticks
from australis.engine.sources.waiting import SignalWaiter, Waiter

__all__ = [
    "AS_IT_IS",
    "DEFAULT_BATCH",
    "PREFIX",
    "TICKS",
    "Adoption",
    "Delivery",
    "FileSource",
    "FolderSource",
    "GeneratorSource",
    "Inlet",
    "KafkaSource",
    "Options",
    "Pacer",
    "Positions",
    "Rate",
    "RunningSource",
    "SignalWaiter",
    "Source",
    "Speed",
    "TickSource",
    "Waiter",
    "bring",
    "check_ends",
    "feed",
    "hand_over",
    "in_turns",
    "is_file",
    "open_source",
    "parse_generator",
    "parse_rate",
    "parse_replay",
    "parse_source",
    "parse_speed",
    "parse_ticks",
]
