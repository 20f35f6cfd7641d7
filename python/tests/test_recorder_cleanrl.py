"""The adapter for loops of CleanRL's kind, tried on a small loop of the same shape, written for this test."""

import os
import pathlib
import sys
import types
import unittest

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from support import Case, manifest, table
from trueline_recorder import RecorderWarning, cleanrl_loop


class Walk:
    """Several walks on a line at once; an episode ends beyond 1, and is cut off after nine steps."""

    def __init__(self, count):
        self.random, self.place, self.t = np.random.default_rng(0), np.zeros(count), np.zeros(count, int)

    def seen(self):
        return np.stack([self.place, self.t / 9, np.ones_like(self.place)], -1)

    def reset(self, seed=None):
        return self.seen(), {}

    def step(self, action):
        self.place = self.place + 0.3 * (np.asarray(action) - 0.5) + self.random.normal(0, 0.1, len(self.place))
        self.t = self.t + 1
        reward, ended = self.place.copy(), np.abs(self.place) > 1
        late = (self.t >= 9) & ~ended
        self.place, self.t = np.where(ended | late, 0.0, self.place), np.where(ended | late, 0, self.t)
        return self.seen(), reward, ended, late, {}


class Agent(nn.Module):
    def __init__(self, squeeze=1.0):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
        self.critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        self.squeeze = squeeze

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = torch.distributions.Categorical(logits=self.squeeze * self.actor(x))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def train(path, iterations=3, recorded=True, squeeze=1.0, target_kl=None, rename=False, **options):
    """A loop with CleanRL's names."""
    args = types.SimpleNamespace(
        num_envs=3,
        num_steps=16,
        gamma=0.9,
        gae_lambda=0.8,
        clip_coef=0.2,
        ent_coef=0.01,
        vf_coef=0.5,
        max_grad_norm=0.5,
        norm_adv=True,
        clip_vloss=False,
        update_epochs=2,
        num_minibatches=4,
        target_kl=target_kl,
        seed=3,
    )
    torch.manual_seed(0)
    np.random.seed(0)
    envs, agent = Walk(args.num_envs), Agent(squeeze)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
    shape = (args.num_steps, args.num_envs)
    obs, actions = torch.zeros((*shape, 3)), torch.zeros(shape)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))
    next_obs, next_done = torch.Tensor(envs.reset()[0]), torch.zeros(args.num_envs)
    kept = []
    recorder = cleanrl_loop(path, envs, agent, optimizer, args, **options) if recorded else None
    for iteration in range(iterations):
        for step in range(args.num_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step], actions[step], logprobs[step] = value.flatten(), action, logprob
            next_obs, reward, terminations, truncations, infos = envs.step(action.numpy())
            rewards[step] = torch.tensor(reward)
            next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(np.logical_or(terminations, truncations))
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, last = torch.zeros_like(rewards), 0
            for t in reversed(range(args.num_steps)):
                goes_on = 1.0 - (next_done if t == args.num_steps - 1 else dones[t + 1])
                following = next_value if t == args.num_steps - 1 else values[t + 1]
                delta = rewards[t] + args.gamma * following * goes_on - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * goes_on * last
            returns = advantages + values
        kept.append(
            {
                name: value.clone().numpy()
                for name, value in (
                    ("old_logp", logprobs),
                    ("advantage", advantages),
                    ("value", values),
                    ("reward", rewards),
                )
            }
        )
        b_obs, b_logprobs, b_actions = obs.reshape(-1, 3), logprobs.reshape(-1), actions.reshape(-1)
        b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
        if rename:
            del b_logprobs
            logged = logprobs.reshape(-1)
        b_inds = np.arange(args.num_envs * args.num_steps)
        for epoch in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for mb_inds in np.split(b_inds, args.num_minibatches):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
                if rename:
                    difference = newlogprob - logged[mb_inds]
                    ratio = difference.exp()
                else:
                    logratio = newlogprob - b_logprobs[mb_inds]
                    ratio = logratio.exp()
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * torch.clamp(ratio, 0.8, 1.2)).mean()
                newvalue = newvalue.view(-1)
                v_loss = 0.5 * ((newvalue - b_returns[mb_inds]) ** 2).mean()
                entropy_loss = entropy.mean()
                approx_kl = ((ratio - 1) - ratio.log()).mean().detach()
                loss = pg_loss - args.ent_coef * entropy_loss + v_loss * args.vf_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
            if args.target_kl is not None and approx_kl > args.target_kl:
                break
    if recorder is not None:
        recorder.close()
    return agent, envs, kept


class Loops(Case):
    def test_records_a_loop_of_cleanrl_s_kind(self):
        _, envs, kept = train(self.path, strict=True)
        samples, replays, steps = (table(self.path, name) for name in ("samples", "replays", "steps"))
        for name in ("old_logp", "advantage", "value", "reward"):
            np.testing.assert_array_equal(
                np.array(samples[name], np.float32), np.concatenate([rollout[name].reshape(-1) for rollout in kept])
            )
        self.assertGreater(sum(samples["truncated"]), 0)
        self.assertGreater(sum(samples["terminated"]), 0)
        np.testing.assert_allclose(samples["env_reward"], samples["reward"], rtol=1e-6)
        self.assertEqual(len(replays["sample"]), 3 * 2 * 48)
        self.assertEqual(len(steps["loss"]), 3 * 2 * 4)
        first = (np.array(replays["epoch"]) == 0) & (np.array(replays["minibatch"]) == 0)
        np.testing.assert_allclose(
            np.array(replays["new_logp"])[first], np.array(replays["old_logp"])[first], atol=1e-6
        )
        np.testing.assert_allclose(
            np.array(replays["again_logp"])[first], np.array(replays["new_logp"])[first], atol=1e-6
        )
        logits = np.array(samples["logits"])
        scores = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        np.testing.assert_allclose(
            scores[np.arange(len(scores)), np.array(samples["action"])], samples["old_logp"], atol=1e-5
        )
        declared = manifest(self.path)
        self.assertEqual({t["name"]: t["role"] for t in declared["tensors"]}["actor.2.weight"], "head")
        self.assertEqual(
            (declared["settings"]["clip"], declared["settings"]["advantage_normalisation"]), (0.2, "minibatch")
        )
        self.assertNotIn("step", vars(envs))

    def test_takes_the_scores_that_actions_are_drawn_from_where_something_follows_the_last_layer(self):
        train(self.path, strict=True, squeeze=0.1)
        samples, replays = table(self.path, "samples"), table(self.path, "replays")
        scores = np.array(samples["logits"])
        scores = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        np.testing.assert_allclose(
            scores[np.arange(len(scores)), np.array(samples["action"])], samples["old_logp"], atol=1e-5
        )
        self.assertEqual(len(replays["logits"]), len(replays["new_logp"]))
        self.assertFalse(hasattr(torch.distributions.Categorical.__init__, "__wrapped__"))

    def test_tells_where_the_kl_limit_ended_an_update(self):
        train(self.path, target_kl=1e-9)
        steps = table(self.path, "steps")
        stopped = [steps["iteration"][i] for i, flag in enumerate(steps["stopped"]) if flag == 1]
        self.assertEqual(stopped, [0, 1, 2])

    def test_says_which_names_a_loop_lacks_and_lets_it_train(self):
        with self.assertWarnsRegex(RecorderWarning, "no variable logratio.*use Recorder") as caught:
            train(self.path, rename=True)
        self.assertEqual(os.path.basename(caught.filename), "test_recorder_cleanrl.py")
        self.assertIn("logratio", manifest(self.path)["recorder"]["stopped"]["reason"])

    def test_learns_the_same_with_and_without(self):
        plain, recorded = train(self.path, recorded=False)[0], train(self.path)[0]
        for a, b in zip(plain.parameters(), recorded.parameters()):
            self.assertTrue((a == b).all())


if __name__ == "__main__":
    unittest.main()
