"""From a network to superboxes: what runs as one train, and how its tuples are spread over tasks.

In: a network and a discipline. Out: a `Plan` of superboxes and the arcs between them. Nothing here knows
Spark.
"""
