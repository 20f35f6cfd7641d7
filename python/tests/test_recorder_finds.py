"""What the recorder finds by itself and what it warns of: logits, rows by their content, odd shapes, and that it had to stop."""

import copy
import os
import sys
import unittest
import warnings

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Case, manifest, table
from trueline_recorder import RecorderWarning


class Finds(Case):
    def rollout(self, actor, steps=6, envs=4):
        """Observations, actions, log-probabilities and logits of a small rollout, as (steps, envs, ...)."""
        rows = []
        for _ in range(steps):
            obs = torch.randn(envs, 3)
            with torch.no_grad():
                scores = actor(obs)
            choice = torch.distributions.Categorical(logits=scores)
            action = choice.sample()
            rows.append((obs, action, choice.log_prob(action), scores))
        return [torch.stack(column) for column in zip(*rows)]

    def watched(self, **given):
        actor, critic, optimizer = self.network()
        recorder = self.recorder(**given)
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        return recorder, actor

    def said(self, call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        here = [w for w in caught if issubclass(w.category, RecorderWarning)]
        self.assertEqual(
            {os.path.basename(w.filename) for w in here} | {"test_recorder_finds.py"}, {"test_recorder_finds.py"}
        )
        return [str(w.message) for w in here]

    def test_reads_logits_from_the_last_layer_in_the_order_of_the_rows(self):
        for flip in (False, True):
            with self.subTest(environments_first=flip):
                self.path += "x"
                recorder, actor = self.watched()
                obs, action, logp, scores = self.rollout(actor)
                order = (
                    (lambda x: x.transpose(0, 1).reshape(24, *x.shape[2:]))
                    if flip
                    else (lambda x: x.reshape(24, *x.shape[2:]))
                )
                recorder.samples(old_logp=order(logp), action=order(action), terminated=np.zeros(24))
                index = torch.arange(8)
                new = actor(order(obs)[index])
                recorder.replays(sample=index, new_logp=new.log_softmax(-1)[:, 0])
                recorder.close()
                np.testing.assert_array_equal(np.array(table(self.path, "samples")["logits"]), order(scores).numpy())
                np.testing.assert_array_equal(np.array(table(self.path, "replays")["logits"]), new.detach().numpy())

    def test_takes_actions_that_are_no_indices_for_continuous_ones(self):
        for shape in ((3, 2), (3, 2, 4)):
            recorder = self.recorder(overwrite=True)
            drawn = np.random.default_rng(1).normal(size=shape)
            recorder.samples(old_logp=np.zeros((3, 2)), terminated=np.zeros((3, 2)), action=drawn)
            recorder.replays(old_logp=np.zeros(2), new_logp=np.zeros(2), action=drawn[1])
            recorder.close()
            found = table(self.path, "samples")
            np.testing.assert_allclose(np.reshape(found["action_values"], (6, -1)), drawn.reshape(6, -1))
            self.assertEqual(list(table(self.path, "replays")["sample"]), [2, 3])

    def test_reads_logits_where_acting_scores_more_than_it_draws_from(self):
        for each, last in ((1, 0), (2, 0), (0, 1), (1, 1)):
            with self.subTest(calls_beside_each_step=each, calls_at_the_end=last):
                self.path += "x"
                recorder, actor = self.watched()
                parts = []
                for _ in range(6):
                    parts.append(self.rollout(actor, steps=1))
                    for _ in range(each):
                        with torch.no_grad():
                            actor(torch.randn(4, 3))
                for _ in range(last):
                    with torch.no_grad():
                        actor(torch.randn(4, 3))
                _, action, logp, scores = [torch.cat(column) for column in zip(*parts)]
                said = self.said(lambda: recorder.samples(old_logp=logp, action=action, terminated=np.zeros((6, 4))))
                self.assertEqual(said, [])
                recorder.close()
                np.testing.assert_array_equal(
                    np.array(table(self.path, "samples")["logits"]), scores.reshape(24, -1).numpy()
                )

    def test_keeps_the_logits_of_the_update_where_what_was_stored_is_odd(self):
        for odd in (True, False):
            recorder, actor = self.watched(overwrite=True)
            obs, action, logp, _ = self.rollout(actor)
            self.said(lambda: recorder.samples(old_logp=logp - 1, action=action, terminated=np.zeros((6, 4))))
            index = torch.arange(8)
            new = actor(obs.reshape(24, -1)[index])
            fresh = new.log_softmax(-1)[index, action.reshape(-1)[index]]
            recorder.replays(sample=index, new_logp=fresh if odd else fresh - 1)
            recorder.close()
            self.assertNotIn("logits", table(self.path, "samples"))
            found = table(self.path, "replays")
            if odd:
                np.testing.assert_array_equal(np.array(found["logits"]), new.detach().numpy())
            else:
                self.assertNotIn("logits", found)

    def test_takes_actions_of_several_numbers_for_several_choices(self):
        recorder = self.recorder(overwrite=True)
        chosen = np.arange(12).reshape(3, 2, 2) % 4
        logits = np.zeros((3, 2, 7))
        columns = {"choices": np.broadcast_to([3, 4], (3, 2, 2)), "choice_logits": logits}
        recorder.samples(old_logp=np.zeros((3, 2)), terminated=np.zeros((3, 2)), action=chosen, **columns)
        recorder.replays(sample=np.arange(2), new_logp=np.zeros(2), choice_logits=logits[0])
        recorder.close()
        found = table(self.path, "samples")
        np.testing.assert_array_equal(np.reshape(found["action_values"], (6, -1)), chosen.reshape(6, -1))
        np.testing.assert_array_equal(np.reshape(found["choices"], (6, -1)), [[3, 4]] * 6)
        self.assertNotIn("action", found)

    def test_takes_no_logits_that_do_not_give_the_log_probabilities(self):
        recorder, actor = self.watched()
        _, action, logp, _ = self.rollout(actor)
        said = self.said(lambda: recorder.samples(old_logp=logp - 1, action=action, terminated=np.zeros((6, 4))))
        recorder.close()
        self.assertIn("no logits are recorded", said[0])
        self.assertNotIn("logits", table(self.path, "samples"))

    def test_a_copy_of_a_watched_actor_is_not_listened_to(self):
        recorder, actor = self.watched()
        copy.deepcopy(actor)(torch.ones(2, 3))
        self.assertEqual(recorder._watching.taps[0].caught.calls, [])

    def test_finds_rows_by_their_content_and_counts_epochs_by_them(self):
        random = np.random.default_rng(0)
        logp, obs, action = random.normal(size=32), random.normal(size=(32, 3)), random.integers(0, 4, 32)
        recorder = self.recorder()
        recorder.samples(old_logp=logp, obs=obs, action=action, terminated=np.zeros(32))
        wanted = []
        for _ in range(2):
            for part in np.array_split(random.permutation(32), 4):
                wanted.extend(part)
                old = torch.as_tensor(
                    logp[part], dtype=torch.float32
                )  # double precision when sampled, single in the update
                recorder.replays(new_logp=old, old_logp=old, action=action[part], obs=obs[part])
        recorder.close()
        found = table(self.path, "replays")
        self.assertEqual(found["sample"], wanted)
        self.assertEqual(found["epoch"], [0] * 32 + [1] * 32)

    def test_tells_equal_rows_apart_by_their_return_and_says_where_it_cannot(self):
        recorder = self.recorder()
        logp, returns = np.full(6, -0.5), np.arange(6.0)
        recorder.samples(old_logp=logp, return_=returns, advantage=returns, terminated=np.zeros(6))
        part = np.array([4, 1, 3])
        self.assertEqual(
            self.said(lambda: recorder.replays(new_logp=np.zeros(3), old_logp=logp[part], return_=returns[part])), []
        )
        said = self.said(lambda: recorder.replays(new_logp=np.zeros(3), old_logp=logp[part]))
        recorder.close()
        self.assertEqual(table(self.path, "replays")["sample"][:3], [4, 1, 3])
        self.assertRegex(said[0], "3 of 3 rows of a minibatch fit several samples")

    def test_leaves_a_minibatch_out_that_it_cannot_find_and_says_so(self):
        recorder = self.recorder()
        recorder.samples(old_logp=np.arange(6.0), terminated=np.zeros(6))
        said = self.said(lambda: recorder.replays(new_logp=np.zeros(2), old_logp=np.array([1.0, 9.0])))
        recorder.close()
        self.assertRegex(said[0], "1 of 2 rows of a minibatch are not among the 6 samples")
        self.assertEqual(table(self.path, "replays"), {})

    def test_warns_of_odd_shapes_at_once_and_keeps_the_sentence(self):
        zeros, rows = np.zeros(4), np.arange(4)
        cases = (
            (
                {"sample": rows, "new_logp": zeros, "advantage": np.zeros((4, 1))},
                r"advantage has the shape \(4, 1\) where new_logp has \(4,\)",
            ),
            ({"sample": rows, "new_logp": np.zeros((4, 1))}, "with a last axis of 1"),
            ({"sample": rows, "new_logp": zeros, "entropy": torch.tensor(0.5)}, "entropy is one number for 4 rows"),
            ({"sample": np.array([2, 2, 2, 1]), "new_logp": zeros}, "sample 2 comes 3 times"),
            ({"sample": rows, "new_logp": zeros, "old_logp": np.arange(4.0)}, "the same row may be repeated"),
        )
        for columns, words in cases:
            with self.subTest(words):
                self.path += "x"
                recorder = self.recorder()
                recorder.samples(old_logp=np.arange(4.0), terminated=zeros)
                said = self.said(lambda: recorder.replays(**columns))
                self.assertEqual(len(said), 1)
                self.assertRegex(said[0], words)
                self.assertEqual(manifest(self.path)["recorder"]["warnings"], [{"iteration": 0, "text": said[0]}])

    def test_keeps_agents_apart_that_nobody_named_and_says_so(self):
        recorder = self.recorder()
        zeros = np.zeros((5, 2, 3))
        said = self.said(lambda: recorder.samples(old_logp=zeros, terminated=zeros))
        recorder.close()
        self.assertRegex(said[0], "was told of one agent")
        found = table(self.path, "samples")
        self.assertEqual(len(set(zip(found["env"], found["t"]))), 30)

    def test_says_nothing_of_a_usual_loop(self):
        recorder, actor = self.watched()
        obs, action, logp, _ = self.rollout(actor)

        def update():
            recorder.samples(
                old_logp=logp, action=action, reward=logp, value=logp, terminated=np.zeros((6, 4)), obs=obs
            )
            for index in torch.randperm(24).split(8):
                new = actor(obs.reshape(24, 3)[index]).log_softmax(-1)[:, 0]
                recorder.replays(
                    sample=index, new_logp=new, old_logp=logp.reshape(-1)[index], advantage=new, weight=1.0
                )

        self.assertEqual(self.said(update), [])

    def test_what_the_program_says_of_its_place_counts(self):
        recorder = self.recorder(first=9)
        for iteration in (3, 5):
            recorder.begin(iteration)
            for agent in range(2):
                recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2), env=agent)
            for epoch in range(2):
                recorder.at(epoch=epoch, minibatch=7)
                for rows in ([0, 1], [2, 3]):
                    recorder.replays(sample=np.array(rows), new_logp=np.zeros(2))
                recorder.step(loss=1.0)
        recorder.close()
        found, steps = table(self.path, "replays"), table(self.path, "steps")
        self.assertEqual(
            (steps["iteration"], steps["epoch"], steps["minibatch"]), ([3, 3, 5, 5], [0, 1, 0, 1], [7] * 4)
        )
        self.assertEqual((found["minibatch"], len(found["sample"])), ([7] * 16, 16))

    def test_writes_into_the_manifest_that_it_had_to_stop(self):
        recorder = self.recorder(strict=False)
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        said = self.said(lambda: recorder.replays(nonsense=1))
        self.assertRegex(said[0], "ends in iteration 0, training goes on")
        stopped = manifest(self.path)["recorder"]["stopped"]
        self.assertEqual(stopped["iteration"], 0)
        self.assertIn("no column nonsense", stopped["reason"])


if __name__ == "__main__":
    unittest.main()
