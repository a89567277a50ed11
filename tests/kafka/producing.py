"""A client that is killed: it puts numbers into a topic, and writes down those that the broker acknowledged.

`python -m tests.kafka.producing SERVERS TOPIC FILE FIRST`; it ends when it is asked to.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from confluent_kafka import KafkaError, Message, Producer

_AT_ONCE, _PAUSE_S = 50, 0.05


def main(servers: str, topic: str, path: str, first: int) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: ended.set())
    settings = {
        "bootstrap.servers": servers,
        "enable.idempotence": True,
        "message.timeout.ms": 0,
        "linger.ms": 5,
        "log_level": 0,
    }
    producer = Producer(settings)
    acknowledged: list[int] = []

    def hear(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        key = message.key()
        assert isinstance(key, bytes)
        acknowledged.append(int(key))

    with open(path, "ab", buffering=0) as file:
        number = first
        while not ended.wait(_PAUSE_S):
            for each in range(number, number + _AT_ONCE):
                value = b'{"id": %d, "lane": %d}' % (each, each % 7)
                producer.produce(topic, value, b"%d" % each, on_delivery=hear)
            number += _AT_ONCE
            producer.poll(0)
            file.write(b"".join(b"%d\n" % each for each in acknowledged))
            acknowledged.clear()
            # A broker that is away for long must not fill the memory.
            while len(producer) > 20_000 and not ended.is_set():
                producer.poll(0.1)
        producer.flush(300)
        file.write(b"".join(b"%d\n" % each for each in acknowledged))
        os.fsync(file.fileno())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
