"""Events of NEXMark, an auction house: people, auctions and bids, 1 : 3 : 46, the same for the same seed.

    python examples/nexmark/events.py --events 100000 --disorder 5 --folder nexmark

writes person.csv, auction.csv and bid.csv in order of arrival. Half of all bids are for one of the newest
auctions, most bidders and sellers are few, prices spread over six powers of ten. A bid may name an auction,
or a person, that appears a little later. With a disorder of n seconds, each event arrives up to n seconds
after its time; `arrived` says when.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

EVENTS_PER_SECOND = 100
TOGETHER = 5
"""So many events happen at the same time."""
START_MS = 1_709_251_170_000
"""2024-02-29 23:59:30: days end soon after the start."""
CYCLE = 50
"""Of so many events, the first is a person, the next are auctions, the others bids."""
AUCTIONS_PER_CYCLE = 3
FIRST_ID = 1000
FIRST_CATEGORY, CATEGORIES = 10, 5
AUCTIONS_OPEN = 100
"""How many auctions before the newest get bids."""
LONGEST_MS = 2 * AUCTIONS_OPEN * CYCLE * 1000 // (AUCTIONS_PER_CYCLE * EVENTS_PER_SECOND)
"""The longest auction: as long as it takes to open twice as many, 33 s."""
PEOPLE_ACTIVE = 1000
LEAD = 10
"""How far a bid may name auctions and people ahead."""
HOT_EVERY = 100
"""Of so many auctions or people, the first is hot."""
CHANNELS = 10_000

FIRST_NAMES = ("Ada", "Alan", "Barbara", "Donald", "Frances", "Grace", "John", "Katherine", "Radia", "Tony")
LAST_NAMES = ("Allen", "Hoare", "Hopper", "Johnson", "Kay", "Knuth", "Liskov", "Perlman", "Turing", "Wirth")
PLACES = (
    ("Phoenix", "AZ"),
    ("Los Angeles", "CA"),
    ("San Francisco", "CA"),
    ("Boise", "ID"),
    ("Portland", "OR"),
    ("Bend", "OR"),
    ("Seattle", "WA"),
    ("Redmond", "WA"),
    ("Kent", "WA"),
    ("Cheyenne", "WY"),
)
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")


def generate(events: int, disorder_s: float = 0.0, seed: int = 1) -> dict[str, pa.Table]:
    """The tables of so many events, each in order of arrival."""
    number = np.arange(events)
    place = number % CYCLE
    kinds = {
        "person": number[place == 0],
        "auction": number[(place > 0) & (place <= AUCTIONS_PER_CYCLE)],
        "bid": number[place > AUCTIONS_PER_CYCLE],
    }
    makers = {"person": _people, "auction": _auctions, "bid": _bids}
    return {
        name: _arriving(makers[name](np.random.default_rng((seed, index)), kinds[name]), disorder_s, seed)
        for index, name in enumerate(kinds)
    }


def side_input() -> pa.Table:
    """The bounded table of q13: a value for each key that an auction can have."""
    keys = np.arange(10_000)
    return pa.table({"key": keys, "value": pc.binary_join_element_wise("value", _text(keys), "-")})


def _people(rng: np.random.Generator, number: np.ndarray) -> pa.Table:
    count = len(number)
    place = rng.integers(0, len(PLACES), count)
    digits = [_text(rng.integers(1000, 10_000, count)) for _ in range(4)]
    return pa.table(
        {
            "id": FIRST_ID + number // CYCLE,
            "name": pc.binary_join_element_wise(
                _choice(rng, FIRST_NAMES, count), _choice(rng, LAST_NAMES, count), " "
            ),
            "email_address": pc.binary_join_element_wise(
                _letters(rng, count, 3, 7),
                pc.binary_join_element_wise(_letters(rng, count, 3, 5), "com", "."),
                "@",
            ),
            "credit_card": pc.binary_join_element_wise(*digits, " "),
            "city": _chosen([city for city, _ in PLACES], place),
            "state": _chosen([state for _, state in PLACES], place),
            "date_time": _times(number),
            "extra": _letters(rng, count, 80, 120),
        }
    )


def _auctions(rng: np.random.Generator, number: np.ndarray) -> pa.Table:
    count = len(number)
    start = _prices(rng, count)
    opened = _milliseconds(number)
    return pa.table(
        {
            "id": FIRST_ID + _newest_auction(number),
            "item_name": _letters(rng, count, 3, 20),
            "description": _letters(rng, count, 10, 100),
            "initial_bid": start,
            "reserve": start + _prices(rng, count),
            "date_time": _timestamps(opened),
            "expires": _timestamps(opened + rng.integers(1, LONGEST_MS + 1, count)),
            "seller": _person(rng, number, hot_of=4, offset=0),
            "category": FIRST_CATEGORY + rng.integers(0, CATEGORIES, count),
            "extra": _letters(rng, count, 150, 350),
        }
    )


def _bids(rng: np.random.Generator, number: np.ndarray) -> pa.Table:
    count = len(number)
    channel, is_hot = rng.integers(0, CHANNELS, count), rng.random(count) < 0.5
    named = pc.binary_join_element_wise("channel", _text(channel), "-")
    page = pc.binary_join_element_wise(
        "https://www.nexmark.com", *(_letters(rng, count, 3, 5) for _ in range(3)), "item.htm?query=1", "/"
    )
    with_channel = pc.binary_join_element_wise(
        page, pc.binary_join_element_wise("channel_id", _text(channel), "="), "&"
    )
    return pa.table(
        {
            "auction": _auction_of_bid(rng, number),
            "bidder": _person(rng, number, hot_of=4, offset=1),
            "price": _prices(rng, count),
            "channel": pc.if_else(is_hot, _choice(rng, HOT_CHANNELS, count), named),
            "url": pc.if_else(is_hot, page, with_channel),
            "date_time": _times(number),
            "extra": _letters(rng, count, 20, 60),
        }
    )


def _newest_auction(number: np.ndarray) -> np.ndarray:
    """The newest auction at an event, counted from 0."""
    return number // CYCLE * AUCTIONS_PER_CYCLE + np.clip(number % CYCLE, 0, AUCTIONS_PER_CYCLE) - 1


def _auction_of_bid(rng: np.random.Generator, number: np.ndarray) -> np.ndarray:
    newest = _newest_auction(number)
    oldest = np.maximum(newest - AUCTIONS_OPEN, 0)
    any_open = oldest + (rng.random(len(number)) * (newest - oldest + 1 + LEAD)).astype(np.int64)
    is_hot = rng.random(len(number)) < 0.5
    return FIRST_ID + np.where(is_hot, newest // HOT_EVERY * HOT_EVERY, any_open)


def _person(rng: np.random.Generator, number: np.ndarray, hot_of: int, offset: int) -> np.ndarray:
    """A person known by then; once in `hot_of` times any active one, else the hot one of this offset."""
    newest = number // CYCLE
    oldest = np.maximum(newest - PEOPLE_ACTIVE, 0)
    any_active = oldest + (rng.random(len(number)) * (newest - oldest + 1 + LEAD)).astype(np.int64)
    is_hot = rng.random(len(number)) < 1 - 1 / hot_of
    return FIRST_ID + np.where(is_hot, newest // HOT_EVERY * HOT_EVERY + offset, any_active)


def _prices(rng: np.random.Generator, count: int) -> np.ndarray:
    """Cents, between 1 and a million dollars; each power of ten is as likely."""
    return np.round(100 * 10 ** (6 * rng.random(count))).astype(np.int64)


def _milliseconds(number: np.ndarray) -> np.ndarray:
    return START_MS + number // TOGETHER * TOGETHER * 1000 // EVENTS_PER_SECOND


def _times(number: np.ndarray) -> pa.Array:
    return _timestamps(_milliseconds(number))


def _timestamps(milliseconds: np.ndarray) -> pa.Array:
    return pa.array(milliseconds * 1000).cast(pa.timestamp("us", "UTC"))


def _arriving(table: pa.Table, disorder_s: float, seed: int) -> pa.Table:
    """A table in order of arrival, with the time of it: up to `disorder_s` after the event."""
    at = table["date_time"].cast(pa.int64()).to_numpy()
    delays_us = np.random.default_rng((seed, len(table))).random(len(table)) * disorder_s * 1e6
    arrived = at + delays_us.astype(np.int64)
    table = table.append_column("arrived", pa.array(arrived).cast(pa.timestamp("us", "UTC")))
    return table.take(np.argsort(arrived, kind="stable"))


def _letters(rng: np.random.Generator, count: int, shortest: int, longest: int) -> pa.Array:
    """Texts of random small letters."""
    lengths = rng.integers(shortest, longest + 1, count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    letters = rng.integers(ord("a"), ord("z") + 1, offsets[-1], dtype=np.uint8)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(letters))


def _choice(rng: np.random.Generator, texts: Sequence[str], count: int) -> pa.Array:
    return _chosen(texts, rng.integers(0, len(texts), count))


def _chosen(texts: Sequence[str], indices: np.ndarray) -> pa.Array:
    return pa.array(texts).take(pa.array(indices))


def _text(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def main() -> None:
    """Write the events as files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=100_000, help="how many (100000)")
    parser.add_argument(
        "--disorder", type=float, default=0.0, help="the most seconds that one arrives late (0)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("nexmark"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    tables = {**generate(given.events, given.disorder, given.seed), "side_input": side_input()}
    for name, table in tables.items():
        pa_csv.write_csv(table, given.folder / f"{name}.csv")
        print(f"{given.folder / name}.csv: {len(table):,} rows")


if __name__ == "__main__":
    main()
