"""Changing a network while it runs: deploy, change, attach, and the optimiser's rewrites.

A new record of the network comes in; the running one is switched to it between two trains.
"""
