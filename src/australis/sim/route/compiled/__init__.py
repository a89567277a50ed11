"""The compiled part of the simulation of distributed eddies.

Arrays that describe a world come in; the same arrays, advanced by events, go out.
"""
