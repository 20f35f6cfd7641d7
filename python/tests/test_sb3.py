"""The callback for Stable-Baselines3, with the real one: what is recorded is what the model holds and what entered its loss."""

import os
import pathlib
import sys
import unittest
import warnings
from unittest import mock

import gymnasium
import numpy as np
import sb3_contrib
import stable_baselines3
import torch
from stable_baselines3.common.env_util import make_vec_env

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from support import Case, manifest, table
from trueline_recorder import RecorderWarning, sb3_callback
from trueline_recorder.adapters.sb3_readers import RolloutReader


class Masked(gymnasium.Wrapper):
    """A pole with a third action, and one of the three forbidden at every step."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = gymnasium.spaces.Discrete(3)
        self.random = np.random.default_rng(0)

    def action_masks(self):
        return np.arange(3) != self.random.integers(3)

    def step(self, action):
        return self.env.step(action % 2)


def make(kind, game="CartPole-v1", **options):
    """A small model of four environments whose episodes are cut off after 25 steps."""
    family = stable_baselines3 if hasattr(stable_baselines3, kind) else sb3_contrib
    wrapped = Masked if kind == "MaskablePPO" else None
    env = make_vec_env(game, 4, seed=0, env_kwargs={"max_episode_steps": 25}, wrapper_class=wrapped)
    small = {} if kind in ("A2C", "TRPO") else {"batch_size": 64, "n_epochs": 3}
    policy = "MlpLstmPolicy" if kind == "RecurrentPPO" else "MlpPolicy"
    return getattr(family, kind)(policy, env, n_steps=64, seed=0, device="cpu", **{**small, **options})


class Baselines(Case):
    def learn(self, kind="PPO", iterations=3, **options):
        model = make(kind, **options)
        callback = sb3_callback(self.path, strict=True, first=2, every=2)
        kept = []
        real = model.train
        names = ("log_probs", "advantages", "values", "returns", "actions", "rewards")

        def train():
            kept.append({name: getattr(model.rollout_buffer, name).copy() for name in names})
            real()

        with mock.patch.object(model, "train", train):
            model.learn(256 * iterations, callback)
        return model, kept

    def test_records_the_buffer_in_the_order_in_which_it_is_handed_out(self):
        model, kept = self.learn()
        found = table(self.path, "samples")
        self.assertEqual(sorted(set(found["iteration"])), [0, 1, 2])
        for iteration, buffer in enumerate(kept):
            mine = np.array(found["iteration"]) == iteration
            for column, field in (
                ("old_logp", "log_probs"),
                ("advantage", "advantages"),
                ("value", "values"),
                ("return", "returns"),
                ("action", "actions"),
            ):
                np.testing.assert_array_equal(
                    np.array(found[column])[mine], np.swapaxes(buffer[field].reshape(64, 4), 0, 1).reshape(-1)
                )
            np.testing.assert_array_equal(np.array(found["env"])[mine], np.repeat(range(4), 64))
        self.assertGreater(sum(found["truncated"]), 0)
        self.assertEqual(set(found["reward"]), {1.0})
        # At a time limit the reward is what was paid, and what follows is the critic's guess that the buffer folded into it.
        late = np.array(found["truncated"], bool)
        folded = np.concatenate([buffer["rewards"].T.reshape(-1) for buffer in kept])
        np.testing.assert_allclose(
            folded[late], (np.array(found["reward"]) + 0.99 * np.array(found["next_value"]))[late], atol=1e-5
        )
        # The last step of a rollout knows what follows it.
        last = np.arange(len(late)) % 64 == 63
        self.assertFalse(np.isnan(np.array(found["next_value"])[last]).any())

    def test_records_what_entered_the_loss(self):
        self.learn()
        samples, replays, steps = (table(self.path, name) for name in ("samples", "replays", "steps"))
        self.assertEqual(len(replays["sample"]), 3 * 3 * 256)
        self.assertEqual(len(steps["loss"]), 3 * 3 * 4)
        column = lambda name: np.array(replays[name])
        for iteration in range(3):
            start = iteration * 256
            mine = column("iteration") == iteration
            own = np.array(samples["old_logp"])[start : start + 256]
            np.testing.assert_array_equal(column("old_logp")[mine], own[column("sample")[mine]])
            for epoch in range(3):
                part = mine & (column("epoch") == epoch)
                self.assertEqual(sorted(column("sample")[part]), [*range(256)])
                self.assertEqual(sorted(set(column("minibatch")[part])), [0, 1, 2, 3])
        first = (column("epoch") == 0) & (column("minibatch") == 0)
        np.testing.assert_allclose(column("new_logp")[first], column("old_logp")[first], atol=1e-5)
        np.testing.assert_allclose(column("again_logp")[first], column("new_logp")[first], atol=1e-6)
        self.assertFalse(np.allclose(column("after_logp")[first], column("new_logp")[first], atol=1e-6))
        # The reported policy loss is what these rows give.
        ratio = np.exp(column("new_logp")[first] - column("old_logp")[first])
        used = column("advantage")[first]
        for iteration in range(3):
            rows = slice(64 * iteration, 64 * iteration + 64)
            whole = -np.minimum(ratio[rows] * used[rows], np.clip(ratio[rows], 0.8, 1.2) * used[rows]).mean()
            self.assertAlmostEqual(steps["policy_loss"][12 * iteration], whole, places=5)
        self.assertAlmostEqual(np.std(used[:64], ddof=1), 1, places=4)

    def test_knows_roles_settings_and_results(self):
        self.learn()
        declared = manifest(self.path)
        roles = {tensor["name"]: tensor["role"] for tensor in declared["tensors"]}
        self.assertEqual(roles["action_net.weight"], "head")
        self.assertEqual(roles["mlp_extractor.policy_net.0.weight"], "trunk")
        self.assertEqual((roles["value_net.bias"], roles["mlp_extractor.value_net.0.bias"]), ("critic", "critic"))
        self.assertEqual(declared["settings"]["advantage_normalisation"], "minibatch")
        self.assertEqual(
            (declared["settings"]["clip"], declared["settings"]["minibatches"], declared["settings"]["lambda"]),
            (0.2, 4, 0.95),
        )
        self.assertGreater(len(table(self.path, "episodes")["return"]), 10)
        self.assertEqual(set(table(self.path, "tensors")["bound"]), {1})
        # The norm before clipping, which the optimiser sees at most 0.5 of.
        tensors, steps = table(self.path, "tensors"), table(self.path, "steps")
        seen = np.sqrt(np.sum(np.array(tensors["grad_norm"][: len(roles)]) ** 2))
        self.assertAlmostEqual(seen, min(0.5, steps["grad_norm"][0]), places=4)

    def test_records_masks(self):
        self.learn("MaskablePPO")
        samples, replays = table(self.path, "samples"), table(self.path, "replays")
        legal = np.array(samples["legal"])
        self.assertEqual(set(legal.sum(1)), {2})
        self.assertTrue(legal[np.arange(len(legal)), np.array(samples["action"]).astype(int)].all())
        first = np.array(replays["iteration"]) == 0
        np.testing.assert_array_equal(np.array(replays["legal"])[first], legal[np.array(replays["sample"])[first]])

    def test_records_continuous_actions_without_their_values(self):
        self.learn(game="Pendulum-v1")
        samples = table(self.path, "samples")
        self.assertNotIn("action", samples)
        self.assertNotIn("logits", samples)
        self.assertEqual({t["name"]: t["role"] for t in manifest(self.path)["tensors"]}["log_std"], "other")

    def test_tells_where_the_kl_limit_ended_an_update(self):
        self.learn(target_kl=1e-5, iterations=2)
        steps = table(self.path, "steps")
        stopped = [i for i, flag in enumerate(steps["stopped"]) if flag == 1]
        self.assertEqual([steps["iteration"][i] for i in stopped], [0, 1])
        self.assertFalse(np.isnan(steps["loss"]).any())

    def test_leaves_the_model_as_it_was(self):
        model, _ = self.learn()
        self.assertNotIn("evaluate_actions", vars(model.policy))
        self.assertNotIn("_get_samples", vars(model.rollout_buffer))
        self.assertEqual(torch.nn.utils.clip_grad_norm_.__module__, "torch.nn.utils.clip_grad")
        self.assertFalse(hasattr(torch.nn.utils.clip_grad_norm_, "__wrapped__"))
        self.assertEqual(len(model.policy.action_net._forward_hooks), 0)

    def test_never_stops_the_model_from_learning(self):
        model = make("PPO")
        with mock.patch.object(RolloutReader, "minibatch", side_effect=RuntimeError("odd")):
            with self.assertWarnsRegex(RecorderWarning, "training goes on: RuntimeError: odd") as caught:
                model.learn(256 * 3, sb3_callback(self.path))
        self.assertEqual(model.num_timesteps, 768)
        self.assertEqual(os.path.basename(caught.filename), "test_sb3.py")
        self.assertEqual(manifest(self.path)["recorder"]["stopped"], {"iteration": 0, "reason": "RuntimeError: odd"})

    def test_learns_the_same_with_and_without(self):
        plain = make("PPO").learn(768)
        recorded, _ = self.learn()
        for a, b in zip(plain.policy.parameters(), recorded.policy.parameters()):
            self.assertTrue((a == b).all())

    def test_records_rows_of_padded_sequences_without_the_padding(self):
        self.learn("RecurrentPPO", policy_kwargs={"lstm_hidden_size": 16})
        samples, replays = table(self.path, "samples"), table(self.path, "replays")
        rows, iteration = np.array(replays["sample"]), np.array(replays["iteration"])
        self.assertEqual(len(rows), 3 * 3 * 256)
        own = np.array(samples["old_logp"]).reshape(3, 256)
        np.testing.assert_array_equal(replays["old_logp"], own[iteration, rows])
        first = (np.array(replays["epoch"]) == 0) & (np.array(replays["minibatch"]) == 0)
        np.testing.assert_allclose(
            np.array(replays["new_logp"])[first], np.array(replays["old_logp"])[first], atol=1e-4
        )

    def test_records_a2c_without_a_ratio(self):
        self.learn("A2C")
        replays, declared = table(self.path, "replays"), manifest(self.path)
        self.assertNotIn("old_logp", replays)
        self.assertEqual(len(replays["new_logp"]), 3 * 256)
        self.assertNotIn("clip", declared["settings"])
        self.assertEqual(declared["algorithm"], "a2c")

    def test_records_targets_and_target_networks_of_replay_buffers(self):
        for kind, game in (("DQN", "CartPole-v1"), ("SAC", "Pendulum-v1"), ("TD3", "Pendulum-v1")):
            with self.subTest(kind), warnings.catch_warnings():
                warnings.simplefilter("error", RecorderWarning)
                path = f"{self.path}-{kind}"
                small = {
                    "learning_starts": 60,
                    "buffer_size": 1000,
                    "batch_size": 16,
                    "policy_kwargs": {"net_arch": [16]},
                }
                model = getattr(stable_baselines3, kind)("MlpPolicy", game, seed=0, device="cpu", **small)
                model.learn(130, callback=sb3_callback(path, strict=True))
                targets = table(path, "targets")
                rewards, ends = np.reshape(targets["rewards"], -1), np.reshape(targets["terminated"], -1)
                bootstrap = np.array(targets["bootstrap"], np.float64)
                if kind == "SAC":
                    bootstrap -= np.array(targets["temperature"]) * np.array(targets["next_logp"])
                own = rewards + model.gamma * (1 - ends) * bootstrap
                np.testing.assert_allclose(targets["target"], own, rtol=1e-4, atol=1e-4)
                self.assertTrue(table(path, "copies"))
                self.assertFalse(os.path.exists(os.path.join(path, "replays")))

    def test_records_what_it_can_of_the_others_and_says_so(self):
        pendulum = {"learning_starts": 60, "buffer_size": 1000}
        for family, kind, game, options, tables in (
            (sb3_contrib, "QRDQN", "CartPole-v1", pendulum, ("episodes", "scalars")),
            (sb3_contrib, "ARS", "CartPole-v1", {"n_delta": 1}, ()),
            (sb3_contrib, "TRPO", "CartPole-v1", {"n_steps": 64, "batch_size": 32}, ("samples", "episodes", "scalars")),
        ):
            with self.subTest(kind), warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                path = f"{self.path}-{kind}"
                model = getattr(family, kind)("MlpPolicy", game, seed=0, device="cpu", **options)
                model.learn(130, callback=sb3_callback(path))
                sentences = [str(w.message) for w in said if issubclass(w.category, RecorderWarning)]
                self.assertEqual(len(sentences), 1)
                self.assertRegex(sentences[0], f"^{kind} .* recorded")
                for name in tables:
                    self.assertTrue(table(path, name), name)
                self.assertNotIn("stopped", manifest(path)["recorder"])
                self.assertFalse(os.path.exists(os.path.join(path, "replays")))


if __name__ == "__main__":
    unittest.main()
