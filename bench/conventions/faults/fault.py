"""Bugs for `Program`, each put in from outside by replacing one stage. Which conventions a fault needs, and which columns tell it, stand beside it.

The one thing to get wrong: `tells` are columns without which the fault cannot be seen by anybody; where one is left out, or the program
has none, or its conventions are not those of `shows`, the right answer is not the cause's name; `a|b` is met by either column. Nor is it
where a fault hardly changes a number: one that counts its `bits` must have moved readings beyond what the width of the columns holds.
"""

from typing import Any, Callable, Dict, NamedTuple, Sequence, Tuple

REPLAY = ("replays.old_logp",)
CREDIT = ("samples.reward", "samples.value", "samples.advantage", "samples.next_value")
USED = ("samples.advantage", "replays.advantage")
TENSORS = ("tensors",)
# A gradient is recorded as a length for each tensor. What it should be follows from rows alone for two of them: the head's bias, from logits,
# actions and advantages, and the critic's last bias, from values and returns.
GRADIENT = TENSORS + ("replays.logits|replays.value", "replays.logits|replays.return", "replays.advantage|replays.value", "replays.advantage|replays.return")


class Fault(NamedTuple):
    causes: Tuple[str, ...]
    put: Callable[[Any], None]
    needs: Dict[str, Sequence[str]]  # conventions under which it is a fault at all
    tells: Tuple[str, ...]
    shows: Dict[str, Sequence[str]] = {}  # conventions under which those columns show it


FAULTS: Dict[str, Fault] = {}
MULTI = {"epochs": ("3x2", "4x4", "6x1"), "objective": ("clip",)}
CHOICES = {"actions": ("categorical",)}
LISTS = {"choices": ("lists", "lists-mask"), "actions": ("categorical",)}
MASKS = {"choices": ("mask", "mask-inf", "lists-mask"), "actions": ("categorical",)}
GAE = {"credit": ("gae",), "episodes": ("short",)}
NORMAL = {"normalisation": ("batch", "minibatch", "agent"), "advantages": ("once",)}
TEAM = {"agents": ("2", "4"), "deaths": ("none",)}
MEAN = {"reduction": ("mean",)}


def fault(name, *causes, tells=(), shows={}, **needs):
    def keep(put):
        FAULTS[name] = Fault(causes, put, needs, tuple(tells), shows)
        return put

    return keep


def stage(name, stage_name, *causes, tells=(), **needs):
    """A fault that wraps one stage: the function gets the program and the stage as it was, then the stage's arguments."""

    def keep(change):
        def put(program):
            own = getattr(program, stage_name)
            setattr(program, stage_name, lambda *args: change(program, own, *args))

        FAULTS[name] = Fault(causes, put, needs, tuple(tells))
        return change

    return keep
