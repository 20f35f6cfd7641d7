"""Bugs for `Program`, each put in from outside by replacing one stage; `FAULTS` has all of them by name.

The modules are imported in this order, because cases draw their conventions by the place of their fault in the list.
"""

from . import replay  # isort: skip
from . import credit  # isort: skip
from . import gradient  # isort: skip
from . import network  # isort: skip
from . import rows  # isort: skip
from .fault import FAULTS

__all__ = ["FAULTS", "credit", "gradient", "network", "replay", "rows"]
