"""Hot spots: who is overloaded, who is not, and how a component gets from one peer to the other.

`levels` and `reporter` tell loads when they matter, `ring` says to whom, `directory` compares them and
decides; `departure`, `arrival` and `redirection` are the three sides of a migration, `introduction` what
follows it, and `streams` the numbers that keep it exact. `peer` is all of them: events in, commands out.
"""
