"""The kernel of each box: a state and a batch in, a state and a batch out.

One file per family of boxes, named as in `algebra.boxes` and `reference.boxes`.
"""
