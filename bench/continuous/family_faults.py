"""Faults for the programs with beta distributions and with several categoricals, each put in from outside by replacing one method of a `Program`."""

from continuous import VALUE
from fault import fault, wrap
from ppo_faults import reduced, scored
from torch.distributions import Beta

several, entropy = "dimensions-reduced-wrong", "entropy-of-another-distribution"

for name in ("beta", "choices"):
    own = {"program": name}
    for side in ("acting", "update"):
        fault(f"mean over dimensions in the {side} pass", several, **own)(
            scored(side, reduced(lambda parts: parts.mean(-1)))
        )
        fault(f"first dimension in the {side} pass", several, **own)(scored(side, reduced(lambda parts: parts[..., 0])))

    @fault("mean over dimensions in both passes", several, **own)
    def _(program):
        program.reduced = lambda parts: parts.mean(-1)

    @fault("one dimension in both passes", several, **own)
    def _(program):
        program.reduced = lambda parts: parts[..., -1]

    @fault("gradients never cleared", "gradients-accumulate", **own)
    def _(program):
        program.optimizer.zero_grad = lambda: None

    @fault("policy loss detached", "policy-detached", **own)
    def _(program):
        program.loss = lambda policy_loss, value_loss, entropy: (
            policy_loss.detach() + VALUE * value_loss - program.options.bonus * entropy.mean()
        )


@fault("scaled action scored by the update", "clipped-action-stored", program="beta")
def _(program):
    # Between 0 and 1 still, as the environment takes it.
    program.given = lambda action: 0.25 + 0.5 * action
    wrap(program, "update_logp", lambda own, action, first, second: own(program.given(action), first, second))


@fault("entropy of one dimension", entropy, program="beta")
def _(program):
    program.entropy = lambda first, second: Beta(first, second).entropy()[..., 0]


@fault("entropy of one dimension", entropy, program="choices")
def _(program):
    program.entropy = lambda logits, choices: -(program.logps(logits)[0].exp() * program.logps(logits)[0]).sum(-1)


@fault("entropy minimised", "entropy-sign-flipped", program="choices", bonus=0.1)
def _(program):
    program.loss = lambda policy_loss, value_loss, entropy: (
        policy_loss + VALUE * value_loss + program.options.bonus * entropy.mean()
    )


@fault("every ratio with every advantage", "broadcast-mismatch", program="choices")
def _(program):
    wrap(program, "policy_loss", lambda own, new, old, advantage: own(new[:, None], old[:, None], advantage))
