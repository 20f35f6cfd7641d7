"""Faults: the credit is not the sample's own."""

import torch

import program as ground
from .fault import CREDIT, USED, FAULTS, CHOICES, GAE, NORMAL, TEAM, Fault, fault, stage


@stage("advantages shuffled", "normalise_batch", "advantage-shuffled", tells=USED, advantages=("once",))
def _(program, own, batch, rows):
    found = own(batch, rows)
    return found[torch.as_tensor(program.random.permutation(len(found)))]


def credit_after(name, *causes, tells=USED, **needs):
    """A fault that changes advantages after they were computed and recorded."""

    def keep(change):
        def put(program):
            flatten = program.flatten
            program.flatten = lambda rollout: flatten(
                {**rollout, "advantage": change(rollout["advantage"])} if "state" in rollout else rollout
            )

        FAULTS[name] = Fault(causes, put, {"advantages": ("once",), **needs}, tells)
        return change

    return keep


credit_after("credit of the step before", "advantage-time-shifted", episodes=("long",))(lambda a: a.roll(1, 0))
credit_after("credit of the step after", "advantage-time-shifted", episodes=("long",))(lambda a: a.roll(-1, 0))
credit_after(
    "credit of the other agent", "advantage-agent-swapped", **{**TEAM, "layout": ("steps", "flat", "environments")}
)(lambda a: a.flip(2))
credit_after("credit of another environment", "advantage-shuffled")(lambda a: a.roll(1, 1))
credit_after("credit of one sign", "advantage-degenerate", **NORMAL)(lambda a: torch.full_like(a, 0.3))


@stage("credit negated", "normalise_batch", "advantage-sign-flipped", tells=USED, advantages=("once",))
def _(program, own, batch, rows):
    return -own(batch, rows)


@stage(
    "mean taken by action",
    "normalise_batch",
    "advantage-group-demeaned",
    tells=USED + ("samples.action",),
    **{**NORMAL, "choices": ("all",), **CHOICES},
)
def _(program, own, batch, rows):
    found, action = own(batch, rows).clone(), batch["action"][rows]
    for which in action.unique():
        found[action == which] -= found[action == which].mean()
    return found


@fault(
    "normalisation declared and forgotten",
    "advantage-not-normalised",
    tells=("replays.advantage",),
    declared=("all",),
    scale=("1000",),
    rewards=("raw",),
    normalisation=("batch",),
)
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


@stage(
    "time limits end",
    "ends",
    "truncation-treated-as-termination",
    tells=CREDIT + ("samples.truncated",),
    **GAE,
    limits=("bootstrap",),
)
def _(program, own, rollout):
    _, ended = own(rollout)
    return ended, ended


@stage(
    "nothing beyond the rollout",
    "follows",
    "truncation-treated-as-termination",
    tells=CREDIT,
    credit=("gae", "one-step"),
    episodes=("long",),
)
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


@stage(
    "rewards of the step before",
    "advantages",
    "reward-time-shifted",
    tells=CREDIT,
    credit=("gae", "one-step"),
    limits=("bootstrap", "done"),
)
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


@stage(
    "one pass over all agents",
    "advantages",
    "credit-crosses-agents",
    tells=CREDIT,
    **{**TEAM, **GAE, "limits": ("done",)},
    layout=("steps", "flat"),
)
def _(program, own, rollout, value):
    import credit

    terminated, ended = program.ends(rollout)
    chain = lambda x: x.transpose(0, 1).reshape(ground.ENVS, -1).T  # noqa: E731
    after = torch.cat([chain(value)[1:], rollout["last"][:, 0][None]])
    found = credit.gae(
        chain(rollout["reward"]), chain(value), after, chain(terminated), chain(ended), ground.GAMMA, ground.LAMBDA
    )
    return found.T.reshape(ground.ENVS, ground.STEPS, -1).transpose(0, 1)


@stage(
    "return without the value",
    "returns",
    "return-inconsistent",
    tells=("samples.return", "samples.value"),
    values=("plain",),
)
def _(program, own, advantage, value):
    return advantage.clone()


@stage(
    "value subtracted in other units",
    "advantages",
    "value-scale-mismatch",
    "credit-formula-differs",
    tells=CREDIT,
    credit=("gae",),
    values=("plain",),
    scale=("1",),
)
def _(program, own, rollout, value):
    return own(rollout, value) + value - (value - 0.5) / 3
