"""Bugs for the tiny language model, each put in from outside; `FAULTS` has all of them by name, in the order of these modules."""

from . import sampling  # isort: skip
from . import rows  # isort: skip
from . import update  # isort: skip
from . import rewards  # isort: skip
from .fault import FAULTS

__all__ = ["FAULTS", "rewards", "rows", "sampling", "update"]
