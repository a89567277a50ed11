"""Many random networks on kernels and reference: whole, tuple by tuple, and with states in layers.

`python -m tests.conformance.campaign --networks 10000`. The last line is JSON; the exit code is 1 if anything
differed. A difference prints one line that repeats it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from random import Random

from tests.conformance import test_layers, test_networks
from tests.conformance.random_networks import random_events, random_network, random_rows, with_ends

NETWORKS_AT_ONCE = 20
REPORTED_EVERY = 200
COMMAND = "python -m tests.conformance.campaign"


def difference(seed: int) -> str:
    """Where the network of a seed differs from its meaning; empty if nowhere."""
    random = Random(seed)
    network = random_network(random)
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network))
    pieces = test_networks.one_by_one(events)
    try:
        whole = test_networks.agree(network, stored, events)
        assert whole == test_networks.agree(network, stored, pieces), "the cut changed a result"
        test_layers.agree(network, stored, random.choice([events, pieces]), random)
    except Exception:
        return traceback.format_exc(limit=-3)
    return ""


def run(first: int, networks: int, processes: int) -> int:
    """Compare many networks on several processes."""
    began, compared, differing = time.monotonic(), 0, 0
    with ProcessPoolExecutor(processes) as pool:
        seeds = range(first, first + networks)
        for seed, story in zip(seeds, pool.map(difference, seeds, chunksize=NETWORKS_AT_ONCE), strict=True):
            compared += 1
            if story:
                differing += 1
                _say(f"seed {seed}: {story}\nrepeat: {COMMAND} --first {seed} --networks 1")
            if compared % REPORTED_EVERY == 0:
                _say(f"[{time.monotonic() - began:5.0f} s] {compared:,} of {networks:,}, {differing} differ")
    _say(json.dumps({"networks": compared, "first": first, "differences": differing}))
    return 1 if differing else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first network")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    return run(given.first, given.networks, given.processes)


if __name__ == "__main__":
    sys.exit(main())
