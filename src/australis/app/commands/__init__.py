"""One file per command of the command line.

In: arguments. Out: text, files and an exit code, from the packages that a command calls. A command is
imported when it is called: `COMMANDS` has its line in `australis --help`, which imports none.
"""

import importlib

import click

COMMANDS = {
    "check": "Say whether a network is valid, and what is wrong with it.",
    "explain": "Show a network: as a tree, a picture, Mermaid or JSON.",
    "run": "Run streams of tuples through a network.",
    "deploy": "Change the network of a root, also while it runs.",
    "split": "Run a box as several copies, or as one again.",
    "push": "Push a file into a node somewhere else.",
    "subscribe": "Print what an output of a node somewhere else has.",
    "query": "Query a running stream: its history, then what arrives.",
    "detach": "Detach an ad hoc query.",
    "refresh": "Read a stored table again, now.",
    "history": "Print what a connection point keeps.",
    "stats": "Print the statistics of a root: boxes, queues, delays.",
    "verify": "Verify a root at rest: its files against its catalogue.",
    "doctor": "Check whether this machine can run a node.",
    "forget": "Delete what is kept for a consumer that will not return.",
    "serve": "Run a node as a service: HTTP, Flight, metrics.",
    "token": "Make, list and revoke the tokens of a service.",
    "identity": "Make and sign the certificates by which nodes know each other.",
    "grant": "Let other participants put boxes behind outputs.",
    "nodes": "List the nodes that a node knows, and which are alive.",
    "move": "Move boxes to another node, while they run.",
    "cluster": "Watch boxes slide between nodes.",
    "where": "Say which node has what a name stands for.",
    "find": "List the names that match a pattern.",
    "simulate": "Compare distributed policies with the papers' numbers.",
    "demo": "Watch a network find intruders in a stream of connections.",
}
"""Every command, with its line in the help; the module of a command has its name."""


def load_command(name: str) -> click.Command:
    """The command of a name in `COMMANDS`."""
    command = importlib.import_module(f"{__name__}.{name}").command
    assert isinstance(command, click.Command)
    return command


__all__ = ["COMMANDS", "load_command"]
