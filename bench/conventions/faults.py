"""Bugs for `Program`, each put in from outside by replacing one stage. Which conventions a fault needs, and which columns tell it, stand beside it.

The one thing to get wrong: `tells` are columns without which the fault cannot be seen by anybody; where one is left out, the right
answer is not the cause's name.
"""

import math
from typing import Any, Callable, Dict, NamedTuple, Sequence, Tuple

import torch
from torch import nn

import games
import program as ground

REPLAY = ("replays.old_logp",)
CREDIT = ("samples.reward", "samples.value", "samples.advantage", "samples.next_value")
USED = ("samples.advantage", "replays.advantage")
TENSORS = ("tensors",)


class Fault(NamedTuple):
    causes: Tuple[str, ...]
    put: Callable[[Any], None]
    needs: Dict[str, Sequence[str]]  # conventions under which it is a fault at all
    tells: Tuple[str, ...]


FAULTS: Dict[str, Fault] = {}
MULTI = {"epochs": ("3x2", "4x4", "6x1"), "objective": ("clip",)}
CHOICES = {"actions": ("categorical",)}
LISTS = {"choices": ("lists", "lists-mask"), "actions": ("categorical",)}
MASKS = {"choices": ("mask", "mask-inf", "lists-mask"), "actions": ("categorical",)}
GAE = {"credit": ("gae",), "episodes": ("short",)}
NORMAL = {"normalisation": ("batch", "minibatch", "agent"), "advantages": ("once",)}
TEAM = {"agents": ("2", "4"), "deaths": ("none",)}
MEAN = {"reduction": ("mean",)}


def fault(name, *causes, tells=(), **needs):
    def keep(put):
        FAULTS[name] = Fault(causes, put, needs, tuple(tells))
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


# - the distribution is not replayed -


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
        padded = torch.where(torch.arange(part["subset"].shape[-1]) < part["count"][:, None], part["subset"], games.CHOICES)
        order = padded.argsort(-1)
        ordered = padded.gather(-1, order)
        return {**part, "subset": torch.where(ordered < games.CHOICES, ordered, 0), "legal": part["legal"].gather(-1, order)}

    updating(change)(program)


@fault("first choices for the list", "subset-not-replayed", tells=("replays.logits", "samples.logits"), **LISTS)
def _(program):
    updating(lambda _, part: {**part, "subset": torch.arange(part["subset"].shape[-1]).expand_as(part["subset"])})(program)


@fault("lists of the row before", "subset-borrowed", "subset-not-replayed", tells=("replays.subset", "replays.logits", "samples.subset"), **{**LISTS, "choices": ("lists",)})
def _(program):
    updating(lambda _, part: {**part, "subset": part["subset"].roll(1, 0)})(program)


@fault("mask forgotten", "mask-not-replayed", tells=("replays.logits", "samples.legal"), **MASKS)
def _(program):
    updating(lambda _, part: {**part, "legal": torch.arange(part["legal"].shape[-1]) < part["count"][:, None]})(program)


@stage("hotter while acting", "sampling_distribution", "temperature-mismatch", tells=("replays.logits", "samples.logits"), **CHOICES)
def _(program, own, policy, local, legal):
    return own(policy, local / 2.5, legal)


@fault("cooler while learning", "temperature-mismatch", tells=("replays.logits", "samples.logits"), **CHOICES)
def _(program):
    acting = program.distribution
    program.sampling_distribution = acting
    program.distribution = lambda policy, local, legal: acting(policy, local / 0.4, legal)


@stage("nothing stored as log-probability", "stored_logp", "old-logp-wrong", tells=REPLAY + ("samples.logits",), objective=("clip",), **CHOICES)
def _(program, own, choice, action):
    return torch.zeros_like(own(choice, action))


@stage("log-probability of the likeliest", "stored_logp", "old-logp-wrong", tells=REPLAY + ("samples.logits",), objective=("clip",), **CHOICES)
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


@stage("raw observations while learning", "scores", "inputs-differ", tells=("replays.logits", "samples.logits"), observations=("raw",))
def _(program, own, policy, obs):
    return own(policy, obs * 3)


@fault("observations of the row before", "inputs-differ", tells=("replays.logits", "samples.logits"), minibatches=("permuted", "sequential"))
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


# - the credit is not the sample's own -


@stage("advantages shuffled", "normalise_batch", "advantage-shuffled", tells=USED, advantages=("once",))
def _(program, own, batch, rows):
    found = own(batch, rows)
    return found[torch.as_tensor(program.random.permutation(len(found)))]


def credit_after(name, *causes, tells=USED, **needs):
    """A fault that changes advantages after they were computed and recorded."""

    def keep(change):
        def put(program):
            flatten = program.flatten
            program.flatten = lambda rollout: flatten({**rollout, "advantage": change(rollout["advantage"])} if "state" in rollout else rollout)

        FAULTS[name] = Fault(causes, put, {"advantages": ("once",), **needs}, tells)
        return change

    return keep


credit_after("credit of the step before", "advantage-time-shifted", episodes=("long",))(lambda a: a.roll(1, 0))
credit_after("credit of the step after", "advantage-time-shifted", episodes=("long",))(lambda a: a.roll(-1, 0))
credit_after("credit of the other agent", "advantage-agent-swapped", **{**TEAM, "layout": ("steps", "flat", "environments")})(lambda a: a.flip(2))
credit_after("credit of another environment", "advantage-shuffled")(lambda a: a.roll(1, 1))
credit_after("credit of one sign", "advantage-degenerate", **NORMAL)(lambda a: torch.full_like(a, 0.3))


@stage("credit negated", "normalise_batch", "advantage-sign-flipped", tells=USED, advantages=("once",))
def _(program, own, batch, rows):
    return -own(batch, rows)


@stage("mean taken by action", "normalise_batch", "advantage-group-demeaned", tells=USED + ("samples.action",), **{**NORMAL, "choices": ("all",), **CHOICES})
def _(program, own, batch, rows):
    found, action = own(batch, rows).clone(), batch["action"][rows]
    for which in action.unique():
        found[action == which] -= found[action == which].mean()
    return found


@fault("normalisation declared and forgotten", "advantage-not-normalised", tells=("replays.advantage",), declared=("all",), scale=("1000",), rewards=("raw",), normalisation=("batch",))
def _(program):
    program.normalised = lambda advantage, weight: advantage


@stage("ends ignored", "ends", "return-crosses-episodes", tells=CREDIT, **GAE, limits=("bootstrap", "done"))
def _(program, own, rollout):
    return (torch.zeros_like(own(rollout)[0]),) * 2


@stage("ends one step late", "ends", "done-time-shifted", tells=CREDIT, **GAE, limits=("done",))
def _(program, own, rollout):
    found = own(rollout)
    return tuple(torch.cat([torch.zeros_like(flags[:1]), flags[:-1]]) for flags in found)


@stage("ends one step early", "ends", "done-time-shifted", tells=CREDIT, **GAE, limits=("done",))
def _(program, own, rollout):
    found = own(rollout)
    return tuple(torch.cat([flags[1:], torch.zeros_like(flags[:1])]) for flags in found)


@stage("time limits end", "ends", "truncation-treated-as-termination", tells=CREDIT + ("samples.truncated",), **GAE, limits=("bootstrap",))
def _(program, own, rollout):
    _, ended = own(rollout)
    return ended, ended


@stage("nothing beyond the rollout", "follows", "truncation-treated-as-termination", tells=CREDIT, credit=("gae", "one-step"), episodes=("long",))
def _(program, own, rollout, value):
    found = own(rollout, value).clone()
    found[-1] = 0
    return found


@stage("bootstrap from the row itself", "follows", "credit-formula-differs", tells=CREDIT, credit=("gae", "one-step"))
def _(program, own, rollout, value):
    return value


@stage("values halved in the bootstrap", "follows", "credit-formula-differs", tells=CREDIT, credit=("gae", "one-step"))
def _(program, own, rollout, value):
    return 0.5 * own(rollout, value)


@stage("rewards of the step before", "advantages", "reward-time-shifted", tells=CREDIT, credit=("gae", "one-step"), limits=("bootstrap", "done"))
def _(program, own, rollout, value):
    late = torch.cat([torch.zeros_like(rollout["reward"][:1]), rollout["reward"][:-1]])
    return own({**rollout, "reward": late}, value)


@stage("trace without discount", "advantages", "credit-formula-differs", tells=CREDIT, credit=("gae",))
def _(program, own, rollout, value):
    import credit

    terminated, ended = program.ends(rollout)
    delta = credit.one_step(rollout["reward"], value, program.follows(rollout, value), terminated, ground.GAMMA)
    out, running = torch.zeros_like(delta), torch.zeros_like(delta[0])
    for t in reversed(range(len(delta))):
        running = delta[t] + ground.LAMBDA * running * (~ended[t])
        out[t] = running
    return out


@stage("one pass over all agents", "advantages", "credit-crosses-agents", tells=CREDIT, **{**TEAM, **GAE, "limits": ("done",)}, layout=("steps", "flat"))
def _(program, own, rollout, value):
    import credit

    terminated, ended = program.ends(rollout)
    chain = lambda x: x.transpose(0, 1).reshape(ground.ENVS, -1).T  # noqa: E731
    after = torch.cat([chain(value)[1:], rollout["last"][:, 0][None]])
    found = credit.gae(chain(rollout["reward"]), chain(value), after, chain(terminated), chain(ended), ground.GAMMA, ground.LAMBDA)
    return found.T.reshape(ground.ENVS, ground.STEPS, -1).transpose(0, 1)


@stage("return without the value", "returns", "return-inconsistent", tells=("samples.return", "samples.value"), values=("plain",))
def _(program, own, advantage, value):
    return advantage.clone()


@stage("value subtracted in other units", "advantages", "value-scale-mismatch", "credit-formula-differs", tells=CREDIT, credit=("gae",), values=("plain",), scale=("1",))
def _(program, own, rollout, value):
    return own(rollout, value) + value - (value - 0.5) / 3


# - the gradient -


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
fault("rate of a thousand", "learning-rate-too-large", optimiser=("adam", "adamax", "nadam"), epochs=("3x2", "4x4"), objective=("clip",), target=("none",))(rates(300))


@stage("loss summed", "average", "loss-summed", tells=("steps.policy_loss", "replays.old_logp", "replays.advantage"), **MEAN, objective=("clip",), accumulation=("none",))
def _(program, own, x, weight):
    return (x * weight).sum()


@fault("gradients never cleared", "gradients-accumulate", tells=TENSORS, epochs=("4x4", "3x2"), target=("none",))
def _(program):
    program.clear = lambda optimisers: None


@stage("ratio without exponential", "ratio", "loss-formula-differs", tells=("steps.policy_loss", "replays.advantage"), **MULTI)
def _(program, own, new, old):
    return 1 + new - old


@stage("maximum for minimum", "policy_loss", "loss-formula-differs", tells=("steps.policy_loss", "replays.advantage"), **MULTI, optimiser=("adam",))
def _(program, own, new, old, advantage, weight):
    ratio = program.ratio(new, old)
    return -program.average(torch.max(ratio * advantage, ratio.clamp(1 - program.clip(), 1 + program.clip()) * advantage), weight)


@stage("rows against columns", "policy_loss", "broadcast-mismatch", tells=("steps.policy_loss", "replays.advantage"), **MULTI, deaths=("none", "dropped"), **MEAN)
def _(program, own, new, old, advantage, weight):
    ratio = program.ratio(new, old)[:, None]
    return -torch.min(ratio * advantage, ratio.clamp(1 - program.clip(), 1 + program.clip()) * advantage).mean()


@fault("first weights again", "parameters-overwritten", tells=TENSORS, values=("plain",))
def _(program):
    first = [{name: value.clone() for name, value in policy.state_dict().items()} for policy in program.policies]
    collect = program.collect

    def again():
        for policy, state in zip(program.policies, first):
            policy.load_state_dict(state)
        return collect()

    program.collect = again


@stage("entropy added", "loss", "entropy-sign-flipped", tells=("steps.loss", "steps.policy_loss", "steps.value_loss", "steps.entropy"), entropy=("constant",), optimisers=("one",), scale=("1",), **MEAN)
def _(program, own, policy_loss, value_loss, entropy):
    return policy_loss + ground.VALUE * value_loss + 5 * program.entropy_coefficient() * entropy


@stage("entropy above all", "entropy_coefficient", "entropy-bonus-dominates", tells=("steps.loss", "steps.policy_loss", "steps.value_loss", "steps.entropy"), optimisers=("one",), scale=("1",), declared=("few",), **MEAN, **NORMAL)
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


# - the network -


@stage("scores squashed", "sampling_scores", "policy-head-flat", tells=("samples.logits",), **CHOICES)
def _(program, own, policy, obs):
    return 1e-4 * torch.tanh(own(policy, obs))


@fault("inputs of thousands", "input-saturated", tells=TENSORS + ("samples.obs",), observations=("raw",))
def _(program):
    own = program.inputs
    program.inputs = lambda raw: own(raw) * 1e4


_flat = FAULTS["scores squashed"].put


def _both(program):
    _flat(program)
    own = program.scores
    program.scores = lambda policy, obs: 1e-4 * torch.tanh(own(policy, obs))


FAULTS["scores squashed"] = FAULTS["scores squashed"]._replace(put=_both)


@stage("dead rows trained", "flatten", "padding-trained", tells=("samples.reward",), deaths=("weight",))
def _(program, own, rollout):
    batch = own(rollout)
    return {**batch, "weight": torch.ones_like(batch["weight"])}
