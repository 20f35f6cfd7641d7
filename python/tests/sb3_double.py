"""A stand-in for Stable-Baselines3's PPO and sb3-contrib's MaskablePPO, for tests where the packages cannot be had. It keeps to what a callback can
see of them: the order of calls, the names of local variables in `train`, and the fields and the flattening of the rollout buffer."""

import sys
import types
from collections import namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class BaseCallback:
    def __init__(self, verbose=0):
        self.verbose, self.model, self.n_calls, self.num_timesteps = verbose, None, 0, 0
        self.locals, self.globals, self.parent = {}, {}, None

    def init_callback(self, model):
        self.model = model
        self._init_callback()

    def _init_callback(self):
        pass

    def on_training_start(self, locals_, globals_):
        self.locals, self.globals = locals_, globals_
        self._on_training_start()

    def on_rollout_start(self):
        self._on_rollout_start()

    def on_step(self):
        self.n_calls += 1
        self.num_timesteps = self.model.num_timesteps
        return self._on_step()

    def on_rollout_end(self):
        self._on_rollout_end()

    def on_training_end(self):
        self._on_training_end()

    def update_locals(self, locals_):
        self.locals.update(locals_)


class Discrete:
    def __init__(self, n):
        self.n = n


class Box:
    def __init__(self, shape):
        self.shape = shape


Samples = namedtuple("RolloutBufferSamples", "observations actions old_values old_log_prob advantages returns")
MaskedSamples = namedtuple("MaskableRolloutBufferSamples", [*Samples._fields, "action_masks"])


class RolloutBuffer:
    fields = ("observations", "actions", "values", "log_probs", "advantages", "returns")

    def __init__(self, steps, envs, inputs, width, gamma, gae_lambda, masks=0):
        self.buffer_size, self.n_envs, self.gamma, self.gae_lambda, self.masks = steps, envs, gamma, gae_lambda, masks
        self.sizes = (inputs, width)
        self.reset()

    def reset(self):
        shape = (self.buffer_size, self.n_envs)
        self.observations = np.zeros(shape + (self.sizes[0],), np.float32)
        self.actions = np.zeros(shape + (self.sizes[1],), np.float32)
        for name in ("rewards", "values", "log_probs", "advantages", "returns", "episode_starts"):
            setattr(self, name, np.zeros(shape, np.float32))
        if self.masks:
            self.action_masks = np.ones(shape + (self.masks,), np.float32)
        self.pos, self.generator_ready = 0, False

    def add(self, obs, action, reward, episode_start, value, log_prob, action_masks=None):
        at = self.pos
        self.observations[at], self.actions[at], self.rewards[at] = obs, action.reshape(self.n_envs, -1), reward
        self.episode_starts[at] = episode_start
        self.values[at] = value.clone().cpu().numpy().flatten()
        self.log_probs[at] = log_prob.clone().cpu().numpy()
        if action_masks is not None:
            self.action_masks[at] = action_masks
        self.pos += 1

    def compute_returns_and_advantage(self, last_values, dones):
        last_values, running = last_values.clone().cpu().numpy().flatten(), 0
        for step in reversed(range(self.buffer_size)):
            final = step == self.buffer_size - 1
            on = 1.0 - (dones.astype(np.float32) if final else self.episode_starts[step + 1])
            follows = last_values if final else self.values[step + 1]
            delta = self.rewards[step] + self.gamma * follows * on - self.values[step]
            running = delta + self.gamma * self.gae_lambda * on * running
            self.advantages[step] = running
        self.returns = self.advantages + self.values

    def get(self, batch_size):
        rows = self.buffer_size * self.n_envs
        order = np.random.permutation(rows)
        if not self.generator_ready:
            names = self.fields + (("action_masks",) if self.masks else ())
            for name in names:
                array = getattr(self, name)
                array = array if array.ndim > 2 else array[..., None]
                setattr(self, name, array.swapaxes(0, 1).reshape(rows, -1))
            self.generator_ready = True
        for start in range(0, rows, batch_size or rows):
            yield self._get_samples(order[start : start + (batch_size or rows)])

    def _get_samples(self, batch_inds, env=None):
        def take(name, flat=True):
            rows = getattr(self, name)[batch_inds]
            return torch.as_tensor(rows.flatten() if flat else rows)

        data = (take("observations", False), take("actions", False), *(take(name) for name in self.fields[2:]))
        if self.masks:
            return MaskedSamples(*data, take("action_masks", False))
        return Samples(*data)


class Policy(nn.Module):
    def __init__(self, inputs, space, rate, dropout=0.0):
        super().__init__()
        self.discrete = isinstance(space, Discrete)
        outputs = space.n if self.discrete else space.shape[0]
        self.share_features_extractor = True
        self.features_extractor = nn.Flatten()
        self.mlp_extractor = nn.Module()
        self.mlp_extractor.policy_net = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Dropout(dropout))
        self.mlp_extractor.value_net = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh())
        self.action_net, self.value_net = nn.Linear(32, outputs), nn.Linear(32, 1)
        if not self.discrete:
            self.log_std = nn.Parameter(torch.zeros(outputs))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=rate, eps=1e-5)

    def set_training_mode(self, mode):
        self.train(mode)

    def _distribution(self, obs, masks):
        scores = self.action_net(self.mlp_extractor.policy_net(self.features_extractor(obs)))
        if not self.discrete:
            return torch.distributions.Independent(torch.distributions.Normal(scores, self.log_std.exp().expand_as(scores)), 1)
        if masks is not None:
            scores = scores.masked_fill(torch.as_tensor(masks).reshape(scores.shape) < 0.5, -1e8)
        return torch.distributions.Categorical(logits=scores)

    def predict_values(self, obs):
        return self.value_net(self.mlp_extractor.value_net(self.features_extractor(obs)))

    def forward(self, obs, deterministic=False, action_masks=None):
        choice = self._distribution(obs, action_masks)
        actions = choice.sample()
        return actions, self.predict_values(obs), choice.log_prob(actions)

    def evaluate_actions(self, obs, actions, action_masks=None):
        choice = self._distribution(obs, action_masks)
        return self.predict_values(obs), choice.log_prob(actions), choice.entropy()

    def obs_to_tensor(self, obs):
        return torch.as_tensor(obs, dtype=torch.float32)[None], True


class PPO:
    """`late` leaves out that the time limit bootstraps; `dropout` is left on in the update, as the real one leaves it."""

    masked = False

    def __init__(self, env, inputs, space, n_steps=64, batch_size=64, n_epochs=3, target_kl=None, dropout=0.0, late=False, seed=0):
        np.random.seed(seed)
        torch.manual_seed(seed)
        self.env, self.action_space, self.n_envs, self.n_steps = env, space, env.num_envs, n_steps
        self.batch_size, self.n_epochs, self.target_kl, self.late = batch_size, n_epochs, target_kl, late
        self.gamma, self.gae_lambda, self.ent_coef, self.vf_coef, self.max_grad_norm = 0.99, 0.95, 0.01, 0.5, 0.5
        self.clip_range, self.clip_range_vf, self.normalize_advantage = (lambda progress: 0.2), None, True
        self._current_progress_remaining, self.seed, self.num_timesteps = 1.0, seed, 0
        self.policy = Policy(inputs, space, 1e-3, dropout)
        discrete = isinstance(space, Discrete)
        self.rollout_buffer = RolloutBuffer(
            n_steps, self.n_envs, inputs, 1 if discrete else space.shape[0], self.gamma, self.gae_lambda,
            space.n if self.masked else 0,
        )
        self._last_obs = env.reset()
        self._last_episode_starts = np.ones(self.n_envs, bool)

    def collect_rollouts(self, env, callback, rollout_buffer, n_rollout_steps):
        self.policy.set_training_mode(False)
        n_steps = 0
        rollout_buffer.reset()
        callback.on_rollout_start()
        while n_steps < n_rollout_steps:
            with torch.no_grad():
                obs_tensor = torch.as_tensor(self._last_obs)
                action_masks = env.action_masks() if self.masked else None
                actions, values, log_probs = self.policy(obs_tensor, action_masks=action_masks)
            actions = actions.cpu().numpy()
            new_obs, rewards, dones, infos = env.step(actions)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            n_steps += 1
            for idx, done in enumerate(dones):
                info = infos[idx]
                if done and info.get("terminal_observation") is not None and info.get("TimeLimit.truncated", False) and not self.late:
                    with torch.no_grad():
                        terminal_value = self.policy.predict_values(self.policy.obs_to_tensor(info["terminal_observation"])[0])[0]
                    rewards[idx] += self.gamma * terminal_value.item()
            extra = {"action_masks": action_masks} if self.masked else {}
            rollout_buffer.add(self._last_obs, actions, rewards, self._last_episode_starts, values, log_probs, **extra)
            self._last_obs, self._last_episode_starts = new_obs, dones
        with torch.no_grad():
            values = self.policy.predict_values(torch.as_tensor(new_obs))
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=dones)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def train(self):
        self.policy.set_training_mode(True)
        clip_range = self.clip_range(self._current_progress_remaining)
        clip_fractions, continue_training = [], True
        for epoch in range(self.n_epochs):
            for rollout_data in self.rollout_buffer.get(self.batch_size):
                actions = rollout_data.actions
                if isinstance(self.action_space, Discrete):
                    actions = rollout_data.actions.long().flatten()
                extra = {"action_masks": rollout_data.action_masks} if self.masked else {}
                values, log_prob, entropy = self.policy.evaluate_actions(rollout_data.observations, actions, **extra)
                values = values.flatten()
                advantages = rollout_data.advantages
                if self.normalize_advantage and len(advantages) > 1:
                    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
                ratio = torch.exp(log_prob - rollout_data.old_log_prob)
                clamped = torch.clamp(ratio, 1 - clip_range, 1 + clip_range)
                policy_loss = -torch.min(advantages * ratio, advantages * clamped).mean()
                clip_fraction = ((ratio - 1).abs() > clip_range).float().mean().item()
                clip_fractions.append(clip_fraction)
                value_loss = functional.mse_loss(rollout_data.returns, values)
                entropy_loss = -entropy.mean()
                loss = policy_loss + self.ent_coef * entropy_loss + self.vf_coef * value_loss
                with torch.no_grad():
                    log_ratio = log_prob - rollout_data.old_log_prob
                    approx_kl_div = torch.mean((torch.exp(log_ratio) - 1) - log_ratio).cpu().numpy()
                if self.target_kl is not None and approx_kl_div > 1.5 * self.target_kl:
                    continue_training = False
                    break
                self.policy.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
            if not continue_training:
                break

    def learn(self, total_timesteps, callback):
        callback.init_callback(self)
        callback.on_training_start(locals(), globals())
        target = self.num_timesteps + total_timesteps
        while self.num_timesteps < target:
            if not self.collect_rollouts(self.env, callback, self.rollout_buffer, self.n_steps):
                break
            self.train()
        callback.on_training_end()
        return self


class MaskablePPO(PPO):
    masked = True


def install():
    """Makes `from stable_baselines3.common.callbacks import BaseCallback` find the double, where the package is not there."""
    for name in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.callbacks"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["stable_baselines3.common.callbacks"].BaseCallback = BaseCallback
