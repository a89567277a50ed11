"""How cost grows with what there is: outputs, boxes, superboxes. One module for each part of the figures.

`make bench-scale` runs all parts (ARGS='choosing planning' for some); the last line is JSON.
"""
