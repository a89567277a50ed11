"""The real world: files of tuples, a node that runs a network over them, and what runs its trains.

Comes in: settings, files and tuples. Goes out: Arrow tables of what files and outputs hold. Trains run on
Spark (`spark`) or in local processes (`light`), by way of `runner`. Importing the room starts nothing. It is
a stranger to the simulator: both run the same policies.
"""
