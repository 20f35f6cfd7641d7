"""Faults for examples/pytorch/continuous.py, each put in from outside by replacing one method of a `Program`. The one thing to get wrong: a fault that
strikes both passes alike may be no fault at all, because it cancels in the ratio."""

import numpy as np
import torch
from continuous import CLIP, DIMENSIONS, LOG_TAU, TORQUE, VALUE
from fault import fault, wrap

SQUASH = {"squash": True}
SCALED = {"squash": True, "scale": True}


def scored(side, change):
    """Replaces the log-probability of one pass; `change` gets the program, the action, the mean and the logarithm of the deviation."""

    def put(program):
        setattr(program, f"{side}_logp", lambda action, mean, log_std: change(program, action, mean, log_std))

    return put


def corrected(times, scale=True):
    def logp(program, action, mean, log_std):
        factor = TORQUE if scale and program.options.scale else 1.0
        correction = torch.log(factor * (1 - action.tanh() ** 2) + program.options.epsilon)
        return (program.parts(action, mean, log_std) - times * correction).sum(-1)

    return logp


def reduced(reduce):
    return lambda program, action, mean, log_std: reduce(program.parts(action, mean, log_std))


def normal(action, mean, deviation):
    return (-0.5 * ((action - mean) / deviation) ** 2 - deviation.log() - 0.5 * LOG_TAU).sum(-1)


for side in ("acting", "update"):
    squash = "squash-correction-wrong"
    fault(f"no correction in the {side} pass", squash, **SQUASH)(scored(side, corrected(0)))
    fault(f"correction twice in the {side} pass", squash, **SQUASH)(scored(side, corrected(2)))
    fault(f"correction with the other sign in the {side} pass", squash, **SQUASH)(scored(side, corrected(-1)))
    fault(f"correction without its scale in the {side} pass", squash, **SCALED)(scored(side, corrected(1, False)))
    several = "dimensions-reduced-wrong"
    fault(f"mean over dimensions in the {side} pass", several)(scored(side, reduced(lambda parts: parts.mean(-1))))
    fault(f"first dimension in the {side} pass", several)(scored(side, reduced(lambda parts: parts[..., 0])))
    fault(f"last dimension in the {side} pass", several)(scored(side, reduced(lambda parts: parts[..., -1])))
    scale = "deviation-scale-wrong"
    fault(f"variance for deviation in the {side} pass", scale)(
        scored(side, lambda program, action, mean, log_std: normal(action, mean, (2 * log_std).exp()))
    )
    fault(f"deviation for its logarithm in the {side} pass", scale)(
        scored(side, lambda program, action, mean, log_std: normal(action, mean, log_std.exp().exp()))
    )
    fault(f"root of the deviation in the {side} pass", scale)(
        scored(side, lambda program, action, mean, log_std: normal(action, mean, (log_std / 2).exp()))
    )


@fault("mean over dimensions in both passes", "dimensions-reduced-wrong")
def _(program):
    program.reduced = lambda parts: parts.mean(-1)


@fault("one dimension in both passes", "dimensions-reduced-wrong")
def _(program):
    program.reduced = lambda parts: parts[..., 0]


@fault("draws with the variance", "deviation-scale-wrong")
def _(program):
    program.drawn = lambda mean, log_std: mean + (2 * log_std).exp() * torch.randn_like(mean)


@fault("scores with the variance in both passes", "deviation-scale-wrong")
def _(program):
    program.parts = lambda action, mean, log_std: (
        -0.5 * ((action - mean) / (2 * log_std).exp()) ** 2 - 2 * log_std - 0.5 * LOG_TAU
    )


@fault("clipped action scored by the update", "clipped-action-stored")
def _(program):
    program.stored = lambda action: action.clamp(-1, 1)


@fault("clipped action scored when acting", "clipped-action-stored")
def _(program):
    wrap(program, "acting_logp", lambda own, action, mean, log_std: own(action.clamp(-1, 1), mean, log_std))


@fault(
    "squashed action scored by the update",
    "clipped-action-stored",
    "squash-correction-wrong",
    squash=True,
    corrected=False,
)
def _(program):
    wrap(program, "update_logp", lambda own, action, mean, log_std: own(TORQUE * action.tanh(), mean, log_std))


@fault("scaled action scored by the update", "clipped-action-stored", scale=True)
def _(program):
    wrap(program, "update_logp", lambda own, action, mean, log_std: own(TORQUE * action, mean, log_std))


def annealed(change):
    """The deviation follows a schedule that nobody bounds."""

    def put(program):
        own, begun = program.actor.forward, []
        wrap(program, "collect", lambda collect: (begun.append(1), collect())[1])

        def forward(obs):
            mean, log_std = own(obs)
            return mean, change(log_std, len(begun) - 1)

        program.actor.forward = forward

    return put


invalid = "deviation-invalid"
fault("deviation annealed below 0", invalid, iterations=14)(
    annealed(lambda log_std, age: (log_std.exp() - 0.08 * age).log())
)
fault("deviation annealed to nothing", invalid, iterations=14)(annealed(lambda log_std, age: log_std - 3.0 * age))


@fault("entropy of the deviation for its logarithm", "entropy-of-another-distribution")
def _(program):
    program.entropy = lambda mean, log_std: (0.5 + 0.5 * LOG_TAU + log_std.exp()).sum(-1)


@fault("entropy of the variance", "entropy-of-another-distribution")
def _(program):
    program.entropy = lambda mean, log_std: (0.5 + 0.5 * LOG_TAU + 2 * log_std).sum(-1)


@fault("entropy of one dimension", "entropy-of-another-distribution")
def _(program):
    program.entropy = lambda mean, log_std: 0.5 + 0.5 * LOG_TAU + log_std[..., 0]


@fault("entropy of unit deviation", "entropy-of-another-distribution")
def _(program):
    program.entropy = lambda mean, log_std: DIMENSIONS * (0.5 + 0.5 * LOG_TAU) + 0 * log_std.sum(-1)


# - the gradient of means and deviations -

EITHER = {"": {}, ", deviations of the state": {"depends": True}}

for more, needs in EITHER.items():

    @fault(f"gradients never cleared{more}", "gradients-accumulate", **needs)
    def _(program):
        program.optimizer.zero_grad = lambda: None

    @fault(f"loss summed{more}", "loss-summed", **needs)
    def _(program):
        wrap(program, "policy_loss", lambda own, new, old, advantage: own(new, old, advantage) * len(new))

    @fault(f"larger for smaller in the loss{more}", "loss-formula-differs", epochs=10, **needs)
    def _(program):
        def policy_loss(new, old, advantage):
            ratio = (new - old).exp()
            return -torch.max(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()

        program.policy_loss = policy_loss

    @fault(f"every ratio with every advantage{more}", "broadcast-mismatch", **needs)
    def _(program):
        wrap(program, "policy_loss", lambda own, new, old, advantage: own(new[:, None], old[:, None], advantage))

    @fault(f"every new log-probability against every old one{more}", "broadcast-mismatch", **needs)
    def _(program):
        wrap(program, "policy_loss", lambda own, new, old, advantage: own(new[:, None], old, advantage))

    @fault(f"loss against the advantage{more}", "advantage-sign-flipped", **needs)
    def _(program):
        wrap(program, "policy_loss", lambda own, new, old, advantage: -own(new, old, advantage))

    @fault(f"policy loss detached{more}", "policy-detached", **needs)
    def _(program):
        program.loss = lambda policy_loss, value_loss, entropy: (
            policy_loss.detach() + VALUE * value_loss - program.options.bonus * entropy.mean()
        )

    @fault(f"entropy minimised{more}", "entropy-sign-flipped", bonus=0.05, **needs)
    def _(program):
        program.loss = lambda policy_loss, value_loss, entropy: (
            policy_loss + VALUE * value_loss + program.options.bonus * entropy.mean()
        )


@fault("means detached", "policy-detached")
def _(program):
    wrap(program, "update_logp", lambda own, action, mean, log_std: own(action, mean.detach(), log_std))


@fault("rows that only reset an environment", "phantom-steps", limit=8)
def _(program):
    """As Gymnasium 1.x does: a step after an end takes no action and pays nothing, and its row shows the old episode's last state."""
    game, waiting, last = program.game, np.zeros(program.options.envs, bool), program.game.observe()

    def step(own, torque):
        nonlocal waiting, last
        resets, waiting = waiting, np.zeros_like(waiting)
        kept = {name: getattr(game, name).copy() for name in ("angle", "speed", "age")}
        reward, terminated, truncated, final = own(torque)
        for name, before in kept.items():
            getattr(game, name)[resets] = before[resets]
        reward[resets], terminated[resets], truncated[resets] = 0.0, False, False
        last = np.where(resets[:, None], game.observe(), final)
        waiting = terminated | truncated
        return reward, terminated, truncated, last

    wrap(game, "observe", lambda own: np.where(waiting[:, None], last, own()))
    wrap(game, "step", step)
