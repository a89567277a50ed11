"""Segments: immutable Parquet files of an arc's tuples, with their sequence numbers and arrival times.

What all tuples of a segment share, such as one arrival time or sequence numbers without gaps, is in its
description and not in the file. So a Parquet file from elsewhere can be a segment as it is. Pages carry
checksums, and the description has the checksum of the footer.
"""

from __future__ import annotations

import posixpath
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from australis.algebra.schema import TS
from australis.algebra.types import TIMESTAMP
from australis.engine.store.root import HISTORY, SEGMENTS, Root
from australis.engine.store.splits import (
    ROW,
    Division,
    Split,
    in_order,
    partition_ends,
    read_parts,
    read_rows,
    write_split,
)
from australis.engine.store.zones import Lookup, zones_of
from australis.errors import EngineError, Problem

SEQ = "#seq"
"""The column with the sequence number of the tuple that caused each tuple."""
TIE = "#tie"
"""The column with the rank of each tuple among those of its number, if a file is not in that order."""
GROUP_BYTES = 16 << 20
"""The bytes of tuples in a row group, about: the least that is decoded of a segment."""
_GROUP_ROWS_MOST = 1 << 20
_TAIL = 8
"""The bytes after a Parquet footer: its length and a mark."""


@dataclass(frozen=True)
class Segment:
    """The description of a segment, as the catalogue keeps it."""

    arc: str
    name: str
    """Relative to the root; an adopted file has a URI."""
    base: int
    end: int
    """All its sequence numbers are from `base` up to, not including, `end`."""
    rows: int
    bytes: int
    footer: int
    """The checksum of the Parquet footer."""
    first: int | None = None
    """The number of the first tuple, if there are no gaps; else the file has a column of numbers."""
    ts: int | None = None
    """The arrival time of all tuples, if it is the same; else the file has a column of times."""
    writer: str = ""
    part: int = 0
    """Tuples that several tasks or superboxes wrote with one number are ordered by writer, then part."""
    newest: int = 0
    """The latest arrival time."""
    key: str = ""
    """The attribute by which the tuples are sorted, then by number; empty if sorted by number alone."""
    split: str = ""
    """How the file is split by partition of its readers' key; empty if it is not."""

    @property
    def adopted(self) -> bool:
        return "://" in self.name

    @property
    def is_run(self) -> bool:
        """Whether it is history organised for lookups."""
        return self.name.startswith(f"{HISTORY}/")

    @property
    def has_ties(self) -> bool:
        """Whether the file has a column for the order of tuples with the same number."""
        return bool(self.key and self.writer)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def encode(table: pa.Table, division: Division | None = None) -> pa.Buffer:
    """A table as the bytes of a segment, split if it is divided.

    Texts repeat, so they have dictionaries; for numbers these cost more time than they save space. Sequence
    numbers and arrival times ascend, so they are delta-encoded.
    """
    sink = pa.BufferOutputStream()
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    ascending = [name for name in (TS, SEQ) if name in table.column_names]
    ascending += [ROW] if division is not None else []
    options: dict[str, Any] = {
        "compression": "snappy",
        "use_dictionary": texts,
        "column_encoding": dict.fromkeys(ascending, "DELTA_BINARY_PACKED"),
        "write_page_checksum": True,
        # By the numbers, a part of a file can be read.
        "write_statistics": [name for name in (SEQ, ROW) if name in ascending] or False,
    }
    if division is None:
        pq.write_table(table, sink, row_group_size=group_rows(table), **options)
    else:
        write_split(table, division, group_rows(table), sink, **options)
    return sink.getvalue()


def group_rows(table: pa.Table, rows_most: int = _GROUP_ROWS_MOST) -> int:
    """How many tuples a row group has, so that wide tuples make it no larger than others."""
    row_bytes: int = max(1, table.nbytes // max(1, table.num_rows))
    return max(1, min(rows_most, GROUP_BYTES // row_bytes))


def _split_text(division: Division | None) -> str:
    return "" if division is None else str(division.split())


def encode_segment(
    root: Root,
    arc: str,
    table: pa.Table,
    *,
    ts: int | None = None,
    writer: str = "",
    part: int = 0,
    division: Division | None = None,
) -> tuple[Segment, pa.Buffer]:
    """A new segment of derived tuples, whose column SEQ ascends, and the contents of its file."""
    numbers = table[SEQ]
    if TS in table.column_names:
        oldest, newest = _times(table)
        table, ts = (table.drop_columns([TS]), newest) if oldest == newest else (table, None)
    else:
        newest = ts or 0
    data = encode(table, division)
    name = root.new_name(SEGMENTS, arc, ".parquet")
    base, end = numbers[0].as_py(), numbers[-1].as_py() + 1
    size, footer, rows, split = data.size, checksum(data), table.num_rows, _split_text(division)
    found = Segment(arc, name, base, end, rows, size, footer, None, ts, writer, part, newest, split=split)
    return found, data


def write_segment(
    root: Root,
    arc: str,
    table: pa.Table,
    *,
    ts: int | None = None,
    writer: str = "",
    part: int = 0,
    division: Division | None = None,
) -> Segment:
    """Write a segment of derived tuples."""
    segment, data = encode_segment(root, arc, table, ts=ts, writer=writer, part=part, division=division)
    root.write(segment.name, data)
    return segment


def write_arrivals(
    root: Root, arc: str, table: pa.Table, first: int, ts: int | None, division: Division | None = None
) -> Segment:
    """Write tuples as they arrived, the first with the number `first`."""
    data = encode(table, division)
    name = root.new_name(SEGMENTS, arc, ".parquet")
    root.write(name, data)
    rows, newest = table.num_rows, _times(table)[1] if ts is None else ts
    size, footer, split = data.size, checksum(data), _split_text(division)
    return Segment(arc, name, first, first + rows, rows, size, footer, first, ts, newest=newest, split=split)


def _times(table: pa.Table) -> tuple[int, int]:
    """The first and the last time of arrival."""
    found = pc.min_max(table[TS].cast(pa.int64())).as_py()
    return found["min"], found["max"]


def checksum(data: pa.Buffer | bytes) -> int:
    """The checksum of the footer at the end of a Parquet file."""
    view = memoryview(data)
    return zlib.crc32(view[-_TAIL - _footer_length(view[-_TAIL:]) :])


def _footer_length(tail: memoryview | bytes) -> int:
    length: int = struct.unpack("<I4s", tail)[0]
    return length


def read_segment(
    root: Root,
    segment: Segment,
    columns: Sequence[str],
    lo: int,
    hi: int,
    lookup: Lookup | None = None,
    *,
    threads: bool = True,
) -> pa.Table:
    """The tuples of a segment from sequence number `lo` up to `hi`, in their order: columns, then TS and SEQ.

    With a lookup, only those of row groups that may contain what it asks for. Without `threads` only one
    processor is used.
    """
    with open_segment(root, segment) as source:
        try:
            return _read(source, segment, columns, lo, hi, lookup, threads)
        except (pa.ArrowException, OSError, struct.error, ValueError) as error:
            raise damaged(segment, str(error)) from error


def read_partitions(
    root: Root, segment: Segment, columns: Sequence[str], lo: int, hi: int, wanted: Sequence[int]
) -> tuple[pa.Table, ...]:
    """The tuples of some partitions of a split segment, each as `read_segment` returns them."""
    with open_segment(root, segment) as source:
        try:
            return tuple(_partitions(open_parquet(source, segment), segment, columns, lo, hi, wanted))
        except (pa.ArrowException, OSError, struct.error, ValueError) as error:
            raise damaged(segment, str(error)) from error


def _partitions(
    file: pq.ParquetFile, segment: Segment, columns: Sequence[str], lo: int, hi: int, wanted: Sequence[int]
) -> list[pa.Table]:
    ends = partition_ends(file.metadata, Split.parse(segment.split))
    begins = ends - np.diff(ends, prepend=0)
    names = [*columns, *_hidden(segment), *([ROW] if segment.first is not None else [])]
    groups = _split_groups(file.metadata, segment, lo, hi)
    parts = read_parts(file, names, [(int(begins[each]), int(ends[each])) for each in wanted], groups)
    return [_between(_numbered(each, segment), lo, hi) for each in parts]


def _numbered(table: pa.Table, segment: Segment) -> pa.Table:
    """The tuples of a partition with their numbers."""
    if segment.first is not None:
        numbers = table[ROW].to_numpy().astype(np.int64) + segment.first
        table = table.drop_columns([ROW]).append_column(SEQ, pa.array(numbers))
    return _completed(table, segment, 0)


def _split_groups(metadata: pq.FileMetaData, segment: Segment, lo: int, hi: int) -> list[int]:
    """The row groups of a split file that may have numbers from `lo` up to `hi`."""
    if lo <= segment.base and segment.end <= hi:
        return list(range(metadata.num_row_groups))
    if segment.first is None:
        return _groups(metadata, lo, hi, None)
    begin, end = _places(segment, lo, hi)
    return Lookup(ROW, "int", ((begin, end - 1),)).groups(zones_of(metadata, ROW, "int"))


def staged(run: str) -> str:
    """Where a run of history is before it is published."""
    return f"{SEGMENTS}/{posixpath.basename(run)}"


def open_segment(root: Root, segment: Segment) -> pa.NativeFile:
    """The file of a segment. A committed run may not be published yet, or may just be moving."""
    names = (segment.name, staged(segment.name)) if segment.is_run else ()
    for name in names:
        try:
            return root.open(name)
        except EngineError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    return root.open(segment.name)


def damaged(segment: Segment, why: str) -> EngineError:
    """The error for a segment that is not what was committed."""
    text = " ".join(why.split())
    return EngineError(
        Problem(segment.name, f"is damaged: {text}", "the file as it was committed; restore it")
    )


def _read(
    source: pa.NativeFile,
    segment: Segment,
    columns: Sequence[str],
    lo: int,
    hi: int,
    lookup: Lookup | None,
    threads: bool,
) -> pa.Table:
    file = open_parquet(source, segment)
    hidden = _hidden(segment)
    if segment.split:
        return _whole(file, segment, [*columns, *hidden, ROW], lo, hi, threads)
    if segment.first is not None:
        start, stop = _places(segment, lo, hi)
        rows = read_rows(file, [*columns, *hidden], start, stop, threads=threads)
        return _completed(rows, segment, start)
    if segment.has_ties:
        hidden.append(TIE)
    groups = _groups(file.metadata, lo, hi, lookup)
    found = file.read_row_groups(groups, columns=[*columns, *hidden], use_threads=threads)
    if segment.key:
        return _completed(_by_number(found, lo, hi), segment, 0)
    return _between(_completed(found, segment, 0), lo, hi)


def _hidden(segment: Segment) -> list[str]:
    """The hidden columns of a file that are not in its description."""
    return [name for name, known in ((TS, segment.ts), (SEQ, segment.first)) if known is None]


def _places(segment: Segment, lo: int, hi: int) -> tuple[int, int]:
    """The places of the rows with numbers from `lo` up to `hi`, if there are no gaps."""
    assert segment.first is not None
    begin = min(max(lo - segment.first, 0), segment.rows)
    return begin, max(begin, min(hi - segment.first, segment.rows))


def _whole(
    file: pq.ParquetFile, segment: Segment, columns: list[str], lo: int, hi: int, threads: bool
) -> pa.Table:
    """The tuples of all partitions of a split file, in the order in which they were written."""
    partition_ends(file.metadata, Split.parse(segment.split))
    groups = _split_groups(file.metadata, segment, lo, hi)
    table = file.read_row_groups(groups, columns=columns, use_threads=threads)
    if segment.first is not None:
        begin, end = _places(segment, lo, hi)
        return _completed(in_order(table, begin, end), segment, begin)
    numbers = table[SEQ].to_numpy()
    table = table.filter(pa.array((numbers >= lo) & (numbers < hi)))
    places = table[ROW].to_numpy()
    begin, end = (int(places.min()), int(places.max()) + 1) if len(places) else (0, 0)
    return _completed(in_order(table, begin, end), segment, begin)


def open_parquet(source: pa.NativeFile, segment: Segment) -> pq.ParquetFile:
    """The Parquet file of a segment, if its size, footer and rows are those that were committed."""
    _check_footer(source, segment)
    file = pq.ParquetFile(source, page_checksum_verification=not segment.adopted, pre_buffer=False)
    if file.metadata.num_rows != segment.rows:
        raise ValueError(f"{file.metadata.num_rows} rows instead of {segment.rows}")
    return file


def _groups(metadata: pq.FileMetaData, lo: int, hi: int, lookup: Lookup | None) -> list[int]:
    """The row groups that may have numbers from `lo` up to `hi`, and what is looked up."""
    found = Lookup(SEQ, "long", ((lo, hi - 1),)).groups(zones_of(metadata, SEQ, "long"))
    if lookup is None:
        return found
    wanted = set(lookup.groups(zones_of(metadata, lookup.attribute, lookup.type)))
    return [group for group in found if group in wanted]


def read_metadata(root: Root, segment: Segment) -> pq.FileMetaData:
    """The Parquet metadata of a segment's file."""
    with open_segment(root, segment) as source:
        try:
            return open_parquet(source, segment).metadata
        except (pa.ArrowException, OSError, struct.error, ValueError) as error:
            raise damaged(segment, str(error)) from error


def check_segment(root: Root, segment: Segment) -> None:
    """Refuse a file with another size or footer than was committed."""
    with open_segment(root, segment) as source:
        try:
            _check_footer(source, segment)
        except (OSError, struct.error, ValueError) as error:
            raise damaged(segment, str(error)) from error


def _check_footer(source: pa.NativeFile, segment: Segment) -> None:
    size = source.size()
    if size != segment.bytes:
        raise ValueError(f"{size} bytes instead of {segment.bytes}")
    length = _footer_length(source.read_at(_TAIL, size - _TAIL)) + _TAIL
    if length > size or zlib.crc32(source.read_at(length, size - length)) != segment.footer:
        raise ValueError("the checksum of its footer differs")


def _completed(table: pa.Table, segment: Segment, start: int) -> pa.Table:
    """A table with the hidden columns that the file does not have."""
    if segment.ts is not None:
        table = table.append_column(TS, pa.repeat(pa.scalar(segment.ts, TIMESTAMP.arrow), table.num_rows))
    elif table[TS].null_count:
        # Earlier versions accepted tuples without an arrival time among others that had one.
        newest = pa.scalar(segment.newest, pa.int64()).cast(TIMESTAMP.arrow)
        table = table.set_column(
            table.column_names.index(TS), TS, pc.fill_null(table[TS].cast(TIMESTAMP.arrow), newest)
        )
    if segment.first is not None and SEQ not in table.column_names:
        first = segment.first + start
        table = table.append_column(SEQ, pa.array(np.arange(first, first + table.num_rows)))
    return _alike(table)


def _alike(table: pa.Table) -> pa.Table:
    """Put the hidden columns last and in one form, whether or not the file had them; anything may be NULL."""
    fields = [pa.field(field.name, field.type) for field in table.schema if field.name not in (TS, SEQ)]
    target = pa.schema([*fields, pa.field(TS, TIMESTAMP.arrow, False), pa.field(SEQ, pa.int64())])
    return table.select(target.names).cast(target)


def _between(table: pa.Table, lo: int, hi: int) -> pa.Table:
    """The tuples of a table, sorted by number, from `lo` up to `hi`."""
    numbers = table[SEQ].to_numpy()
    start, stop = np.searchsorted(numbers, [lo, hi])
    return table.slice(start, stop - start)


def _by_number(table: pa.Table, lo: int, hi: int) -> pa.Table:
    """The tuples from `lo` up to `hi` of a file that is sorted by something else, by number."""
    numbers = table[SEQ].to_numpy()
    within = np.flatnonzero((numbers >= lo) & (numbers < hi))
    # A stable sort: without ties every number occurs once.
    keys = (table[TIE].to_numpy()[within],) if TIE in table.column_names else ()
    order = within[np.lexsort((*keys, numbers[within]))]
    return table.drop_columns([TIE] if keys else []).take(pa.array(order))


def merged(tables: Iterable[pa.Table]) -> pa.Table:
    """Tables of one arc, given by writer and part, merged by sequence number."""
    whole = pa.concat_tables(tables)
    numbers = whole[SEQ].to_numpy()
    if np.all(numbers[1:] >= numbers[:-1]):
        return whole
    return whole.take(pa.array(np.argsort(numbers, kind="stable")))


def adopt(root: Root, arc: str, uri: str, first: int, ts: int) -> tuple[Segment, pa.Schema]:
    """Describe a Parquet file as a segment, with its contents; the file is not copied or changed."""
    with root.open(uri) as source:
        try:
            size = source.size()
            length = min(_footer_length(source.read_at(_TAIL, size - _TAIL)) + _TAIL, size)
            footer = zlib.crc32(source.read_at(length, size - length))
            file = pq.ParquetFile(source)
        except (pa.ArrowException, OSError, struct.error, ValueError) as error:
            raise EngineError(Problem(uri, f"is no Parquet file: {error}", "a Parquet file")) from error
        rows = file.metadata.num_rows
        found = Segment(arc, uri, first, first + rows, rows, size, footer, first, ts, newest=ts)
        return found, file.schema_arrow
