"""Faults for examples/pytorch/dqn.py, each put in from outside by replacing one method of a `Program`."""

import numpy as np
from dqn import BETA, GAMMA
from fault import fault, wrap

DQN = {"program": "dqn"}
THREE = {"program": "dqn", "n": 3}
SHORT = {"limit": 6}


def never(program):
    program.sync = lambda: None


fault("target network never copied", "target-network-frozen", **DQN)(never)
fault("target network never mixed", "target-network-frozen", tau=0.02, **DQN)(never)


def in_part(keep):
    def put(program):
        def sync(own):
            frozen = {name: value.clone() for name, value in program.target_net.state_dict().items() if keep(name)}
            own()
            program.target_net.load_state_dict({**program.target_net.state_dict(), **frozen})

        wrap(program, "sync", sync)

    return put


fault("last layer of the target network left out", "target-network-frozen", **DQN)(
    in_part(lambda name: name.startswith("2."))
)
fault("biases of the target network left out", "target-network-frozen", tau=0.02, **DQN)(
    in_part(lambda name: "bias" in name)
)


def ends(change):
    def put(program):
        program.stops = change

    return put


none = np.zeros_like
fault("ends ignored", "target-crosses-end", **DQN)(
    ends(lambda terminated, truncated: (none(terminated), none(terminated)))
)
fault("ends ignored in three steps", "target-crosses-end", **THREE)(
    ends(lambda terminated, truncated: (none(terminated), none(terminated)))
)
fault("time limits taken for ends", "truncation-treated-as-termination", **DQN, **SHORT)(
    ends(lambda terminated, truncated: (terminated | truncated, terminated | truncated))
)
fault("time limits taken for ends in three steps", "truncation-treated-as-termination", **THREE, **SHORT)(
    ends(lambda terminated, truncated: (terminated | truncated, terminated | truncated))
)


@fault("rewards from beyond the end", "target-crosses-end", **THREE)
def _(program):
    def returns(own, reward, terminated, truncated):
        total, taken, follows = own(reward, terminated, truncated)
        n = program.options.n
        return (reward[:, :n] * GAMMA ** np.arange(n)).sum(1), taken, follows

    wrap(program, "returns", returns)


def counted(change):
    def put(program):
        own = program.target
        program.target = lambda total, taken, follows, bootstrap: change(own, total, taken, follows, bootstrap)

    return put


off = "n-step-off-by-one"
fault("bootstrap discounted once", off, **THREE)(
    counted(lambda own, total, taken, follows, value: own(total, np.ones_like(taken), follows, value))
)
fault("bootstrap discounted once too often", off, **THREE)(
    counted(lambda own, total, taken, follows, value: own(total, taken + 1, follows, value))
)
fault("bootstrap discounted once less", off, **THREE)(
    counted(lambda own, total, taken, follows, value: own(total, taken - 1, follows, value))
)
fault("bootstrap not discounted", off, **DQN)(
    counted(lambda own, total, taken, follows, value: own(total, taken - 1, follows, value))
)


@fault("last reward left out", off, **THREE)
def _(program):
    def returns(own, reward, terminated, truncated):
        reward = reward.copy()
        reward[:, program.options.n - 1] = 0.0
        return own(reward, terminated, truncated)

    wrap(program, "returns", returns)


PRIORITISED = {"program": "dqn", "prioritised": True}
wrong = "priority-weight-wrong"


def weighted(change):
    def put(program):
        program.weights = change(program)

    return put


fault("weights with the other sign", wrong, **PRIORITISED)(
    weighted(lambda program: lambda p: (len(p) * p) ** BETA / ((len(p) * p) ** BETA).max())
)


@fault("weights of other rows", wrong, **PRIORITISED)
def _(program):
    wrap(program, "weights", lambda own, probability: np.roll(own(probability), 1))


fault("no weights", wrong, **PRIORITISED)(weighted(lambda program: lambda p: np.ones_like(p)))

SAC = {"program": "sac"}
sign = "entropy-temperature-sign"


@fault("entropy taken off the target", sign, **SAC)
def _(program):
    program.soft = lambda bootstrap, logp: bootstrap + program.log_alpha.exp().detach() * logp


@fault("temperature moves the other way", sign, **SAC)
def _(program):
    wrap(program, "alpha_loss", lambda own, logp: -own(logp))


@fault("ends ignored", "target-crosses-end", **SAC)
def _(program):
    program.follows = lambda terminated, truncated: 1 - 0 * terminated


@fault("time limits taken for ends", "truncation-treated-as-termination", **SAC, **SHORT)
def _(program):
    program.follows = lambda terminated, truncated: (1 - terminated) * (1 - truncated)


fault("target critics never mixed", "target-network-frozen", **SAC)(never)


@fault("second target critic left out", "target-network-frozen", **SAC)
def _(program):
    def sync():
        for target, own in zip(program.target_critics[0].parameters(), program.critics[0].parameters()):
            target.data.lerp_(own.data, program.options.tau)

    program.sync = sync
