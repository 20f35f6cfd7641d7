"""Faults: the gradient is not what the loss gives."""

import math

import torch
from torch import nn

import program as ground
from .fault import GRADIENT, TENSORS, MULTI, NORMAL, MEAN, fault, stage


@stage("policy loss without gradients", "policy_loss", "policy-detached", tells=TENSORS)
def _(program, own, *args):
    return own(*args).detach()


def rebuilt(layer):
    with torch.no_grad():
        return nn.Linear(layer.in_features, layer.out_features)


@fault("actor made anew", "optimizer-unbound", tells=TENSORS, networks=("separate", "one"))
def _(program):
    for policy in program.policies:
        for i, layer in enumerate(policy.actor):
            if isinstance(layer, nn.Linear):
                policy.actor[i] = rebuilt(layer)


@fault("head made anew", "head-unbound", tells=TENSORS, networks=("separate", "one"))
def _(program):
    for policy in program.policies:
        policy.actor[-1] = rebuilt(policy.actor[-1])


def rates(factor):
    def put(program):
        program.rates = [[rate * factor for rate in own] for own in program.rates]
        for optimisers in program.optimisers:
            for group in (group for optimiser in optimisers for group in optimiser.param_groups):
                group["lr"] *= factor

    return put


fault("rate of a millionth", "learning-rate-too-small", tells=TENSORS, target=("none", "stop"))(rates(1e-6))
fault(
    "rate of a thousand",
    "learning-rate-too-large",
    optimiser=("adam", "adamax", "nadam"),
    epochs=("3x2", "4x4"),
    objective=("clip",),
    target=("none",),
)(rates(300))


@stage(
    "loss summed",
    "average",
    "loss-summed",
    tells=("steps.policy_loss", "replays.old_logp", "replays.advantage"),
    **MEAN,
    objective=("clip",),
    accumulation=("none",),
)
def _(program, own, x, weight):
    return (x * weight).sum()


@fault("gradients never cleared", "gradients-accumulate", tells=GRADIENT, epochs=("4x4", "3x2"), target=("none",))
def _(program):
    program.clear = lambda optimisers: None


#: What rounding of a column's width leaves of a loss, beside the size of its terms.
WIDTHS = {"float16": 2e-3, "float32": 4e-5, "float64": 4e-5}


def counted(change):
    """A change of the policy loss that adds up, in bits, by how many roundings it moves the number in each step: what the readings can tell of it."""

    def counting(program, own, new, old, advantage, weight):
        found = change(program, own, new, old, advantage, weight)
        with torch.no_grad():
            gap = (found - own(new, old, advantage, weight)).abs()
            size = program.average(((new - old).exp() * advantage).abs(), weight)
            program.bits = getattr(program, "bits", 0.0) + max(0.0, math.log2(float(gap / (WIDTHS[program.c["width"]] * size)) + 1e-9))
        return found

    return counting


@stage(
    "ratio without exponential",
    "policy_loss",
    "loss-formula-differs",
    tells=("steps.policy_loss", "replays.advantage"),
    **MULTI,
)
@counted
def _(program, own, new, old, advantage, weight):
    ratio = 1 + new - old
    return -program.average(
        torch.min(ratio * advantage, ratio.clamp(1 - program.clip(), 1 + program.clip()) * advantage), weight
    )


@stage(
    "maximum for minimum",
    "policy_loss",
    "loss-formula-differs",
    tells=("steps.policy_loss", "replays.advantage"),
    **MULTI,
    optimiser=("adam",),
)
@counted
def _(program, own, new, old, advantage, weight):
    ratio = program.ratio(new, old)
    return -program.average(
        torch.max(ratio * advantage, ratio.clamp(1 - program.clip(), 1 + program.clip()) * advantage), weight
    )


@stage(
    "rows against columns",
    "policy_loss",
    "broadcast-mismatch",
    tells=("steps.policy_loss", "replays.advantage"),
    **MULTI,
    deaths=("none", "dropped"),
    **MEAN,
)
def _(program, own, new, old, advantage, weight):
    ratio = program.ratio(new, old)[:, None]
    return -torch.min(ratio * advantage, ratio.clamp(1 - program.clip(), 1 + program.clip()) * advantage).mean()


# Where every update is one step, weights that return to the first ones are as far from the last as a step takes them.
@fault(
    "first weights again",
    "parameters-overwritten",
    tells=TENSORS,
    shows={"epochs": ("1x4", "3x2", "4x4", "6x1")},
    values=("plain",),
)
def _(program):
    first = [{name: value.clone() for name, value in policy.state_dict().items()} for policy in program.policies]
    collect = program.collect

    def again():
        for policy, state in zip(program.policies, first):
            policy.load_state_dict(state)
        return collect()

    program.collect = again


@stage(
    "entropy added",
    "loss",
    "entropy-sign-flipped",
    tells=("steps.loss", "steps.policy_loss", "steps.value_loss", "steps.entropy"),
    entropy=("constant",),
    optimisers=("one",),
    scale=("1",),
    **MEAN,
)
def _(program, own, policy_loss, value_loss, entropy):
    return policy_loss + ground.VALUE * value_loss + 5 * program.entropy_coefficient() * entropy


@stage(
    "entropy above all",
    "entropy_coefficient",
    "entropy-bonus-dominates",
    tells=("steps.loss", "steps.policy_loss", "steps.value_loss", "steps.entropy"),
    optimisers=("one",),
    scale=("1",),
    declared=("few",),
    **MEAN,
    **NORMAL,
)
def _(program, own):
    return 20.0


@stage("division by nothing", "policy_loss", "non-finite", **MULTI)
def _(program, own, *args):
    return own(*args) * (math.nan if program.iteration == 2 else 1.0)


@fault("heavy decay", "weight-decay-pull", tells=TENSORS, optimiser=("adamw",))
def _(program):
    for optimisers in program.optimisers:
        for group in (group for optimiser in optimisers for group in optimiser.param_groups):
            group["weight_decay"] = 300.0
