"""Order and slack: which tuples have a place, which are late, and when the rest are released.

`order` does it for one input, `sides` for each input of a box that has two.
"""
