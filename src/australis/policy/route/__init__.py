"""Routing: to which operator of a distributed eddy a tuple goes next.

`policies` chooses tuple by tuple from what operators tell of themselves (`statistics`); `queueing` and
`optimum` say what the best routing could reach at all, if everything were known. Comes in: plans, rates,
statistics, chance as a number. Goes out: choices, rates, response times.
"""
