"""A node as a service: its settings, who may do what, and the ways in over the network.

Comes in: settings (a file, variables of the environment, options) and requests of other programs.
Goes out: answers, tuples of outputs to any number of subscribers, metrics, and a log of who changed what.
"""
