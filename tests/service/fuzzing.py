"""Calls a running service in every way that its published description allows, and in many that it does not.

`python -m tests.service.fuzzing --requests 20000` starts `australis serve` with a light node, a network and
some tuples, lets schemathesis make the calls, and prints as its last line how many there were, and whether
anything was wrong. Streams without an end are left out: they have tests of their own. To remove the network
comes last, since little can be asked after it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.waiting import until

HERE = Path(__file__).parent
NETWORK = HERE / "fuzzed_network.yaml"
REMOVE = "DELETE /v1/network"
STREAMS = "/(events|tap)$"
"""The paths of answers without an end."""
CALLS_PER_EXAMPLE = 40
"""About how many calls one example for each operation makes in all; the rest is up to schemathesis."""
AUSTRALIS = (sys.executable, "-X", "faulthandler", "-m", "australis")
RESIDENT = "process_resident_memory_bytes"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.service.fuzzing", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="about how many calls to make, at least")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="australis-fuzzing-") as folder, service(Path(folder)) as client:
        before = resident_mb(client)
        total, seed, failed = 0, given.seed, False
        while total < given.requests and not failed:
            examples = max(10, (given.requests - total) // CALLS_PER_EXAMPLE)
            made, failed = fuzz(client, Path(folder), examples, seed, f"--exclude-name={REMOVE}")
            total, seed = total + made, seed + 1
        made, is_wrong = fuzz(client, Path(folder), 100, seed, f"--include-name={REMOVE}")
        total, failed = total + made, failed or is_wrong
        after = resident_mb(client)
        state = client.get("/v1/node").json()["state"]
    found = {"requests": total, "failed": failed, "state": state, "memory_mb": [before, after]}
    sys.stdout.write(json.dumps({**found, "seed": given.seed}) + "\n")
    sys.exit(failed)


def fuzz(client: httpx.Client, folder: Path, examples: int, seed: int, which: str) -> tuple[int, bool]:
    """Make so many examples of each operation; returns the calls made, and whether anything was wrong."""
    report = folder / f"report-{seed}.json"
    command = [
        Path(sys.executable).with_name("st"),
        "run",
        f"{client.base_url}/v1/openapi.json",
        f"--header=Authorization: {client.headers['authorization']}",
        f"--checks={','.join(CHECKS)}",
        f"--max-examples={examples}",
        f"--seed={seed}",
        f"--exclude-path-regex={STREAMS}",
        which,
        "--phases=examples,coverage,fuzzing",
        "--request-timeout=60",
        "--suppress-health-check=all",
        "--continue-on-failure",
        "--no-shrink",
        "--report=json",
        f"--report-json-path={report}",
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.service.fuzzing_hooks", "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(command, env={**os.environ, **hooks}, cwd=HERE.parents[1], check=False)
    return calls_in(report), done.returncode != 0


def calls_in(report: Path) -> int:
    """The number of calls that a report of schemathesis counts."""
    made: int = json.loads(report.read_text())["test_cases"]["generated"]
    return made


@contextmanager
def service(folder: Path) -> Iterator[httpx.Client]:
    """A client of a service in a process of its own, which runs the network and has some tuples."""
    (folder / "australis.yaml").write_text(
        f"listen: 127.0.0.1:0\nnode: {{root: {folder / 'root'}, runner: 'light[1]'}}\n"
        f"flight: {{enabled: false}}\nlogs: {{file: {folder / 'log'}, level: warning}}\n"
        f"access: {{tokens: {folder / 'tokens.json'}, limits: {{rate: 100000}}}}\n"
    )
    token = told("token", "new", "fuzzer", "--role", "owner", "--tokens", str(folder / "tokens.json"))
    command = [*AUSTRALIS, "serve", "--config", str(folder / "australis.yaml"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            headers = {"Authorization": f"Bearer {token['token']}"}
            with httpx.Client(base_url=url, timeout=60, headers=headers) as client:
                until(lambda: client.get("/readyz").is_success)
                prepare(client)
                yield client
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
            sys.stderr.write((folder / "log").read_text()[-4000:])
            assert code == 0, f"the service ended with {code}"


def told(*arguments: str) -> dict[str, str]:
    """What a command of ours prints as JSON."""
    found: dict[str, str] = json.loads(subprocess.check_output([*AUSTRALIS, *arguments, "--json"]))
    return found


def prepare(client: httpx.Client) -> None:
    """Deploy the network and push some tuples, so that calls find something."""
    client.put("/v1/network", json={"network": NETWORK.read_text()}).raise_for_status()
    seconds = (f"2026-01-01T00:00:{n % 60:02}Z" for n in range(500))
    tuples = [{"car": n % 7, "speed": float(n % 120), "at": at} for n, at in enumerate(seconds)]
    client.post("/v1/inputs/reports/tuples", json=tuples).raise_for_status()


def resident_mb(client: httpx.Client) -> float:
    """The memory of the service's process, by its metrics."""
    lines = client.get("/metrics").text.splitlines()
    found = [line.split()[-1] for line in lines if line.startswith(RESIDENT)]
    return round(float(found[0]) / 2**20, 1)


if __name__ == "__main__":
    main()
