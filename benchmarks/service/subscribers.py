"""Subscribers in a process: some read, some stall; at the end of standard input it says what they saw."""

from __future__ import annotations

import json
import re
import select
import socket
import sys
import time

_LAST = re.compile(rb'"last":(\d+)')


def main(host: str, port: int, reading: int, stalled: int) -> None:
    for _ in range(stalled):
        stalling.append(_connect(host, port))
    readers = {each.fileno(): each for each in (_connect(host, port) for _ in range(reading))}
    parts = dict.fromkeys(readers, b"")
    delays: list[float] = []
    events = 0
    print(json.dumps({"ready": True}), flush=True)
    while True:
        ready, _, _ = select.select([*readers, sys.stdin], [], [])
        now = time.time_ns() // 1000
        for each in ready:
            if each is sys.stdin:
                print(json.dumps({"delays_us": sorted(delays), "events": events}), flush=True)
                return
            parts[each] += readers[each].recv(1 << 20)
            *whole, parts[each] = parts[each].split(b"\n\n")
            for event in whole:
                if b"event: tuples" in event:
                    events += 1
                    # What was sent last is what the event waited for.
                    delays.append(now - int(_LAST.findall(event[-400:])[-1]))


stalling: list[socket.socket] = []
"""They are connected, and never read."""


def _connect(host: str, port: int) -> socket.socket:
    found = socket.create_connection((host, port))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    found.sendall(b"GET /v1/outputs/averages/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
    while b": following" not in found.recv(1 << 16):
        pass
    return found


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
