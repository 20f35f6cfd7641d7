"""Faults: the distribution is not replayed."""

import torch
from torch import nn

import games
from .fault import REPLAY, MULTI, CHOICES, LISTS, MASKS, fault, stage


def updating(change):
    """Changes rows only where the update picks a minibatch of them: the second time `pick` is called in an update and later."""

    def put(program):
        own = program.pick

        def pick(batch, rows):
            found = own(batch, rows)
            return change(program, found) if "used" in batch else found

        program.pick = pick

    return put


@fault("lists in order", "subset-not-replayed", tells=("replays.subset", "replays.logits", "samples.subset"), **LISTS)
def _(program):
    def change(_, part):
        padded = torch.where(
            torch.arange(part["subset"].shape[-1]) < part["count"][:, None], part["subset"], games.CHOICES
        )
        order = padded.argsort(-1)
        ordered = padded.gather(-1, order)
        return {
            **part,
            "subset": torch.where(ordered < games.CHOICES, ordered, 0),
            "legal": part["legal"].gather(-1, order),
        }

    updating(change)(program)


@fault("first choices for the list", "subset-not-replayed", tells=("replays.logits", "samples.logits"), **LISTS)
def _(program):
    updating(lambda _, part: {**part, "subset": torch.arange(part["subset"].shape[-1]).expand_as(part["subset"])})(
        program
    )


@fault(
    "lists of the row before",
    "subset-borrowed",
    "subset-not-replayed",
    tells=("replays.subset", "replays.logits", "samples.subset"),
    **{**LISTS, "choices": ("lists",)},
)
def _(program):
    updating(lambda _, part: {**part, "subset": part["subset"].roll(1, 0)})(program)


@fault("mask forgotten", "mask-not-replayed", tells=("replays.logits", "samples.legal"), **MASKS)
def _(program):
    updating(lambda _, part: {**part, "legal": torch.arange(part["legal"].shape[-1]) < part["count"][:, None]})(program)


@stage(
    "hotter while acting",
    "sampling_distribution",
    "temperature-mismatch",
    tells=("replays.logits", "samples.logits"),
    **CHOICES,
)
def _(program, own, policy, local, legal):
    return own(policy, local / 2.5, legal)


@fault("cooler while learning", "temperature-mismatch", tells=("replays.logits", "samples.logits"), **CHOICES)
def _(program):
    acting = program.distribution
    program.sampling_distribution = acting
    program.distribution = lambda policy, local, legal: acting(policy, local / 0.4, legal)


@stage(
    "nothing stored as log-probability",
    "stored_logp",
    "old-logp-wrong",
    tells=REPLAY + ("samples.logits",),
    objective=("clip",),
    **CHOICES,
)
def _(program, own, choice, action):
    return torch.zeros_like(own(choice, action))


@stage(
    "log-probability of the likeliest",
    "stored_logp",
    "old-logp-wrong",
    tells=REPLAY + ("samples.logits",),
    objective=("clip",),
    **CHOICES,
)
def _(program, own, choice, action):
    return own(choice, choice.logits.argmax(-1))


@fault("ratio against the present", "old-logp-recomputed", tells=REPLAY, **MULTI)
def _(program):
    import update

    learn = update.learn

    def change(p, tape, policy, name, part, *rest):
        with torch.no_grad():
            choice = p.distribution(policy, p.local(p.scores(policy, part["obs"]), part["subset"]), part["legal"])
            part = {**part, "old_logp": choice.log_prob(part["action"])}
        return learn(p, tape, policy, name, part, *rest)

    program.learn = change


@stage(
    "raw observations while learning",
    "scores",
    "inputs-differ",
    tells=("replays.logits", "samples.logits"),
    observations=("raw",),
)
def _(program, own, policy, obs):
    return own(policy, obs * 3)


@fault(
    "observations of the row before",
    "inputs-differ",
    tells=("replays.logits", "samples.logits"),
    minibatches=("permuted", "sequential"),
)
def _(program):
    flatten = program.flatten

    def change(rollout):
        batch = flatten(rollout)
        return {**batch, "obs": batch["obs"].roll(1, 0)} if "state" in batch else batch

    program.flatten = change


@stage("dropout while learning", "scores", "stochastic-forward", tells=("again",), networks=("separate", "one"))
def _(program, own, policy, obs):
    layers = list(policy.actor)
    return layers[-1](nn.functional.dropout(nn.Sequential(*layers[:-1])(obs), 0.2))
