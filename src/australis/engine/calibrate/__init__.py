"""What boxes cost before a node runs: measured on a sample, or taken from a root's statistics.

A network and tuples come in; costs for the static analysis go out.
"""

from australis.engine.calibrate.calibration import Calibration, calibrate
from australis.engine.calibrate.root_costs import known_costs
from australis.engine.calibrate.samples import Sample, sample

__all__ = [
    "Calibration",
    "Sample",
    "calibrate",
    "known_costs",
    "sample",
]
