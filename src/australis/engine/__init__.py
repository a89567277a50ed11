"""The real world: a Java to run on and a Spark session.

Comes in: settings. Goes out: a `SparkSession` set up for trains (`session.local_session`).
Importing the room starts nothing. It is a stranger to the simulator: both run the same policies.
"""
