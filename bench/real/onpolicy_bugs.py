"""Bugs for on-policy, put into a runner from outside: pieces of its methods exchanged on one object, or an object of it changed.

The one thing to get wrong: the causes listed are those that are *right*, decided before the first run, not those that the doctor happens to say.
"""

import copy
from typing import Any, Callable, Dict, NamedTuple, Tuple

import torch
from patching import after, replace_line


class Bug(NamedTuple):
    causes: Tuple[str, ...]
    put: Callable[[Any], None]
    settings: Dict[str, Any]


BUGS: Dict[str, Bug] = {}
#: Agents that see and are paid differently.
IPPO = dict(algorithm="ippo", use_recurrent_policy=False)
MEMORY = dict(algorithm="rmappo", length=8)
SKIRMISH = dict(skirmish=True)
SEPARATED = dict(separated=True)


def bug(name, *causes, **settings):
    def keep(put):
        BUGS[name] = Bug(causes, put, settings)
        return put

    return keep


def parts(runner, name):
    """The trainers, buffers or policies, be they shared or separated."""
    found = getattr(runner, name)
    return found if isinstance(found, list) else [found]


def lines(name, causes, where, method, *pieces, **settings):
    """A bug that is some exchanged pieces of one method, of every trainer or buffer."""

    def put(runner):
        for owner in [runner] if where == "runner" else parts(runner, where):
            for old, new in pieces:
                replace_line(owner, method, old, new)

    BUGS[name] = Bug(causes, put, settings)


# - the rollout -
lines("reward of the step before", ("reward-time-shifted",), "buffer", "insert", ("self.rewards[self.step] =", "self.rewards[(self.step + 1) % self.episode_length] ="), **SKIRMISH)
lines("log-probabilities of the first rollout", ("old-logp-wrong",), "buffer", "insert", ("self.action_log_probs[self.step] = action_log_probs.copy()", "self.action_log_probs[self.step] = self.action_log_probs[self.step] if self.action_log_probs[self.step].any() else action_log_probs"), lr=5e-3)
lines("actions of the agent beside", ("old-logp-wrong",), "buffer", "insert", ("self.actions[self.step] = actions.copy()", "self.actions[self.step] = np.roll(actions, 1, 1)"), gain=1.0)
lines("values of the step before", ("critic-context-misaligned",), "buffer", "insert", ("self.value_preds[self.step] = value_preds.copy()", "self.value_preds[min(self.step + 1, self.episode_length - 1)] = value_preds.copy()"), use_valuenorm=False, **IPPO)

# - the credit pass -
lines("ends a step early", ("done-time-shifted",), "buffer", "compute_returns", ("self.masks[step + 1]", "self.masks[min(step + 2, len(self.masks) - 1)]"), length=7)
lines("ends of the row itself", ("done-time-shifted",), "buffer", "compute_returns", ("self.masks[step + 1]", "self.masks[step]"), length=7)
lines("ends forgotten", ("return-crosses-episodes",), "buffer", "compute_returns", ("self.masks[step + 1]", "1.0"), length=7, separated=True)
lines("lambda forgotten", ("credit-formula-differs",), "buffer", "compute_returns", ("self.gamma * self.gae_lambda", "self.gamma"))
lines("reward beyond the end", ("credit-formula-differs",), "buffer", "compute_returns", ("delta = self.rewards[step] +", "delta = self.rewards[step] * self.gamma +"), gamma=0.9)


@bug("another discount than declared", "credit-formula-differs", **SEPARATED)
def _(runner):
    for buffer in runner.buffer:
        buffer.gamma = 0.9


# - the batch -
TRAINED = "advantages = (advantages - mean_advantages) / (std_advantages + 1e-5)"
lines("no normalisation, and fifty times", ("advantage-not-normalised",), "trainer", "train", (TRAINED, "advantages = 50.0 * advantages"))
lines("advantages of the agent beside", ("advantage-agent-swapped",), "trainer", "train", (TRAINED, TRAINED + "; advantages = np.roll(advantages, 1, 2)"), **SKIRMISH)
lines("advantages of the step before", ("advantage-time-shifted",), "trainer", "train", (TRAINED, TRAINED + "; advantages = np.roll(advantages, 1, 0)"), **SEPARATED)
lines("sum of nothing", ("non-finite",), "trainer", "train", (TRAINED, "advantages = (advantages - mean_advantages) / (0.0 * std_advantages)"))
lines("advantages laid out otherwise", ("advantage-shuffled",), "buffer", "recurrent_generator", ("advantages = _cast(advantages)", "advantages = advantages.reshape(-1, 1)"), **MEMORY)
lines("log-probabilities laid out otherwise", ("old-logp-wrong",), "buffer", "recurrent_generator", ("action_log_probs = _cast(self.action_log_probs)", "action_log_probs = self.action_log_probs.reshape(-1, 1)"), gain=1.0, **MEMORY)
lines("memories laid out otherwise", ("recurrent-state-not-replayed",), "buffer", "recurrent_generator", ("rnn_states = self.rnn_states[:-1].transpose(1, 2, 0, 3, 4)", "rnn_states = self.rnn_states[:-1]"), gain=1.0, **MEMORY)
lines("memory not cut at ends", ("recurrent-state-not-reset",), "trainer", "ppo_update", ("masks_batch, \n", "np.ones_like(masks_batch), \n"), gain=1.0, **MEMORY)
lines("masks of the step after", ("mask-not-replayed",), "buffer", "feed_forward_generator", ("self.available_actions[:-1].reshape", "self.available_actions[1:].reshape"), gain=1.0, **SKIRMISH)
lines("masks forgotten in the update", ("mask-not-replayed",), "trainer", "ppo_update", ("available_actions_batch,\n", "None,\n"), **SKIRMISH)

# - the loss -
SURROGATE = "torch.clamp(imp_weights, 1.0 - self.clip_param, 1.0 + self.clip_param) * adv_targ"
CHECKED = "adv_targ = check(adv_targ).to(**self.tpdv)"
RATIO = "imp_weights = torch.exp(action_log_probs - old_action_log_probs_batch)"
BACKWARD = "(policy_loss - dist_entropy * self.entropy_coef).backward()"
lines("upside down", ("advantage-sign-flipped",), "trainer", "ppo_update", ("policy_loss = policy_action_loss", "policy_loss = -policy_action_loss"))
lines("maximum for minimum", ("loss-formula-differs",), "trainer", "ppo_update", ("torch.min(surr1, surr2)", "torch.max(surr1, surr2)"), lr=5e-3)
lines("clip around the product", ("loss-formula-differs",), "trainer", "ppo_update", (SURROGATE, "torch.clamp(imp_weights * adv_targ, 1.0 - self.clip_param, 1.0 + self.clip_param)"))
lines("added up", ("loss-summed",), "trainer", "ppo_update", ("keepdim=True).mean()", "keepdim=True).sum()"), use_policy_active_masks=False)
lines("ratio to itself", ("old-logp-recomputed",), "trainer", "ppo_update", (RATIO, "old_action_log_probs_batch = action_log_probs.detach(); " + RATIO))
lines("advantages without sign", ("advantage-degenerate",), "trainer", "ppo_update", (CHECKED, CHECKED + ".abs() + 1"))
lines("advantages shuffled once more", ("advantage-shuffled",), "trainer", "ppo_update", (CHECKED, CHECKED + "; adv_targ = adv_targ[torch.randperm(len(adv_targ))]"), **SEPARATED)
lines("entropy minimised", ("entropy-sign-flipped",), "trainer", "ppo_update", (BACKWARD, BACKWARD.replace("policy_loss -", "policy_loss +")), entropy_coef=0.1)
lines("actor never trained", ("policy-detached",), "trainer", "ppo_update", ("if update_actor:", "if False:"))
lines("ratio without gradient", ("policy-detached",), "trainer", "ppo_update", (RATIO, "imp_weights = torch.exp(action_log_probs - old_action_log_probs_batch).detach()"), **SEPARATED)



# - optimiser and network -
@bug("optimiser of a copied actor", "optimizer-unbound")
def _(runner):
    runner.policy.actor_optimizer = torch.optim.Adam(copy.deepcopy(runner.policy.actor).parameters(), lr=7e-4)


@bug("last layer after the optimiser", "head-unbound", **SEPARATED)
def _(runner):
    for policy in runner.policy:
        out = policy.actor.act.action_out
        out.linear = torch.nn.Linear(out.linear.in_features, out.linear.out_features)


@bug("first weights again", "parameters-overwritten")
def _(runner):
    first = {name: value.clone() for name, value in runner.policy.actor.state_dict().items()}
    after(runner, "train", lambda result: runner.policy.actor.load_state_dict(first) and None)


@bug("dropout while learning", "stochastic-forward", gain=1.0)
def _(runner):
    runner.policy.actor.base.mlp.fc1.append(torch.nn.Dropout(0.3))


@bug("cooler while learning", "temperature-mismatch", gain=1.0)
def _(runner):
    replace_line(runner.policy.actor.act.action_out, "forward", "return FixedCategorical(logits=x)", "return FixedCategorical(logits=x * 3 if self.training else x)")


@bug("scores squeezed", "policy-head-flat")
def _(runner):
    runner.policy.actor.act.action_out.linear.register_forward_hook(lambda module, inputs, out: 1e-4 * torch.tanh(out))


for _name, _causes, _settings in (
    ("rate of a billionth", ("learning-rate-too-small",), dict(lr=1e-10)),
    ("gradients clipped to nothing", ("learning-rate-too-small",), dict(max_grad_norm=1e-12)),
    ("rate of a quarter", ("learning-rate-too-large",), dict(lr=0.25)),
    ("entropy coefficient of 10", ("entropy-bonus-dominates",), dict(entropy_coef=10.0)),
    ("decay inside the gradient", ("weight-decay-pull",), dict(weight_decay=30.0)),
    # on-policy's own: its separated buffer stacks chunks along the first axis, and its memory runs over them as if along the second.
    ("separated with memory, as it is", ("sequences-shuffled",), dict(separated=True, algorithm="rmappo", gain=1.0)),
):
    BUGS[_name] = Bug(_causes, lambda runner: None, _settings)

CLIPPED = "value_pred_clipped = value_preds_batch +"
lines("old values in units of the returns in the value clip", ("value-scale-mismatch",), "trainer", "cal_value_loss", (CLIPPED, "value_preds_batch = torch.as_tensor(self.value_normalizer.denormalize(value_preds_batch)); " + CLIPPED))
