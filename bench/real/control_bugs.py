"""Bugs for what Stable-Baselines3 and sb3-contrib train on continuous actions, with memory, and from replay buffers: put into a model from outside.

The one thing to get wrong: the causes listed are those that are *right*, decided before the first run, not those that the doctor happens to say.
"""

from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import torch
from patching import after, before, replace_line


class Bug(NamedTuple):
    causes: Tuple[str, ...]
    put: Callable[[Any], None]
    algorithm: str
    settings: Dict[str, Any]


BUGS: Dict[str, Bug] = {}


def bug(name, algorithm, *causes, **settings):
    def keep(put):
        BUGS[name] = Bug(causes, put, algorithm, settings)
        return put

    return keep


def line(name, algorithm, causes, old, new, method="train", **settings):
    """A bug that is one exchanged piece of a method of the model."""
    BUGS[name] = Bug(causes, lambda model: replace_line(model, method, old, new), algorithm, settings)


def credit(name, algorithm, causes, old, new, **settings):
    """Likewise in the rollout buffer's credit pass."""
    BUGS[name] = Bug(causes, lambda model: replace_line(model.rollout_buffer, "compute_returns_and_advantage", old, new), algorithm, settings)


def stored(name, algorithm, *causes, **settings):
    """A bug in what is put into the replay buffer: (obs, next_obs, action, reward, done, infos), changed."""

    def keep(change):
        def put(model):
            held = {}
            before(model.replay_buffer, "add", lambda *row: change(model, held, *row))

        BUGS[name] = Bug(causes, put, algorithm, settings)
        return change

    return keep


# - rollouts with continuous actions -
@bug("log-probabilities averaged over joints while learning", "PPO", "dimensions-reduced-wrong")
def _(model):
    count = model.action_space.shape[0]
    original = model.policy.evaluate_actions

    def evaluated(obs, actions):
        values, logp, entropy = original(obs, actions)
        return values, logp / count, entropy

    model.policy.evaluate_actions = evaluated


@bug("actions cut to their bounds before they are stored", "PPO", "clipped-action-stored", policy_kwargs=dict(log_std_init=0.0))
def _(model):
    before(model.rollout_buffer, "add", lambda obs, action, *rest: (obs, np.clip(action, model.action_space.low, model.action_space.high), *rest))


@bug("variance for deviation while learning", "PPO", "deviation-scale-wrong", policy_kwargs=dict(log_std_init=-0.5))
def _(model):
    dist = model.policy.action_dist
    original = dist.proba_distribution
    dist.proba_distribution = lambda mean, log_std: original(mean, 2 * log_std if model.policy.training else log_std)


@bug("entropy of the variance", "PPO", "entropy-of-another-distribution", ent_coef=0.01, policy_kwargs=dict(log_std_init=-0.5))
def _(model):
    original = model.policy.evaluate_actions

    def evaluated(obs, actions):
        values, logp, entropy = original(obs, actions)
        return values, logp, entropy + model.policy.log_std.sum()

    model.policy.evaluate_actions = evaluated


@bug("statistics of the whole rollout while learning", "PPO", "normaliser-drifts", "inputs-differ", normalize=True)
def _(model):
    buffer, env = model.rollout_buffer, model.env
    raw = []
    after(env, "step_wait", lambda result: raw.append(env.get_original_obs()) and None)

    def again(_):
        rows = np.stack([first[0], *raw[: buffer.buffer_size - 1]])
        buffer.observations = env.normalize_obs(rows).astype(np.float32)
        first[0] = raw[-1]
        raw.clear()

    first = [None]
    after(env, "reset", lambda result: first.__setitem__(0, env.get_original_obs()))
    after(buffer, "compute_returns_and_advantage", again)


line("loss added up over the minibatch", "PPO", ("loss-summed",), "policy_loss = -th.min(policy_loss_1, policy_loss_2).mean()", "policy_loss = -th.min(policy_loss_1, policy_loss_2).sum()")


@bug("deviation left out of the optimiser", "PPO", "optimizer-unbound", "head-unbound")
def _(model):
    policy = model.policy
    policy.optimizer = torch.optim.Adam([p for name, p in policy.named_parameters() if name != "log_std"], lr=3e-4, eps=1e-5)


line("ascent for descent, one step per batch", "A2C", ("advantage-sign-flipped", "loss-formula-differs"), "policy_loss = -(advantages * log_prob).mean()", "policy_loss = (advantages * log_prob).mean()")
line("log-probabilities without gradients, one step per batch", "A2C", ("policy-detached",), "policy_loss = -(advantages * log_prob).mean()", "policy_loss = -(advantages * log_prob.detach()).mean()")
credit("ends forgotten, one step per batch", "A2C", ("return-crosses-episodes",), "1.0 - self.episode_starts[step + 1]", "1.0", n_steps=32, limit=11)

# - memory -


@bug("sequences begin with nothing remembered", "RecurrentPPO", "recurrent-state-not-replayed")
def _(model):
    original = model.policy.evaluate_actions

    def evaluated(obs, actions, lstm_states, episode_starts):
        empty = type(lstm_states)(*(tuple(torch.zeros_like(part) for part in pair) for pair in lstm_states))
        return original(obs, actions, empty, episode_starts)

    model.policy.evaluate_actions = evaluated


@bug("memory kept over ends", "RecurrentPPO", "recurrent-state-not-reset")
def _(model):
    before(model.policy, "forward", lambda obs, states, starts, *rest: (obs, states, torch.zeros_like(starts), *rest))


@bug("memory kept over ends while learning", "RecurrentPPO", "recurrent-state-not-reset")
def _(model):
    before(model.policy, "evaluate_actions", lambda obs, actions, states, starts: (obs, actions, states, torch.zeros_like(starts)))


@bug("states stored after the step", "RecurrentPPO", "recurrent-state-stale")
def _(model):
    original = model.rollout_buffer.add
    late = {}
    after(model.policy, "forward", lambda result: late.update(states=result[-1]))

    def added(*row, lstm_states):
        return original(*row, lstm_states=late["states"])

    model.rollout_buffer.add = added


@bug("states of the environment beside", "RecurrentPPO", "recurrent-state-not-replayed")
def _(model):
    original = model.rollout_buffer.add

    def added(*row, lstm_states):
        rolled = type(lstm_states)(*(tuple(part.roll(1, 1) for part in pair) for pair in lstm_states))
        return original(*row, lstm_states=rolled)

    model.rollout_buffer.add = added


@bug("rows mixed before they become sequences", "RecurrentPPO", "sequences-shuffled")
def _(model):
    replace_line(model.rollout_buffer, "get", "indices = np.concatenate((indices[split_index:], indices[:split_index]))", "indices = np.random.permutation(indices)")


# - replay buffers: choices -
line("ends forgotten in targets", "DQN", ("target-crosses-end",), "replay_data.rewards + (1 - replay_data.dones) * self.gamma", "replay_data.rewards + self.gamma")
line("online network for the target network", "DQN", ("target-network-unused",), "self.q_net_target(replay_data.next_observations)", "self.q_net(replay_data.next_observations)", target_update_interval=200)
line("targets in a row, predictions in a column", "DQN", ("broadcast-mismatch",), "loss = F.smooth_l1_loss(current_q_values, target_q_values)", "loss = F.smooth_l1_loss(current_q_values, target_q_values.reshape(-1))")
line("value of the best choice for that of the stored one", "DQN", ("critic-context-misaligned",), "index=replay_data.actions.long())", "index=current_q_values.argmax(1, keepdim=True))")
line("discount twice", "DQN", ("n-step-off-by-one", "credit-formula-differs"), "* self.gamma * next_q_values", "* self.gamma * self.gamma * next_q_values", gamma=0.95)


@bug("target network never copied", "DQN", "target-network-frozen", target_update_interval=100)
def _(model):
    model._on_step = lambda: None


@stored("reward of the step before in the buffer", "DQN", "reward-time-shifted", table="Recall-v0")
def _(model, held, obs, next_obs, action, reward, done, infos):
    late, held["reward"] = held.get("reward", np.zeros_like(reward)), reward
    return obs, next_obs, action, late, done, infos


# - replay buffers: continuous actions -
ENTROPY = "next_q_values = next_q_values - ent_coef * next_log_prob.reshape(-1, 1)"
line("entropy taken off the targets", "SAC", ("entropy-temperature-sign",), ENTROPY, ENTROPY.replace("- ent_coef", "+ ent_coef"))
line("temperature against the wanted entropy", "SAC", ("entropy-temperature-sign",), "ent_coef_loss = -(self", "ent_coef_loss = (self")
line("greater of both critics", "SAC", ("credit-formula-differs",), "next_q_values, _ = th.min(next_q_values, dim=1, keepdim=True)", "next_q_values, _ = th.max(next_q_values, dim=1, keepdim=True)")
line("actor away from the critic", "SAC", ("advantage-sign-flipped",), "actor_loss = (ent_coef * log_prob - min_qf_pi).mean()", "actor_loss = (ent_coef * log_prob + min_qf_pi).mean()")
line("target network copied the wrong way round", "SAC", ("target-network-unused",), "polyak_update(self.critic.parameters(), self.critic_target.parameters(), self.tau)", "polyak_update(self.critic.parameters(), self.critic_target.parameters(), 1 - self.tau)")


@bug("actor's optimiser holds the critic", "SAC", "optimizer-unbound")
def _(model):
    model.actor.optimizer = torch.optim.Adam(model.critic.parameters(), lr=3e-4)


@stored("time limits stored as ends", "SAC", "truncation-treated-as-termination", limit=40)
def _(model, held, obs, next_obs, action, reward, done, infos):
    return obs, next_obs, action, reward, done, [{**info, "TimeLimit.truncated": False} for info in infos]


@bug("squashing forgotten in the log-probability", "SAC", "squash-correction-wrong")
def _(model):
    dist = model.actor.action_dist
    original = dist.log_prob
    dist.log_prob = lambda actions, gaussian=None: original(actions, gaussian) + torch.log(1 - actions**2 + dist.epsilon).sum(1)


@bug("target actor left behind", "TD3", "target-network-frozen")
def _(model):
    replace_line(model, "train", "polyak_update(self.actor.parameters(), self.actor_target.parameters(), self.tau)", "pass")


@bug("first state of the next episode for the last of this", "TD3", "final-observation-lost", limit=25)
def _(model):
    before(model, "_store_transition", lambda buffer, action, obs, reward, dones, infos: (buffer, action, obs, reward, dones, [{k: v for k, v in info.items() if k != "terminal_observation"} for info in infos]))


line("critics' gradients never cleared", "TD3", ("gradients-accumulate",), "self.critic.optimizer.zero_grad()", "pass")
line("reward left out of targets", "TD3", ("credit-formula-differs",), "target_q_values = replay_data.rewards + (1", "target_q_values = 0 * replay_data.rewards + (1")
line("next actions of the states now", "SAC", ("critic-context-misaligned", "inputs-differ", "credit-formula-differs"), "self.actor.action_log_prob(replay_data.next_observations)", "self.actor.action_log_prob(replay_data.observations)")
line("best choice of the state now", "DQN", ("critic-context-misaligned", "credit-formula-differs"), "next_q_values, _ = next_q_values.max(dim=1)", "next_q_values = next_q_values.gather(1, self.q_net(replay_data.observations).argmax(1, keepdim=True)).squeeze(1)", table="Acrobot-v1", limit=80, learning_rate=3e-3)
line("advantages that carry gradients", "A2C", ("loss-formula-differs",), "advantages = rollout_data.advantages", "advantages = rollout_data.returns - values")


@bug("critic replays the actor's memory", "RecurrentPPO", "critic-context-misaligned", "recurrent-state-not-replayed")
def _(model):
    before(model.policy, "evaluate_actions", lambda obs, actions, states, starts: (obs, actions, type(states)(states.pi, states.pi), starts))
