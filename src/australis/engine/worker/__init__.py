"""What runs in a worker process: one share of a train, from segments to segments.

A waybill comes in, a manifest goes out; tuples and states travel as files below the root.
"""
