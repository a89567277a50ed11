"""How tuples get out: subscriptions, the positions of consumers, and ad hoc queries.

Segments of output arcs come in; tables go out, each tuple once for each consumer.
"""
