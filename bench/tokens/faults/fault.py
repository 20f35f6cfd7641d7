"""Faults for examples/pytorch/grpo.py, each put in from outside by replacing one method of a `Program`. The one thing to get wrong: a fault is one only
under the options of its `needs`, and what the recording declares stays what the program was told, because that is what a user believes."""

from typing import Any, Callable, Dict, NamedTuple, Tuple


class Fault(NamedTuple):
    causes: Tuple[str, ...]  # any of them is the right name
    put: Callable[[Any], None]
    needs: Dict[str, Any]


FAULTS: Dict[str, Fault] = {}
WARM = {"temperature": 0.7}
TOKENS = {"task": "tool"}
TWICE = {"epochs": 2, "minibatches": 2}
TRAINER_OLD = {"old_logp": "trainer"}
KL = {"kl": "k3", "kl_place": "loss", "kl_coefficient": 0.05}
SHORT = {"max_response_length": 5, "task": "sort"}
MOVING = {"learning_rate": 1e-3}


def fault(name, *causes, **needs):
    def keep(put):
        FAULTS[name] = Fault(causes, put, needs)
        return put

    return keep


def wrap(owner, name, change):
    """Replaces a method by a function that gets it first."""
    own = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: change(own, *args, **kwargs))


def rows_with(program, change):
    """Changes the trainer's rows wherever they are made."""

    def rows(own, responses, which):
        found = own(responses, which)
        return found._replace(**change(found, responses))

    wrap(program, "rows", rows)
