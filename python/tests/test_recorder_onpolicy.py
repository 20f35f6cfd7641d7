"""The adapter for on-policy's runners, tried on small runners of the same shape, written for this test."""

import pathlib
import sys
import types
import unittest
import warnings
from unittest import mock

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from support import Case, manifest, table
from trueline_recorder import RecorderWarning, onpolicy_runner


class ActLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.action_type = "Discrete"
        self.action_out = nn.Sequential(nn.Linear(6, 3))

    def forward(self, x, allowed):
        scores = self.action_out(x)
        scores[allowed == 0] = -1e10  # in place, as on-policy does
        return torch.distributions.Categorical(logits=scores)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.act = nn.Sequential(nn.Linear(2, 6), nn.Tanh()), ActLayer()

    def forward(self, obs, allowed):
        return self.act(self.base(torch.as_tensor(obs)), torch.as_tensor(allowed))


class Policy:
    def __init__(self):
        self.actor, self.critic = Actor(), nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-2)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def evaluate_actions(self, obs, actions, allowed):
        probs = self.actor(obs, allowed)
        return (
            self.critic(torch.as_tensor(obs)),
            probs.log_prob(torch.as_tensor(actions)[:, 0]).unsqueeze(-1),
            probs.entropy().mean(),
        )


class Normaliser:
    def denormalize(self, values):
        return 2.0 * values + 1.0


class Trainer:
    clip_param, _use_policy_active_masks = 0.2, True

    def __init__(self, policy):
        self.policy, self.value_normalizer = policy, Normaliser()

    def ppo_update(self, sample, update_actor=True):
        (
            obs_batch,
            actions_batch,
            return_batch,
            active_masks_batch,
            old_action_log_probs_batch,
            adv_targ,
            available_actions_batch,
        ) = sample
        old_action_log_probs_batch, adv_targ, return_batch, active_masks_batch = map(
            torch.as_tensor, (old_action_log_probs_batch, adv_targ, return_batch, active_masks_batch)
        )
        values, action_log_probs, dist_entropy = self.policy.evaluate_actions(
            obs_batch, actions_batch, available_actions_batch
        )
        ratio = torch.exp(action_log_probs - old_action_log_probs_batch)
        surrogate = torch.min(ratio * adv_targ, ratio.clamp(0.8, 1.2) * adv_targ)
        policy_loss = -(surrogate * active_masks_batch).sum() / active_masks_batch.sum()
        self.policy.actor_optimizer.zero_grad()
        (policy_loss - 0.01 * dist_entropy).backward()
        self.policy.actor_optimizer.step()
        value_loss = ((values - (return_batch - 1) / 2) ** 2).mean()
        self.policy.critic_optimizer.zero_grad()
        value_loss.backward()
        self.policy.critic_optimizer.step()
        return value_loss, 0.0, policy_loss, dist_entropy, 0.0, ratio

    def train(self, buffer):
        advantages = buffer.returns[:-1] - self.value_normalizer.denormalize(buffer.value_preds[:-1])
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-5)
        flat = lambda column: column.reshape(-1, column.shape[-1])
        count = advantages.size
        for _ in range(2):
            for index in torch.randperm(count).numpy().reshape(2, -1):
                columns = (
                    buffer.obs[:-1],
                    buffer.actions,
                    buffer.returns[:-1],
                    buffer.active_masks[:-1],
                    buffer.action_log_probs,
                    advantages,
                    buffer.available_actions[:-1],
                )
                self.ppo_update(tuple(flat(column)[index] for column in columns))


def make_buffer(length, *lead):
    rows = lambda steps, width: np.zeros((steps, *lead, width), np.float32)
    return types.SimpleNamespace(
        obs=rows(length + 1, 2),
        actions=rows(length, 1),
        action_log_probs=rows(length, 1),
        value_preds=rows(length + 1, 1),
        returns=rows(length + 1, 1),
        rewards=rows(length, 1),
        masks=rows(length + 1, 1) + 1,
        active_masks=rows(length + 1, 1) + 1,
        available_actions=rows(length + 1, 3) + 1,
    )


class Battles:
    """Two agents in four battles, in StarCraft's form: (obs, share_obs, rewards, dones, infos, available_actions)."""

    def __init__(self):
        self.random, self.t = np.random.default_rng(1), 0

    def seen(self):
        allowed = np.ones((4, 2, 3), np.float32)
        allowed[..., 2] = self.random.random((4, 2)) < 0.5
        return self.random.normal(size=(4, 2, 2)).astype(np.float32), allowed

    def step(self, actions):
        self.t += 1
        obs, allowed = self.seen()
        rewards = np.asarray(actions, np.float64).reshape(4, 2, 1) * [[[1.0], [-1.0]]] + self.random.normal(
            size=(4, 2, 1)
        )
        dones = np.full((4, 2), self.t % 5 == 0)
        infos = [[{"bad_transition": self.t % 10 == 0}] * 2 for _ in range(4)]
        return obs, obs, rewards, dones, infos, allowed


class Runner:
    """The skeleton of on-policy's runners: one trainer and buffer for all agents, or a list of each."""

    def __init__(self, separated):
        torch.manual_seed(0)
        self.num_agents, self.envs, self.separated = 2, Battles(), separated
        self.all_args = types.SimpleNamespace(
            gamma=0.9,
            gae_lambda=0.8,
            use_gae=True,
            seed=1,
            clip_param=0.2,
            ppo_epoch=2,
            num_mini_batch=2,
            entropy_coef=0.01,
            use_valuenorm=True,
            use_popart=False,
            use_max_grad_norm=False,
        )
        groups = [[0], [1]] if separated else [slice(None)]
        self.groups = groups
        trainers = [Trainer(Policy()) for _ in groups]
        buffers = [make_buffer(12, 4) if separated else make_buffer(12, 4, 2) for _ in groups]
        self.trainer, self.buffer = (trainers, buffers) if separated else (trainers[0], buffers[0])

    def parts(self):
        return (
            zip(self.trainer, self.buffer, range(2)) if self.separated else [(self.trainer, self.buffer, slice(None))]
        )

    @torch.no_grad()
    def collect(self, step):
        actions = np.zeros((4, 2), int)
        for trainer, buffer, who in self.parts():
            flat = lambda column: column.reshape(-1, column.shape[-1])
            probs = trainer.policy.actor(flat(buffer.obs[step]), flat(buffer.available_actions[step]))
            action = probs.sample()
            buffer.actions[step] = action.numpy().reshape(buffer.actions[step].shape)
            buffer.action_log_probs[step] = probs.log_prob(action).numpy().reshape(buffer.actions[step].shape)
            buffer.value_preds[step] = trainer.policy.critic(torch.as_tensor(buffer.obs[step])).numpy()
            actions[:, who] = buffer.actions[step][..., 0]
        return actions

    @torch.no_grad()
    def compute(self):
        for trainer, buffer, _ in self.parts():
            buffer.value_preds[-1] = trainer.policy.critic(torch.as_tensor(buffer.obs[-1])).numpy()
            values, last = trainer.value_normalizer.denormalize(buffer.value_preds), 0
            for t in reversed(range(12)):
                delta = buffer.rewards[t] + 0.9 * values[t + 1] * buffer.masks[t + 1] - values[t]
                last = delta + 0.9 * 0.8 * buffer.masks[t + 1] * last
                buffer.returns[t] = last + values[t]

    def run(self, iterations=3):
        for iteration in range(iterations):
            for step in range(12):
                obs, _, rewards, dones, _, allowed = self.envs.step(self.collect(step))
                for _, buffer, who in self.parts():
                    buffer.obs[step + 1], buffer.available_actions[step + 1] = obs[:, who], allowed[:, who]
                    buffer.rewards[step], buffer.masks[step + 1] = rewards[:, who], 1.0 - dones[:, who, None]
            self.compute()
            for trainer, buffer, _ in self.parts():
                trainer.train(buffer)
                for column in (buffer.obs, buffer.masks, buffer.available_actions):
                    column[0] = column[-1]


def record(separated, path, iterations):
    """A whole run, for the doctor."""
    runner = Runner(separated)
    recorder = onpolicy_runner(runner, path, first=iterations)
    runner.run(iterations)
    recorder.close()


class Runners(Case):
    def learn(self, separated, **options):
        runner = Runner(separated)
        kept = []
        compute = runner.compute

        def computed():
            compute()
            kept.append(
                [(buffer.action_log_probs.copy(), buffer.returns[:-1].copy()) for _, buffer, _ in runner.parts()]
            )

        runner.compute = computed
        recorder = onpolicy_runner(runner, self.path, **options)
        runner.run()
        recorder.close()
        return runner, kept

    def check(self, separated):
        runner, kept = self.learn(separated, strict=True)
        samples, replays = table(self.path, "samples"), table(self.path, "replays")
        for column, place in (("old_logp", 0), ("return", 1)):
            wanted = np.concatenate([part[place].reshape(-1) for rollout in kept for part in rollout])
            np.testing.assert_array_equal(np.array(samples[column], np.float32), wanted)
        self.assertEqual(len(replays["new_logp"]), 3 * 2 * 12 * 8)
        rows, iteration = np.array(replays["sample"]), np.array(replays["iteration"])
        np.testing.assert_allclose(
            replays["old_logp"], np.array(samples["old_logp"]).reshape(3, -1)[iteration, rows], atol=1e-6
        )
        np.testing.assert_array_equal(
            np.array(replays["legal"]), np.array(samples["legal"]).reshape(3, 96, 3)[iteration, rows]
        )
        first = (np.array(replays["epoch"]) == 0) & (np.array(replays["minibatch"]) == 0)
        np.testing.assert_allclose(
            np.array(replays["new_logp"])[first], np.array(replays["old_logp"])[first], atol=1e-5
        )
        # What the last layer gave, before the mask was laid over it in place.
        self.assertTrue((np.abs(np.array(samples["logits"])) < 1e9).all())
        scores = np.where(np.array(samples["legal"]) > 0, np.array(samples["logits"]), -np.inf)
        scores = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        np.testing.assert_allclose(
            scores[np.arange(len(scores)), np.array(samples["action"])], samples["old_logp"], atol=1e-5
        )
        self.assertGreater(sum(samples["truncated"]), 0)
        self.assertGreater(sum(samples["terminated"]), 0)
        steps = table(self.path, "steps")
        self.assertEqual(len(steps["policy_loss"]), 3 * 2 * 2 * (2 if separated else 1))
        self.assertFalse(np.isnan(steps["value_loss"]).any())
        self.assertNotIn("ppo_update", vars(runner.trainer[0] if separated else runner.trainer))
        return samples, replays

    def test_records_a_shared_runner(self):
        samples, _ = self.check(False)
        np.testing.assert_array_equal(np.array(samples["agent"]).reshape(3, 12, 4, 2)[0, 0], [[0, 1]] * 4)
        self.assertEqual([agent["policy"] for agent in manifest(self.path)["agents"]], [0, 0])

    def test_records_a_separated_runner(self):
        samples, replays = self.check(True)
        agents = np.array(samples["agent"]).reshape(3, 96)
        np.testing.assert_array_equal(
            agents[np.array(replays["iteration"]), np.array(replays["sample"])], replays["policy"]
        )
        self.assertEqual([agent["policy"] for agent in manifest(self.path)["agents"]], [0, 1])

    def test_learns_the_same_with_and_without(self):
        plain = Runner(False)
        plain.run()
        recorded, _ = self.learn(False)
        for a, b in zip(plain.trainer.policy.actor.parameters(), recorded.trainer.policy.actor.parameters()):
            self.assertTrue((a == b).all())

    def test_says_what_it_cannot_record_of_other_trainers(self):
        runner = Runner(False)
        runner.trainer.__class__ = type("HAPPO", (Trainer,), {"ppo_update": property()})
        runner.trainer.train = lambda buffer: None
        with self.assertWarnsRegex(RecorderWarning, "HAPPO has no ppo_update: rollouts are recorded, updates are not"):
            recorder = onpolicy_runner(runner, self.path)
        runner.run()
        recorder.close()
        self.assertEqual(len(table(self.path, "samples")["old_logp"]), 3 * 96)

    def test_never_ends_a_training_run(self):
        runner = Runner(False)
        recorder = onpolicy_runner(runner, self.path)
        with (
            mock.patch.object(recorder, "samples", side_effect=RuntimeError("odd")),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            runner.run()
        recorder.close()
        self.assertRegex(str(said[0].message), "training goes on: RuntimeError: odd")


if __name__ == "__main__":
    unittest.main()
