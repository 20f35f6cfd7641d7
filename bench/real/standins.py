"""What other people's programs import and these runs have no use for (loggers, plots, old names of packages), stood in for while they run.

The one thing to get wrong: nothing that computes may be stood in for.
"""

import sys
import types


class Nothing:
    """Takes any call and gives itself."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        return self


def stand_in(name, **contents):
    """A module of this name, where there is none."""
    if name in sys.modules:
        return
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    module.__getattr__ = lambda attribute: Nothing()
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
