"""The commands `australis simulate trials` and `australis simulate replay`."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from australis.app import exit_codes
from australis.app.options import progress_option
from australis.app.papers.experiments import experiment

WORLDS = {
    "eddies": "route",
    "market": "trade",
    "hotspots": "hotspot",
    "placement": "place",
    "recovery": "recover",
}
"""The rooms of the policies, by the commands that simulate them."""


@click.command(short_help="Unreliable worlds: letters are lost, machines crash and forget.")
@click.argument("policy", type=click.Choice(list(WORLDS)))
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True, help="How many worlds.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write what the machines of the first world were told and decided into this file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@progress_option
def trials(
    policy: str, seed: int, seeds: int, journal: Path | None, as_json: bool, progress: bool | None
) -> None:
    """Unreliable worlds: letters are lost, late and doubled, machines crash, and restart from snapshots.

    A world in which something is lost, doubled or done against the rules ends the command with an error that
    names its seed. Each policy of many nodes has such worlds.

    \b
    Examples:
      australis simulate trials market
      australis simulate trials placement --seeds 100
      australis simulate trials recovery --seed 4 --seeds 1 --json
      australis simulate trials market --seed 7 --seeds 1 --journal market.jsonl
    """
    world = importlib.import_module("australis.sim." + WORLDS[policy])
    totals: Counter[str] = Counter()
    with experiment(f"{seeds} worlds", seeds, progress) as done:
        for each in range(seed, seed + seeds):
            with journal.open("wb") if journal and each == seed else nullcontext() as file:
                totals.update(_counts(world.tried(each, write=file.write if file else None)))
            done(1)
    if as_json:
        click.echo(json.dumps({"policy": policy, "seed": seed, "worlds": seeds, **totals}, indent=2))
    else:
        click.echo(f"{policy}: everything held in {seeds} worlds, seeds {seed} to {seed + seeds - 1}")
        for name, count in totals.items():
            click.echo(f"  {name.replace('_', ' ')}: {count:,}")


def _counts(trial: Any) -> dict[str, int]:
    return {name: value for name, value in asdict(trial).items() if name not in ("seed", "k")}


@click.command(short_help="Repeat what a journal says that machines decided.")
@click.argument("journal", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(journal: Path, as_json: bool) -> None:
    """Repeat what the machines of a journal decided, and say where they would decide otherwise now.

    Simulated worlds and nodes write the same journal. The command fails if there is a difference.

    \b
    Examples:
      australis simulate replay market.jsonl
      australis simulate replay market.jsonl --json | jq .differences
    """
    # Loaded on demand: all policies.
    policy = importlib.import_module("australis.policy.replay")
    with journal.open("rb") as lines:
        found = policy.replayed(lines)
    if as_json:
        differences = [each._asdict() for each in found.differences]
        click.echo(json.dumps({**found._asdict(), "differences": differences}, indent=2))
    else:
        _print(found)
    if found.differences:
        raise SystemExit(exit_codes.FAILED)


def _print(found: Any) -> None:
    for each in found.differences:
        click.echo(f"line {each.line}, at {each.at / 1e6:.6f} s, {each.who}: told {each.event}")
        click.echo("  the journal has " + ("; ".join(each.recorded) or "no command"))
        click.echo("  decided now     " + ("; ".join(each.replayed) or "no command"))
    refused = ", ".join(f"{count} {why}" for why, count in sorted(found.refused.items())) or "nothing"
    much = f"{found.events:,} events of {found.machines} lives of machines; refused: {refused}"
    click.echo(f"{much}; {len(found.differences) or 'no'} differences")
