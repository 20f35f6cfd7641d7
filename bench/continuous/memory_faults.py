"""Faults for examples/pytorch/recurrent.py, and healthy customs of its environment. Each replaces one method of a `Program` from outside."""

import numpy as np
import torch
from fault import custom, fault, wrap

NOT_RESET = ("recurrent-state-not-reset",)
EITHER = ("recurrent-state-not-reset", "recurrent-state-not-replayed")
RECURRENT = {"program": "recurrent"}


def zeroed(state, where):
    return torch.where(where[:, None], torch.zeros_like(state), state)


@fault("memory never reset", *NOT_RESET, **RECURRENT)
def _(program):
    program.forgotten = lambda state, over, terminated, truncated: state
    program.resumed = lambda state, starts: state


@fault("memory not reset when acting", *NOT_RESET, **RECURRENT)
def _(program):
    program.forgotten = lambda state, over, terminated, truncated: state


@fault("memory not reset after time limits", *NOT_RESET, **RECURRENT)
def _(program):
    program.forgotten = lambda state, over, terminated, truncated: zeroed(state, terminated)


@fault("memory not reset after terminations", *NOT_RESET, **RECURRENT)
def _(program):
    program.forgotten = lambda state, over, terminated, truncated: zeroed(state, truncated)


@fault("memory reset one step late", *NOT_RESET, **RECURRENT)
def _(program):
    late = torch.zeros(program.options.envs, dtype=torch.bool)

    def forgotten(state, over, terminated, truncated):
        nonlocal late
        found, late = zeroed(state, late), over
        return found

    program.forgotten = forgotten


@fault("memory not reset in the update", *EITHER, **RECURRENT)
def _(program):
    program.resumed = lambda state, starts: state


@fault("sequences start from nothing", "recurrent-state-not-replayed", **RECURRENT)
def _(program):
    program.first_state = torch.zeros_like


@fault("sequences start from the states of others", "recurrent-state-not-replayed", **RECURRENT)
def _(program):
    program.first_state = lambda stored: stored.roll(1, 0)


@fault("state stored after the step", "recurrent-state-stale", **RECURRENT)
def _(program):
    program.kept_state = lambda before, after: after


@fault("states of the iteration before", "recurrent-state-stale", **RECURRENT)
def _(program):
    last = []

    def collect(own):
        found = own()
        last.append(found["state_in"])
        if len(last) > 1:
            found["state_in"] = last[-2]
        return found

    wrap(program, "collect", collect)


def reordered(change):
    def put(program):
        wrap(program, "sequences", lambda own, steps, envs: change(own(steps, envs)))

    return put


shuffled = fault("rows shuffled within sequences", "sequences-shuffled", **RECURRENT)
shuffled(reordered(lambda rows: rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(3))]))
fault("rows of all environments in one sequence", "sequences-shuffled", **RECURRENT)(
    reordered(lambda rows: rows.flatten().reshape(rows.shape[1], rows.shape[0]).T)
)
fault("sequences backwards", "sequences-shuffled", **RECURRENT)(reordered(lambda rows: rows.flip(0)))


class Normaliser:
    """Observations less their mean, over their deviation; learns from a rollout after it."""

    def __init__(self, program):
        self.program, self.raw = program, []
        size = program.obs.shape[1]
        self.mean, self.std, self.count = np.zeros(size), np.ones(size) * 1.5, 1e-4
        self.old = (self.mean, self.std)
        wrap(program.game, "observe", self.observe)
        wrap(program, "collect", self.collect)

    def observe(self, own):
        self.raw.append(own())
        return (self.raw[-1] - self.mean) / self.std

    def collect(self, own):
        found = own()
        rows = np.concatenate(self.raw)
        self.raw, self.old = [], (self.mean, self.std)
        share = len(rows) / (self.count + len(rows))
        self.mean, self.std = (
            self.mean + share * (rows.mean(0) - self.mean),
            self.std + share * (rows.std(0) - self.std),
        )
        self.count += len(rows)
        return found

    def again(self, obs):
        """What the newest statistics make of what was normalised with the ones before."""
        mean, std = (torch.as_tensor(part, dtype=obs.dtype) for part in self.old)
        return (obs * std + mean - torch.as_tensor(self.mean, dtype=obs.dtype)) / torch.as_tensor(
            self.std, dtype=obs.dtype
        )


@custom("normalised")
def _(program):
    Normaliser(program)


@fault("normaliser learns before the update", "normaliser-drifts", **RECURRENT)
def _(program):
    program.seen = Normaliser(program).again


def lost(program):
    """The value of the first state of the next episode stands where that of the last one of the old should."""

    def collect(own):
        found = own()
        after = torch.cat([found["value"][1:], found["final"][-1:]])
        found["final"] = torch.where(found["truncated"], after, found["final"])
        return found

    wrap(program, "collect", collect)


def lost_in_the_credit(program):
    def advantages(own, rollout):
        after = torch.cat([rollout["value"][1:], rollout["final"][-1:]])
        return own({**rollout, "final": torch.where(rollout["truncated"], after, rollout["final"])})

    wrap(program, "advantages", advantages)


for name, limit in (("recurrent", 12), ("continuous", 8)):
    fault("last observation lost", "final-observation-lost", program=name, limit=limit)(lost)
    fault("last observation lost in the credit", "final-observation-lost", program=name, limit=limit)(
        lost_in_the_credit
    )
