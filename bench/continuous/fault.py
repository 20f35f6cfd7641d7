"""What a fault of these programs is: one method of a `Program` replaced from outside. What the recording declares stays what the program was told."""

from typing import Any, Callable, Dict, NamedTuple, Tuple


class Fault(NamedTuple):
    causes: Tuple[str, ...]  # any of them is the right name
    put: Callable[[Any], None]
    needs: Dict[str, Any]


#: By the program that they are for, and their name.
PROGRAMS = ("continuous", "beta", "choices", "recurrent", "dqn", "sac")
FAULTS: Dict[str, Dict[str, Fault]] = {name: {} for name in PROGRAMS}


def fault(name, *causes, program="continuous", **needs):
    def keep(put):
        FAULTS[program][name] = Fault(causes, put, needs)
        return put

    return keep


#: Healthy customs that are put in the same way, by name.
CUSTOMS: Dict[str, Callable[[Any], None]] = {}


def custom(name):
    def keep(put):
        CUSTOMS[name] = put
        return put

    return keep


def wrap(owner, name, change):
    """Replaces a method by a function that gets it first."""
    own = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: change(own, *args, **kwargs))
