"""One file per command of the command line.

Arguments come in; text, files and an exit code go out, of the rooms that a command calls. A command is loaded
when it is called: `COMMANDS` has what `australis --help` says of each, for which none need be loaded.
"""

import importlib

import click

COMMANDS = {
    "check": "Say whether a network is valid, and what is wrong with it.",
    "explain": "Show a network: as a tree, a picture, Mermaid or JSON.",
    "run": "Run streams of tuples through a network.",
    "deploy": "Run another network on a root, while it runs.",
    "query": "Ask a running stream about its past, and what comes.",
    "detach": "Take an ad hoc query away.",
    "refresh": "Read a stored table again, now.",
    "history": "Print what a connection point keeps.",
    "stats": "Print what a root tells of boxes, queues and delays.",
    "forget": "Keep nothing any more for a consumer that will not come back.",
    "simulate": "Hold distributed policies against the papers' numbers.",
    "demo": "Watch a network find intruders in a stream of connections.",
}
"""Every command, with its line in the help; the module of a command has its name."""


def load_command(name: str) -> click.Command:
    """The command of a name in `COMMANDS`."""
    command = importlib.import_module(f"{__name__}.{name}").command
    assert isinstance(command, click.Command)
    return command


__all__ = ["COMMANDS", "load_command"]
