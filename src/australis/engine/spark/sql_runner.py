"""Trains as Spark SQL: Spark reads the segments, runs the leading boxes and gathers each partition.

The other way, fused, is faster if the tuples fit the tasks of one machine. This one lets Spark distribute the
scan of many segments over a cluster, reading each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from australis.algebra.counters import Counters
from australis.algebra.network import Ref
from australis.algebra.schema import TS, Schema
from australis.engine.spark.fused import FusedRunner, waybill_of_job
from australis.engine.spark.leading import Led, applied, led
from australis.engine.spark.train_jobs import train_job
from australis.engine.spark.types import spark_type
from australis.engine.store import ROW, SEQ, Root, Segment, check_segment
from australis.engine.store import TIE as SORTED_TIE
from australis.engine.worker import (
    Manifest,
    Share,
    Task,
    Waybill,
    answer_or_fault,
    manifest_of,
    ready_for,
    write_plan,
)
from australis.kernels.kernel import CAUSE
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import Plan

TIE, INPUT, PARTITION = "#tie", "#input", "#partition"
"""Hidden columns: the rank of a tuple among those of its number, its input, its partition."""
HIDDEN = (TS, SEQ, TIE)
_MARKER = -1
"""The input of a row that every partition has, so that time passes even where there is no tuple."""
_ROWS_BITS = 40
_COUNT = "count"
_Observed = dict[str, tuple[Observation, Observation]]
"""The counts before and after each leading box."""


class SqlRunner:
    """Trains whose leading boxes are Spark expressions."""

    def __init__(self, session: SparkSession, root: Root, plan: Plan) -> None:
        session.conf.set("spark.sql.session.timeZone", plan.network.timezone)
        self._session, self._root, self._plan = session, root, plan
        self._fused = FusedRunner(session)
        self._has_run = False
        self._led = {name: led(superbox) for name, superbox in plan.superboxes.items()}
        self._file = write_plan(root, {name: each.rest for name, each in self._led.items()})

    def run(self, waybill: Waybill) -> list[Manifest]:
        """Run a train."""
        observed: _Observed = {}
        if waybill.drop_boxes or waybill.set_aside:
            # Both come before all else, and shed tuples are counted: the fused way does that.
            return self._fused.run(waybill)
        frame = self._frame(waybill, observed)
        for segments in waybill.streams.values():
            for segment in segments:
                check_segment(self._root, segment)
        told = replace(waybill, plan=self._file)
        with train_job(self._session.sparkContext, told, is_first=not self._has_run):
            rows = frame.mapInArrow(serve_rows, "answer binary").collect()
        self._has_run = True
        return [
            *(manifest_of(bytes(row.answer), waybill.superbox) for row in rows),
            self._led_counts(waybill.superbox, observed),
        ]

    # --- the data frame for Python

    def _frame(self, waybill: Waybill, observed: _Observed) -> DataFrame:
        """The tuples of all inputs, each with its input and partition, every partition in one task."""
        cut = self._led[waybill.superbox]
        partitions = self._partitions(waybill)
        markers = self._session.range(partitions, numPartitions=1).select(
            F.col("id").cast("int").alias(PARTITION), F.lit(_MARKER).alias(INPUT)
        )
        frames = [
            self._placed(self._chained(waybill, cut, name, observed), waybill, cut, name)
            for name in cut.rest.streams
            if waybill.streams.get(name)
        ]
        whole = reduce(
            lambda one, other: one.unionByName(other, allowMissingColumns=True), [markers, *frames]
        )
        return whole.repartition(partitions, F.col(f"`{PARTITION}`"))

    def _partitions(self, waybill: Waybill) -> int:
        """Into how many parts a train is divided: those of the state, or one for each task."""
        is_keyed = self._led[waybill.superbox].rest.spread.kind is SpreadKind.KEYS
        return waybill.partitions if is_keyed else len(waybill.shares)

    def _chained(self, waybill: Waybill, cut: Led, name: str, observed: _Observed) -> DataFrame:
        """What the leading boxes of an input pass."""
        network = self._plan.superboxes[waybill.superbox].network
        lo, hi = waybill.time_slices[0].lo, waybill.time_slices[-1].hi
        schema = network.inputs[name].schema
        scans = [self._scan(each, place, schema) for place, each in enumerate(waybill.streams[name])]
        number = F.col(f"`{SEQ}`")
        frame = reduce(DataFrame.unionAll, scans).filter((number >= lo) & (number < hi))
        for link in cut.chains[name]:
            before, after = observed[link.box] = Observation(), Observation()
            frame = frame.observe(before, F.count(F.lit(1)).alias(_COUNT))
            frame = applied(frame, network, name, link, HIDDEN)
            frame = frame.observe(after, F.count(F.lit(1)).alias(_COUNT))
        return frame

    def _scan(self, segment: Segment, place: int, schema: Schema) -> DataFrame:
        """A segment with its hidden columns; ties are ordered by the segment's place, then by row."""
        fields = [spark.StructField(field.name, spark_type(field.type)) for field in schema]
        row = F.col(f"`{ROW}`") if segment.split else F.col("_metadata.row_index")
        ts, seq = F.col(f"`{TS}`"), F.col(f"`{SEQ}`")
        tie = F.lit(place << _ROWS_BITS) + (F.col(f"`{SORTED_TIE}`") if segment.has_ties else row)
        if segment.ts is None:
            fields.append(spark.StructField(TS, spark.TimestampType()))
        else:
            ts = F.timestamp_micros(F.lit(segment.ts).cast("bigint"))
        if segment.first is None:
            fields.append(spark.StructField(SEQ, spark.LongType()))
        else:
            seq = F.lit(segment.first) + row
        if segment.has_ties:
            fields.append(spark.StructField(SORTED_TIE, spark.IntegerType()))
        if segment.split:
            fields.append(spark.StructField(ROW, spark.IntegerType()))
        reader = self._session.read.option("parquet.page.verify-checksum.enabled", not segment.adopted)
        read = reader.schema(spark.StructType(fields)).parquet(self._root.spark_path(segment.name))
        hidden = (ts.alias(TS), seq.cast("bigint").alias(SEQ), tie.cast("bigint").alias(TIE))
        return read.select(*(F.col(f"`{name}`") for name in schema.names), *hidden)

    def _placed(self, frame: DataFrame, waybill: Waybill, cut: Led, name: str) -> DataFrame:
        """The tuples of an input under unique names, with their partition."""
        inputs = list(cut.rest.streams)
        names = (*cut.rest.network.inputs[name].schema.names, *HIDDEN)
        columns = [F.col(f"`{each}`").alias(f"{name}/{each}") for each in names]
        place = self._place(waybill, cut, name).cast("int")
        return frame.select(*columns, place.alias(PARTITION), F.lit(inputs.index(name)).alias(INPUT))

    def _place(self, waybill: Waybill, cut: Led, name: str) -> Column:
        spread = cut.rest.spread
        if spread.kind is SpreadKind.KEYS:
            keys = [F.col(f"`{key}`") for key in spread.keys[Ref(name)]]
            return F.pmod(F.hash(*keys), F.lit(waybill.partitions))
        lo, hi = waybill.time_slices[0].lo, waybill.time_slices[-1].hi
        return F.floor((F.col(f"`{SEQ}`") - lo) * len(waybill.shares) / (hi - lo))

    def _led_counts(self, superbox: str, observed: _Observed) -> Manifest:
        """The counters of the leading boxes: every tuple that leaves counts; Spark reports no costs."""
        boxes, ports = {}, {}
        links = {link.box: link for chain in self._led[superbox].chains.values() for link in chain}
        for box, observations in observed.items():
            received, passed = (each.get[_COUNT] for each in observations)
            counters = asdict(Counters(received, received))
            boxes[box] = {**counters, "unread": received - passed, "nanoseconds": 0}
            ports[str(Ref(box, links[box].port))] = passed
        return Manifest((), (), boxes, {}, None, ports=ports)


# --- what runs in a Python worker


def serve_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A task of a train: takes its tuples from Spark, and returns an answer for each of their partitions."""
    waybill = waybill_of_job()
    arrived = list(batches)
    if not arrived:
        return
    whole = pa.Table.from_batches(arrived)
    superbox = ready_for(Root(waybill.root), waybill).superbox
    places = whole[PARTITION].to_numpy()
    for partition in np.unique(places).tolist():
        rows = whole.filter(pa.array(places == partition))
        found = enumerate(superbox.streams)
        streams = {n: _stream(rows, i, n) for i, n in found if f"{n}/{SEQ}" in rows.column_names}
        yield _run_task(waybill, partition, streams)


def _run_task(waybill: Waybill, partition: int, streams: Mapping[str, pa.Table]) -> pa.RecordBatch:
    share = Share((partition if waybill.partitions > 1 else 0,))
    data = answer_or_fault(lambda: Task(waybill, share, partition).run(streams))
    return pa.RecordBatch.from_pydict({"answer": pa.array([data], pa.binary())})


def _stream(rows: pa.Table, index: int, name: str) -> pa.Table:
    """The tuples of an input in the order of their numbers."""
    prefix = f"{name}/"
    own = rows.filter(pa.array(rows[INPUT].to_numpy() == index))
    own = own.select([each for each in own.column_names if each.startswith(prefix)])
    own = own.rename_columns([each.removeprefix(prefix) for each in own.column_names])
    order = np.lexsort((own[TIE].to_numpy(), own[SEQ].to_numpy()))
    return own.take(pa.array(order)).drop_columns([TIE]).combine_chunks().rename_columns({SEQ: CAUSE})
