"""From a network to superboxes: what runs as one train, and how its tuples are spread over tasks.

A network and a discipline come in; a `Plan` of superboxes and the arcs between them goes out. Nothing here
knows Spark.
"""
