"""A virtual world: nodes, links, workloads and a clock of its own, at a scale that no machine here has.

Comes in: a world, a policy, a seed. Goes out: what was delivered, how late, and what was overloaded. The
policies are those of `australis.policy`; a seed plays a run again, event by event. `machine` is a world of
another kind: threads, a disk and a database for code that is handed them, with power losses.
"""
