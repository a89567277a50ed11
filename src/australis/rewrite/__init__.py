"""Networks into better ones: the same outputs for less work (Aurora 3.1), by rules.

Comes in: a network and what was measured of it, as values. Goes out: an equal network, and every rewrite that
led to it with a sentence that says what it did. `rules` has a file for each rule, `improve.RULES` is their
order; what "equal" means is in docs/rewriting.md. Nothing here runs a box, reads a clock or keeps anything.
"""
