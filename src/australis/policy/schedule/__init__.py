"""Which stage runs next, and how long its train is (Aurora 4.3).

A situation comes in, a choice goes out. `schedules` names the schedules that can be chosen.
"""
