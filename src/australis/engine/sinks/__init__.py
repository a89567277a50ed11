"""Sinks: write output arcs to files, each tuple once, even if the node is killed at any moment.

In: a node as an `Outlet`, whose tables carry sequence numbers, and the name of a file. Out: text files that
grow by whole appends, folders of Parquet parts, or lines on standard output (at least once). The node commits
the position of a sink together with the acknowledgement of its tuples.
"""

from australis.engine.sinks.checking import check_written
from australis.engine.sinks.consuming import Heard, Kept, Outlet, RunningSink, Sink, Tables, write_out
from australis.engine.sinks.doors import DoorOptions, any_host
from australis.engine.sinks.opening import is_file, parse_sink
from australis.engine.sinks.parts import ParquetSink, PartLimits
from australis.engine.sinks.spark_table import SparkTableSink
from australis.engine.sinks.streams import StreamSink
from australis.engine.sinks.taking import OutputTaker, SinkTaker, Taker, Taking
from australis.engine.sinks.text_file import TextFileSink

__all__ = [
    "DoorOptions",
    "Heard",
    "Kept",
    "Outlet",
    "OutputTaker",
    "ParquetSink",
    "PartLimits",
    "RunningSink",
    "Sink",
    "SinkTaker",
    "SparkTableSink",
    "StreamSink",
    "Tables",
    "Taker",
    "Taking",
    "TextFileSink",
    "any_host",
    "check_written",
    "is_file",
    "parse_sink",
    "write_out",
]
