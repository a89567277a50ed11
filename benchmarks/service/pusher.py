"""A client that pushes batches over Flight, as fast as they are taken or at a rate; it says how many."""

from __future__ import annotations

import json
import sys
import threading
import time

from benchmarks.service.scene import BATCH, batch
from pyarrow import flight

UNDER_WAY = 16


def main(address: str, first: int, batches: int, rate: float) -> None:
    client = flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)])
    made = [batch(first + number, 0) for number in range(batches)] if not rate else []
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": "x", "source": "bench"}))
    writer, acknowledged = client.do_put(descriptor, batch(0, 0).schema)
    acknowledged.read()
    room, found = threading.Semaphore(UNDER_WAY), [0, 0]

    def hear() -> None:
        for _ in range(batches):
            told = json.loads(acknowledged.read().to_pybytes())
            found[0] += told["accepted"]
            found[1] += told["rejected"]
            room.release()

    hearing = threading.Thread(target=hear)
    began = time.time()
    hearing.start()
    for number in range(batches):
        room.acquire()
        if rate:
            time.sleep(max(0.0, began + number * BATCH / rate - time.time()))
        sent = made[number] if made else batch(first + number, time.time_ns() // 1000)
        writer.write_with_metadata(sent, json.dumps({"number": first + number}).encode())
    writer.done_writing()
    hearing.join()
    print(json.dumps({"began": began, "accepted": found[0], "rejected": found[1], "ended": time.time()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
