"""A virtual machine for real code: threads, a disk and a database that run, and fail, by a seed.

In: code that is given `VirtualThreads`, a `VirtualDisk` and a `VirtualHome`, and a seed, from which `chance`
draws how much fails. Out: the result of `Machine.run`, or an error that names the seed. `scheduler` lets one
thread run at a time, `schedules` choose which; `lives` are processes, which a power loss can end at any
switch point; `faults` decides what fails; `disk` and `database` keep what is durable.
"""
