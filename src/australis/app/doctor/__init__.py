"""The checks of `australis doctor`: is this machine fit to run a node, and what has to be done if it is not?

In: which runner, root and ports a node would use. Out: a finding for each thing that was looked at.
"""

from australis.app.doctor.examination import Examination, examine
from australis.app.doctor.finding import Finding, Status

__all__ = ["Examination", "Finding", "Status", "examine"]
