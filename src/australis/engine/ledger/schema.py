"""The schema of the catalogue: its tables, its version, and the migrations from older versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

VERSION = 8
"""The version of the catalogue. A newer one is refused, an older one is migrated when its root is opened."""
OLDEST = 3
"""The oldest version that can be migrated."""

_INDEXES = """
create index train_of on train (superbox, lo);
create index state_file on state (name);
"""

# The marks that an event of the log raises, by maker: an input and its attribute. `before` and `last` are the
# marks before and after them; none where there is none.
_MARKS = """
create table mark (maker text not null, base integer not null, until integer not null, before, last,
                   causes blob not null, rises blob not null, primary key (maker, base)) without rowid;
create table progress (maker text primary key, mark, quiet_since integer) without rowid;
"""
_AWAITS_MARKS = "alter table superbox add column awaits_marks integer not null default 0;"

# The state of a box and partition is in one file, or in layers: `place` counts them from the lowest.
_STATE = """
create table state (superbox text not null, box text not null, partition integer not null,
                    place integer not null, name text not null, bytes integer not null,
                    primary key (superbox, box, partition, place)) without rowid;
"""
_STATE_INDEX = "create index state_file on state (name);"
_LAYERS = f"""
alter table state rename to state_whole;
drop index state_file;
{_STATE}
insert into state select superbox, box, partition, 0, name, bytes from state_whole;
drop table state_whole;
{_STATE_INDEX}
"""

_SPLIT = "alter table segment add column split text not null default '';"

# What came of pushes with a key, by number in the order of their commits; and up to which number tuples of an
# output's arc were deleted that somebody might still ask for.
_RECEIPTS = """
create table receipt (number integer primary key, caller text not null, key text not null,
                      digest text not null, accepted integer not null, rejected integer not null,
                      end integer not null, at integer not null);
create unique index receipt_of on receipt (caller, key);
create table expired (arc text primary key, until integer not null) without rowid;
"""

MIGRATIONS: Mapping[int, str] = {
    3: _INDEXES,
    4: _MARKS + _AWAITS_MARKS,
    5: _LAYERS,
    6: _SPLIT,
    7: _RECEIPTS,
}
"""The script that migrates a catalogue of each version to the next."""

# What reached gates is in `mouth` and `recent_mouth`, names from version 4 of the catalogue. A row of
# `recent_mouth` without a stream is about a box or an input: what it received, and what was discarded. `box`
# also has the counters of inputs, whose names no box has.
TABLES = f"""
create table meta (key text primary key, value text not null) without rowid;
create table event (base integer primary key, end integer not null, kind text not null, input text not null,
                    rows integer not null, now integer not null);
create table segment (arc text not null, name text not null, base integer not null, end integer not null,
                      rows integer not null, bytes integer not null, footer integer not null, first integer,
                      ts integer, writer text not null, part integer not null,
                      newest integer not null, key text not null, split text not null default '',
                      primary key (arc, base, name)) without rowid;
create index segment_file on segment (name);
create table superbox (id text primary key, head integer not null, version integer not null,
                       deadline integer, awaits_marks integer not null default 0) without rowid;
{_STATE}
create table consumer (name text not null, output text not null, seq integer not null, position text,
                       primary key (name, output)) without rowid;
create table source (id text primary key, position text not null) without rowid;
create table box (id text primary key, received integer not null, emitted integer not null,
                  late integer not null, ignored integer not null, rejected integer not null,
                  unread integer not null, nanoseconds integer not null,
                  trains integer not null) without rowid;
create table delay (output text not null, bucket integer not null, tuples integer not null,
                    primary key (output, bucket)) without rowid;
create table train (id integer primary key autoincrement, superbox text not null, lo integer not null,
                    hi integer not null, received integer not null, emitted integer not null,
                    tasks integer not null, at integer not null, run_us integer not null,
                    shed integer not null);
create table port (ref text primary key, tuples integer not null) without rowid;
create table value (output text not null, bin integer not null, tuples integer not null,
                    primary key (output, bin)) without rowid;
create table mouth (superbox text not null, stream text not null, arrived integer not null,
                    shed integer not null, primary key (superbox, stream)) without rowid;
create table recent_delay (second integer not null, output text not null, bucket integer not null,
                           tuples integer not null, primary key (second, output, bucket)) without rowid;
create table recent_value (second integer not null, output text not null, bin integer not null,
                           tuples integer not null, primary key (second, output, bin)) without rowid;
create table recent_mouth (second integer not null, superbox text not null, stream text not null,
                           arrived integer not null, shed integer not null,
                           primary key (second, superbox, stream)) without rowid;
create table dropbox (number integer primary key, superbox text not null, stream text not null,
                      predicate text not null, share real not null, since integer not null, until integer,
                      arrived integer not null, shed integer not null);
create index ending on event (base) where kind = 'flush';
create index loading on event (base) where kind = 'load';
create index standing on dropbox (number) where until is null;
{_INDEXES}
{_MARKS}
{_RECEIPTS}
"""

NETWORK_TABLES = tuple(name for name in re.findall(r"create table (\w+)", TABLES) if name != "meta")
"""The tables that are about the network of a root, and empty without one."""


def migrations(version: int) -> Iterator[str]:
    """The scripts that migrate a catalogue of a version to the current one, in order.

    >>> len(list(migrations(VERSION))), len(list(migrations(OLDEST))) == VERSION - OLDEST
    (0, True)
    """
    return (MIGRATIONS[each] for each in range(version, VERSION))
