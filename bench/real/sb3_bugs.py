"""Bugs for Stable-Baselines3, put into a model from outside: a line of `train` exchanged, a method of the buffer wrapped, a layer changed.

The one thing to get wrong: the causes listed are those that are *right*, not those that the doctor happens to say.
"""

from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import torch
from patching import after, before, replace_line


class Bug(NamedTuple):
    causes: Tuple[str, ...]
    put: Callable[[Any], None]
    where: str = "any"  # any table with single choices, or: continuous, masked, several (choices at once), cut (episodes that a time limit ends)
    settings: Dict[str, Any] = {}


BUGS: Dict[str, Bug] = {}


def bug(name, *causes, where="any", **settings):
    def keep(put):
        BUGS[name] = Bug(causes, put, where, settings)
        return put

    return keep


def line(name, causes, old, new, where="any", method="train", **settings):
    """A bug that is one exchanged piece of a method of the model."""
    BUGS[name] = Bug(causes, lambda model: replace_line(model, method, old, new), where, settings)


def credit(name, causes, old, new, where="any", **settings):
    """Likewise in the buffer's credit pass."""
    BUGS[name] = Bug(causes, lambda model: replace_line(model.rollout_buffer, "compute_returns_and_advantage", old, new), where, settings)


# - the loss -
POLICY = "policy_loss = -th.min(policy_loss_1, policy_loss_2).mean()"
WHOLE = "loss = policy_loss + self.ent_coef * entropy_loss + self.vf_coef * value_loss"
NORMAL = "advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)"
RATIO = "ratio = th.exp(log_prob - rollout_data.old_log_prob)"
line("loss-sum", ("loss-summed",), POLICY, POLICY.replace(".mean()", ".sum()"))
line("maximum for minimum", ("loss-formula-differs",), POLICY, POLICY.replace("th.min", "th.max"))
line("clipped term alone", ("loss-formula-differs",), POLICY, "policy_loss = -policy_loss_2.mean()", learning_rate=3e-3)
line("ascent for descent", ("advantage-sign-flipped",), POLICY, POLICY.replace("-th.min", "th.min"))
line("inverse ratio", ("loss-formula-differs", "advantage-sign-flipped"), RATIO, "ratio = th.exp(rollout_data.old_log_prob - log_prob)")
line("clip at half", ("loss-formula-differs",), "1 - clip_range, 1 + clip_range)", "1 - clip_range, 1.0)")
line("entropy added", ("entropy-sign-flipped",), WHOLE, WHOLE.replace("+ self.ent_coef", "- self.ent_coef"), ent_coef=0.02)
line("policy loss forgotten", ("policy-detached",), WHOLE, "loss = self.ent_coef * entropy_loss + self.vf_coef * value_loss")
line("ratio of itself", ("old-logp-recomputed",), RATIO, "rollout_data = rollout_data._replace(old_log_prob=log_prob.detach()); " + RATIO)
line("spread multiplied", ("advantage-not-normalised",), NORMAL, "advantages = (advantages - advantages.mean()) * (advantages.std() + 1e-8)")
line("normalisation undone", ("advantage-not-normalised",), NORMAL, "advantages = 50.0 * advantages")
line("minibatch shuffled again", ("advantage-shuffled",), NORMAL, NORMAL + "; advantages = advantages[th.randperm(len(advantages))]")
line("minibatch upside down", ("advantage-shuffled",), NORMAL, NORMAL + "; advantages = advantages.flip(0)")
line("one advantage for all", ("advantage-degenerate",), NORMAL, "advantages = th.ones_like(advantages) * advantages.mean()")
line("mean by action", ("advantage-group-demeaned",), NORMAL, "advantages = advantages - th.stack([advantages[actions == a].mean() for a in actions]); " + NORMAL)
line("logarithm of zero", ("non-finite",), "value_losses.append(value_loss.item())", "policy_loss = policy_loss * (0.0 / (th.zeros(()) if epoch > 1 else th.ones(()))) if epoch > 1 else policy_loss")
line("loss divided away", ("learning-rate-too-small",), WHOLE, WHOLE + "; loss = loss * 1e-12")
line("returns for advantages", ("credit-formula-differs", "return-inconsistent", "value-scale-mismatch"), "advantages = rollout_data.advantages", "advantages = rollout_data.returns")
line("probabilities for log-probabilities", ("loss-formula-differs",), RATIO, "ratio = 1 + (th.exp(log_prob) - th.exp(rollout_data.old_log_prob))")
line("advantages sorted", ("advantage-shuffled",), NORMAL, NORMAL + "; advantages = th.sort(advantages)[0]")
line("gradients never cleared", ("gradients-accumulate",), "self.policy.optimizer.zero_grad()", "pass")
line("gradients never cleared, continuous", ("gradients-accumulate",), "self.policy.optimizer.zero_grad()", "pass", where="continuous")

# - the credit pass -
credit("mean reward taken off", ("credit-formula-differs",), "delta = self.rewards[step]", "delta = self.rewards[step] - self.rewards.mean()", where="cut")
credit("lambda twice", ("credit-formula-differs",), "self.gamma * self.gae_lambda *", "self.gamma * self.gae_lambda * self.gae_lambda *", gae_lambda=0.9)
credit("gamma forgotten in the bootstrap", ("credit-formula-differs",), "self.gamma * next_values", "1.0 * next_values", gamma=0.9)
credit("value not subtracted", ("credit-formula-differs",), "- self.values[step]", "")
credit("half the reward", ("credit-formula-differs",), "delta = self.rewards[step]", "delta = 0.5 * self.rewards[step]")
credit("nothing beyond the rollout", ("truncation-treated-as-termination",), "next_values = last_values", "next_values = 0.0 * last_values", n_steps=16)
credit("ends of the row itself", ("done-time-shifted",), "1.0 - self.episode_starts[step + 1]", "1.0 - self.episode_starts[step]", where="cut")
credit("no end at all", ("return-crosses-episodes",), "1.0 - self.episode_starts[step + 1]", "1.0", where="cut")
credit("trace through ends", ("return-crosses-episodes",), "self.gae_lambda * next_non_terminal * last_gae_lam", "self.gae_lambda * last_gae_lam", where="cut")
credit("value through ends", ("return-crosses-episodes",), "self.gamma * next_values * next_non_terminal", "self.gamma * next_values", where="cut")
credit("two steps on", ("credit-formula-differs",), "next_values = self.values[step + 1]", "next_values = self.values[min(step + 2, self.buffer_size - 1)]")
credit("returns without values", ("return-inconsistent",), "self.returns = self.advantages + self.values", "self.returns = self.advantages.copy()")
credit("returns one step late", ("return-inconsistent", "critic-context-misaligned"), "self.returns = self.advantages + self.values", "self.returns = np.roll(self.advantages + self.values, 1, 0)")


def buffer_after(name, *causes, where="any", **settings):
    """A bug that changes the buffer when its credit pass is over."""

    def keep(change):
        BUGS[name] = Bug(causes, lambda model: after(model.rollout_buffer, "compute_returns_and_advantage", lambda _: change(model.rollout_buffer)), where, settings)
        return change

    return keep


@buffer_after("credit of the next environment", "advantage-shuffled")
def _(b):
    b.advantages = np.roll(b.advantages, 1, 1)


@buffer_after("credit of the step before", "advantage-time-shifted")
def _(b):
    b.advantages = np.roll(b.advantages, 1, 0)


@buffer_after("credit of the step after next", "advantage-time-shifted")
def _(b):
    b.advantages = np.roll(b.advantages, -2, 0)


@buffer_after("credit backwards", "advantage-shuffled")
def _(b):
    b.advantages = b.advantages[::-1].copy()


@buffer_after("credit negated", "advantage-sign-flipped")
def _(b):
    b.advantages = -b.advantages


@buffer_after("credit emptied", "advantage-degenerate", normalize_advantage=False)
def _(b):
    b.advantages = np.zeros_like(b.advantages)


@buffer_after("credit not turned", "advantage-shuffled")
def _(b):
    steps, envs = b.advantages.shape
    b.advantages = b.advantages.reshape(-1).reshape(envs, steps).T.copy()


@buffer_after("returns not turned", "return-inconsistent", "critic-context-misaligned")
def _(b):
    steps, envs = b.returns.shape
    b.returns = b.returns.reshape(-1).reshape(envs, steps).T.copy()


@buffer_after("log-probabilities not turned", "old-logp-wrong")
def _(b):
    steps, envs = b.log_probs.shape
    b.log_probs = b.log_probs.reshape(-1).reshape(envs, steps).T.copy()


@buffer_after("observations not turned", "inputs-differ")
def _(b):
    steps, envs = b.observations.shape[:2]
    rest = b.observations.shape[2:]
    b.observations = np.swapaxes(b.observations.reshape((envs, steps) + rest), 0, 1).copy()


@buffer_after("log-probabilities of one digit", "old-logp-wrong")
def _(b):
    b.log_probs = np.round(b.log_probs, 1)


@buffer_after("returns in units of their spread", "value-scale-mismatch", "return-inconsistent")
def _(b):
    b.returns = (b.returns - b.returns.mean()) / (b.returns.std() + 1e-8)


@buffer_after("log-probabilities of the step before", "old-logp-wrong")
def _(b):
    b.log_probs = np.roll(b.log_probs, 1, 0)


def added(name, *causes, where="any", **settings):
    """A bug in what is put into the buffer: (obs, action, reward, start, value, logp) with the model, changed."""

    def keep(change):
        def put(model):
            held = {}
            before(model.rollout_buffer, "add", lambda *row, **more: None if more else change(model, held, *row))

        BUGS[name] = Bug(causes, put, where, settings)
        return change

    return keep


@added("rewards of the step before", "reward-time-shifted")
def _(model, held, obs, action, reward, start, value, logp):
    late, held["reward"] = held.get("reward", np.zeros_like(reward)), reward
    return obs, action, late, start, value, logp


@added("log-probabilities zero", "old-logp-wrong")
def _(model, held, obs, action, reward, start, value, logp):
    return obs, action, reward, start, value, torch.zeros_like(logp)


@added("log-probabilities of the likeliest action", "old-logp-wrong")
def _(model, held, obs, action, reward, start, value, logp):
    with torch.no_grad():
        choice = model.policy.get_distribution(model.policy.obs_to_tensor(obs)[0])
        return obs, action, reward, start, value, choice.log_prob(choice.mode())


@added("values of the step before", "critic-context-misaligned")
def _(model, held, obs, action, reward, start, value, logp):
    late, held["value"] = held.get("value", value), value
    return obs, action, reward, start, late, logp


@added("time limits end", "truncation-treated-as-termination", where="cut")
def _(model, held, obs, action, reward, start, value, logp):
    plain = model.env.buf_rews if hasattr(model.env, "buf_rews") else None
    return obs, action, reward if plain is None else plain.copy(), start, value, logp


@added("rewards doubled", "credit-formula-differs")
def _(model, held, obs, action, reward, start, value, logp):
    return obs, action, 2 * reward, start, value, logp


@added("actions clipped before storage", "clipped-action-stored", "old-logp-wrong", where="continuous")
def _(model, held, obs, action, reward, start, value, logp):
    return obs, np.clip(action, -0.3, 0.3), reward, start, value, logp


# - the network and its optimiser -
@bug("head made anew", "head-unbound")
def _(model):
    old = model.policy.action_net
    model.policy.action_net = type(old)(old.in_features, old.out_features)


@bug("actor made anew", "optimizer-unbound")
def _(model):
    for owner, name in ((model.policy.mlp_extractor, "policy_net"), (model.policy, "action_net")):
        part = getattr(owner, name)
        layers = part if isinstance(part, torch.nn.Sequential) else [part]
        fresh = [torch.nn.Linear(x.in_features, x.out_features) if isinstance(x, torch.nn.Linear) else x for x in layers]
        setattr(owner, name, torch.nn.Sequential(*fresh) if isinstance(part, torch.nn.Sequential) else fresh[0])


@bug("log-probabilities without gradients", "policy-detached")
def _(model):
    after(model.policy, "evaluate_actions", lambda found: (found[0], found[1].detach(), found[2]))


@bug("critic's optimiser alone", "optimizer-unbound", ent_coef=0.01)
def _(model):
    critic = [p for n, p in model.policy.named_parameters() if "value_net" in n]
    model.policy.optimizer = torch.optim.Adam(critic, lr=3e-4)


@bug("dropout while learning", "stochastic-forward")
def _(model):
    model.policy.mlp_extractor.policy_net.append(torch.nn.Dropout(0.2))


@bug("noise on the observations while learning", "stochastic-forward", "inputs-differ", where="cut")  # not where a state is a number of many
def _(model):
    before(model.policy, "evaluate_actions", lambda obs, actions, **k: (obs + 0.3 * torch.randn_like(obs.float()), actions))


@bug("observations scaled while learning", "inputs-differ")
def _(model):
    before(model.policy, "evaluate_actions", lambda obs, actions, **k: (obs / 10, actions))


@bug("cooler while acting", "temperature-mismatch")
def _(model):
    model.policy.action_net.register_forward_hook(lambda module, inputs, out: out if module.training else 3 * out)
    torch.nn.init.normal_(model.policy.action_net.weight, 0, 0.3)


@bug("first weights again", "parameters-overwritten")
def _(model):
    first = {name: value.clone() for name, value in model.policy.state_dict().items()}
    before(model, "collect_rollouts", lambda *a, **k: (model.policy.load_state_dict(first), None)[1])


@bug("head drawn again", "parameters-overwritten")
def _(model):
    before(model, "collect_rollouts", lambda *a, **k: torch.nn.init.normal_(model.policy.action_net.weight, 0, 0.1) is None or None)


@bug("rollout of the update before", "stale-samples")
def _(model):
    late = {}

    def earlier(_):
        """The rows are in place and have their credit; the update gets those of the rollout before."""
        now = {name: getattr(model.rollout_buffer, name).copy() for name in ("observations", "actions", "values", "log_probs", "advantages", "returns")}
        for name, column in list(late.items()):
            setattr(model.rollout_buffer, name, column)
        late.update(now)

    before(model, "train", lambda: earlier(None))


for _name, _causes, _settings in (
    ("rate of a billionth", ("learning-rate-too-small",), dict(learning_rate=1e-9)),
    ("rate of nothing", ("learning-rate-too-small",), dict(learning_rate=0.0)),
    ("rate of a half", ("learning-rate-too-large",), dict(learning_rate=0.5)),
    ("negative entropy coefficient", ("entropy-sign-flipped",), dict(ent_coef=-0.05)),
    ("entropy coefficient of 10", ("entropy-bonus-dominates",), dict(ent_coef=10.0)),
    ("heavy decay", ("weight-decay-pull",), dict(optimizer=(torch.optim.AdamW, dict(weight_decay=300.0)))),
    ("kl limit of a millionth", ("kl-guard-too-tight",), dict(target_kl=1e-7)),
):
    BUGS[_name] = Bug(_causes, lambda model: None, "any", _settings)


@bug("masks forgotten while learning", "mask-not-replayed", where="masked")
def _(model):
    original = model.policy.evaluate_actions
    model.policy.evaluate_actions = lambda obs, actions, action_masks=None: original(obs, actions)


@bug("raw observations while learning", "inputs-differ", where="cut", normalize=True)
def _(model):
    buffer = model.rollout_buffer

    def raw(_):
        buffer.observations = model.env.unnormalize_obs(buffer.observations).astype(np.float32)

    after(buffer, "compute_returns_and_advantage", raw)


@bug("masks turned around while learning", "mask-not-replayed", where="masked")
def _(model):
    before(model.rollout_buffer, "get", lambda *a, **k: setattr(model.rollout_buffer, "action_masks", 1 - model.rollout_buffer.action_masks))


@bug("masks of the step before", "mask-not-replayed", where="masked")
def _(model):
    buffer = model.rollout_buffer

    def roll(_):
        buffer.action_masks = np.roll(buffer.action_masks, 1, 0)

    after(buffer, "compute_returns_and_advantage", roll)


@bug("scores squashed", "policy-head-flat")
def _(model):
    model.policy.action_net.register_forward_hook(lambda module, inputs, out: 1e-4 * torch.tanh(out))


@bug("log-probability of the first choice alone while learning", "dimensions-reduced-wrong", where="several")
def _(model):
    dist = model.policy.action_dist
    original = dist.log_prob
    dist.log_prob = lambda actions: dist.distribution[0].log_prob(actions[:, 0]) if model.policy.training else original(actions)


line("entropy without gradients", ("loss-formula-differs",), "entropy_loss = -th.mean(entropy)", "entropy_loss = -th.mean(entropy).detach()", ent_coef=0.05)
line("final value not discounted", ("credit-formula-differs",), "rewards[idx] += self.gamma * terminal_value", "rewards[idx] += terminal_value", where="cut", method="collect_rollouts", gamma=0.9)
line("final state not normalised", ("inputs-differ", "critic-context-misaligned", "final-observation-lost"), 'self.policy.obs_to_tensor(infos[idx]["terminal_observation"])', 'self.policy.obs_to_tensor(env.unnormalize_obs(infos[idx]["terminal_observation"]))', where="cut", method="collect_rollouts", normalize=True)
