"""The callback for Stable-Baselines3, against a double of it: what is recorded is what the model holds and what entered its loss."""

import os
import pathlib
import sys
import unittest
from unittest import mock

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "examples" / "pytorch")]

import ppo  # noqa: E402
import sb3_double as sb3  # noqa: E402
import trueline_recorder  # noqa: E402
from test_recorder import Case, manifest, table  # noqa: E402

sb3.install()


class Poles:
    """The example's poles as a vectorised environment; `masked` forbids one of its three actions, the last is a copy of the first."""

    def __init__(self, num_envs=4, limit=25, masked=False, seed=0):
        self.num_envs, self.masked, self.random = num_envs, masked, np.random.default_rng(seed)
        self.game = ppo.CartPole(num_envs, limit, False, self.random)
        self.gained, self.steps = np.zeros(num_envs), np.zeros(num_envs, int)

    def reset(self):
        return self.game.state.astype(np.float32)

    def action_masks(self):
        forbidden = self.random.integers(0, 3, self.num_envs)
        return np.arange(3) != forbidden[:, None]

    def step(self, actions):
        if actions.dtype.kind == "f":
            actions = actions[:, 0] > 0
        reward, terminated, truncated, final = self.game.step(np.asarray(actions) % 2)
        self.gained += reward
        self.steps += 1
        infos = [{} for _ in reward]
        for i in np.flatnonzero(terminated | truncated):
            infos[i] = {"terminal_observation": final[i], "TimeLimit.truncated": bool(truncated[i])}
            infos[i]["episode"] = {"r": self.gained[i], "l": self.steps[i], "t": 0.0}
            self.gained[i], self.steps[i] = 0, 0
        return self.game.state.astype(np.float32), reward, terminated | truncated, infos


class Baselines(Case):
    def learn(self, kind=sb3.PPO, space=None, iterations=3, **options):
        env = Poles(masked=kind.masked)
        model = kind(env, 4, space or sb3.Discrete(3), **options)
        callback = trueline_recorder.sb3_callback(self.path, strict=True, first=2, every=2)
        kept = []
        real = model.train

        def train():
            buffer = model.rollout_buffer
            kept.append({name: getattr(buffer, name).copy() for name in (*buffer.fields, "rewards")})
            real()

        with mock.patch.object(model, "train", train):
            model.learn(model.n_steps * env.num_envs * iterations, callback)
        return model, kept

    def test_records_the_buffer_in_the_order_in_which_it_is_handed_out(self):
        model, kept = self.learn()
        found = table(self.path, "samples")
        self.assertEqual(sorted(set(found["iteration"])), [0, 1, 2])
        for iteration, buffer in enumerate(kept):
            mine = np.array(found["iteration"]) == iteration
            for column, field in (("old_logp", "log_probs"), ("advantage", "advantages"), ("value", "values"), ("return", "returns"), ("action", "actions")):
                np.testing.assert_array_equal(np.array(found[column])[mine], buffer[field].reshape(64, 4).T.reshape(-1))
            np.testing.assert_array_equal(np.array(found["env"])[mine], np.repeat(range(4), 64))
        self.assertGreater(sum(found["truncated"]), 0)
        self.assertAlmostEqual(max(found["reward"]), 0.1)
        # At a time limit the reward is what was paid, and what follows is the critic's guess that the buffer folded into it.
        late = np.array(found["truncated"], bool)
        folded = np.concatenate([buffer["rewards"].T.reshape(-1) for buffer in kept])
        np.testing.assert_allclose(folded[late], (np.array(found["reward"]) + 0.99 * np.array(found["next_value"]))[late], atol=1e-5)
        # The last step of a rollout knows what follows it.
        last = np.arange(len(late)) % 64 == 63
        self.assertFalse(np.isnan(np.array(found["next_value"])[last]).any())

    def test_records_what_entered_the_loss(self):
        self.learn()
        samples, replays, steps = (table(self.path, name) for name in ("samples", "replays", "steps"))
        self.assertEqual(len(replays["sample"]), 3 * 3 * 256)
        self.assertEqual(len(steps["loss"]), 3 * 3 * 4)
        column = lambda name: np.array(replays[name])  # noqa: E731
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
        self.assertEqual((declared["settings"]["clip"], declared["settings"]["minibatches"], declared["settings"]["lambda"]), (0.2, 4, 0.95))
        self.assertGreater(len(table(self.path, "episodes")["return"]), 10)
        self.assertEqual(set(table(self.path, "tensors")["bound"]), {1})
        # The norm before clipping, which the optimiser sees at most 0.5 of.
        tensors, steps = table(self.path, "tensors"), table(self.path, "steps")
        seen = np.sqrt(np.sum(np.array(tensors["grad_norm"][: len(roles)]) ** 2))
        self.assertAlmostEqual(seen, min(0.5, steps["grad_norm"][0]), places=4)

    def test_records_masks(self):
        self.learn(sb3.MaskablePPO)
        samples, replays = table(self.path, "samples"), table(self.path, "replays")
        legal = np.array(samples["legal"])
        self.assertEqual(set(legal.sum(1)), {2})
        self.assertTrue(legal[np.arange(len(legal)), np.array(samples["action"]).astype(int)].all())
        first = np.array(replays["iteration"]) == 0
        np.testing.assert_array_equal(np.array(replays["legal"])[first], legal[np.array(replays["sample"])[first]])

    def test_records_continuous_actions_without_their_values(self):
        self.learn(space=sb3.Box((1,)))
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
        env = Poles()
        model = sb3.PPO(env, 4, sb3.Discrete(3))
        callback = trueline_recorder.sb3_callback(self.path)
        with mock.patch.object(trueline_recorder._BaselinesReader, "_minibatch", side_effect=RuntimeError("odd")):
            with self.assertWarnsRegex(trueline_recorder.RecorderWarning, "training goes on: RuntimeError: odd"):
                model.learn(256 * 3, callback)
        self.assertEqual(model.num_timesteps, 768)
        self.assertTrue(os.path.exists(os.path.join(self.path, "manifest.json")))

    def test_learns_the_same_with_and_without(self):
        nothing = sb3.BaseCallback()
        nothing._on_training_start = nothing._on_rollout_start = nothing._on_rollout_end = nothing._on_training_end = lambda: None
        nothing._on_step = lambda: True
        plain = sb3.PPO(Poles(), 4, sb3.Discrete(3), dropout=0.1).learn(768, nothing)
        recorded, _ = self.learn(dropout=0.1)
        for a, b in zip(plain.policy.parameters(), recorded.policy.parameters()):
            self.assertTrue((a == b).all())


if __name__ == "__main__":
    unittest.main()
