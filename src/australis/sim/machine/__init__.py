"""A virtual machine for real code: threads, a disk and a database that follow from a seed, and fail by it.

Comes in: code that is handed `VirtualThreads`, a `VirtualDisk` and a `VirtualHome`, and a seed, from which
`chance` draws how much goes wrong. Goes out: the result of `Machine.run`, or an error that names the seed.
`scheduler` lets one thread run at a time, `schedules` choose which; `lives` are processes, which power loss
ends at any switch point; `faults` decides what fails; `disk` and `database` keep what is durable.
"""
