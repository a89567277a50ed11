"""A virtual world: nodes, links, workloads and a virtual clock, at a scale beyond one machine.

In: a world, a policy, a seed. Out: what was delivered, how late, and what was overloaded. The policies are
those of `australis.policy`; the same seed repeats a run, event by event. `machine` is a world of another
kind: virtual threads, a disk and a database for real code, with power losses.
"""
