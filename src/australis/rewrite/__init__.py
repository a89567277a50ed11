"""Rewriting networks by rules: the same outputs for less work (Aurora 3.1).

In: a network and its measurements, as values. Out: an equal network, and every rewrite that led to it, each
with a sentence that explains it. `rules` has a file for each rule, `improve.RULES` is their order;
docs/rewriting.md defines "equal". Nothing here runs a box, reads a clock or keeps state.
"""
