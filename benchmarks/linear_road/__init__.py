"""Linear Road: how many expressways a node sustains.

`traffic` generates what cars report, `drive` runs a node on it in real time, `expected` says in SQL what
should come out, and `__main__` raises the number of expressways.
"""
