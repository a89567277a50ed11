"""What the machine has: cores, memory, open files, ports, and a disk below a folder."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import tempfile
import time
from pathlib import Path
from statistics import median

from australis.app.doctor.finding import Finding, failure, warning, well
from australis.app.showing import statistics_tables as shown

SPARK_MEMORY, LIGHT_MEMORY = 2 << 30, 1 << 30
"""The bytes that a small node needs: a JVM, and workers with their caches; or the workers alone."""
DISK_LEAST, DISK_ENOUGH = 100 << 20, 2 << 30
FILES_ENOUGH = 1_024
SYNC_SLOW_MS = 20.0
"""Each push and each train waits for the disk a few times."""
_SYNCS = 10
_MEMORY, _GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def check_cores() -> Finding:
    """How many cores this process may use."""
    # Where the system does not say which cores a process may use, all of them count.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores < 2:
        advice = "2 or more: the node and the worker that runs its trains share one now"
        return warning("cores", "1 core", advice)
    return well("cores", f"{cores} cores")


def check_memory(least: int) -> Finding:
    """Whether enough memory is available, to this machine and to its control group."""
    found = available_memory()
    if found is None:
        return warning("memory", "this system does not say how much is free", f"{shown.size(least)} or more")
    told = f"{shown.size(found)} available"
    if found < least:
        return warning("memory", told, f"{shown.size(least)} or more: end other programs, or raise the limit")
    return well("memory", told)


def available_memory() -> int | None:
    """The bytes that a new process could use; None if the system does not say."""
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
        free = 1024 * int(lines["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):
        # Only Linux has such a file; the finding says that nothing is known.
        return None
    return min(free, _left_in_group())


def _left_in_group() -> int:
    """The bytes that the control group of this process has left; very many without a limit."""
    try:
        limit = (_GROUP / "memory.max").read_text().strip()
        return int(limit) - int((_GROUP / "memory.current").read_text()) if limit != "max" else 1 << 62
    except (OSError, ValueError):
        # This process is in no control group that limits memory.
        return 1 << 62


def check_open_files() -> Finding:
    """How many files a process may have open."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most != resource.RLIM_INFINITY and most < FILES_ENOUGH:
        return warning("files", f"a process may open {most:,}", f"{FILES_ENOUGH:,} or more: ulimit -n 65536")
    told = "any number" if most == resource.RLIM_INFINITY else f"{most:,}"
    return well("files", f"a process may open {told}")


def check_port(host: str, port: int) -> Finding:
    """Whether a node could listen on a port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As servers do: a port that a server has just left is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        advice = "another port, or the end of the program that has it: ss -ltnp"
        return failure("port", f"{host}:{port} cannot be used: {error.strerror or error}", advice)
    return well("port", f"{host}:{port} is free")


def check_disk(folder: Path) -> Finding:
    """Whether files can be written below a folder, how much space there is, and how fast it syncs."""
    try:
        place = next(each for each in (folder, *folder.parents) if each.exists())
        milliseconds = _sync_ms(place)
        free = shutil.disk_usage(place).free
    except OSError as error:
        advice = "a folder that this user may write to, on a disk with free space"
        return failure("disk", f"{folder} cannot be written: {error.strerror or error}", advice)
    told = f"{folder}: {shown.size(free)} free, a sync takes {milliseconds:.1f} ms"
    if free < DISK_LEAST:
        return failure("disk", told, f"{shown.size(DISK_ENOUGH)} or more")
    if free < DISK_ENOUGH:
        return warning("disk", told, f"{shown.size(DISK_ENOUGH)} or more, and a limit: Node(disk=...)")
    if milliseconds > SYNC_SLOW_MS:
        return warning("disk", told, "a local disk: each push and each train waits for syncs")
    return well("disk", told)


def _sync_ms(folder: Path) -> float:
    """How long it takes until a small file is on the disk."""
    spent = []
    with tempfile.TemporaryFile(dir=folder, prefix=".australis-") as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(bytes(4_096))
            file.flush()
            os.fsync(file.fileno())
            spent.append(1e3 * (time.perf_counter() - began))
    return median(spent)
