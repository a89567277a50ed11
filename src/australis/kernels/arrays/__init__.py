"""What kernels build on: columns as arrays, groups as numbers, hashes and ranges.

Arrow tables come in; numpy arrays that compiled loops read go out.
"""
