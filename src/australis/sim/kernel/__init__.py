"""The kernel of a virtual world: its clock, its machines, what lies between them, and a journal of it all.

`clock` goes from event to event, `nodes` work their queues off and crash, `links` carry messages late, in
pages, twice or never, `journal` writes down what machines of `australis.policy` heard and decided, and plays
it again. Everything follows from a seed.
"""
