"""The meaning of each box, one tuple at a time.

One file per family of boxes, named as in `algebra.boxes` and `kernels.boxes`.
"""
