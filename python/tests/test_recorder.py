"""What the recorder writes, compared with independent computations; `python3 -m unittest discover python/tests`."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from support import Case, table
from trueline_recorder import Recorder


class Rows(Case):
    def test_flattens_as_numpy_and_torch_do_and_counts_episodes_like_a_plain_loop(self):
        random = np.random.default_rng(0)
        recorder = self.recorder(agents=["a", "b"], every=1)
        T, N, A = 7, 3, 2
        ends, wanted = {}, []
        ids = {}
        for iteration in range(4):
            over = random.random((T, N)) < 0.3
            cut = random.random((T, N)) < 0.1
            logp = random.normal(size=(T, N, A)).astype(np.float32)
            reward = random.normal(size=(T, N, A))
            recorder.samples(
                old_logp=torch.as_tensor(logp),
                terminated=(over & ~cut)[..., None],
                truncated=torch.as_tensor(cut[..., None]),
                reward=reward,
            )
            recorder.step(loss=0.0)
            for t in range(T):
                for n in range(N):
                    for a in range(A):
                        count, age = ends.get((n, a), (0, 0))
                        wanted.append((iteration, n, a, (n, count), age, logp[t, n, a], reward[t, n, a]))
                        ends[(n, a)] = (count + 1, 0) if over[t, n] or cut[t, n] else (count, age + 1)
        recorder.close()
        found = table(self.path, "samples")
        self.assertEqual(found["iteration"], [row[0] for row in wanted])
        self.assertEqual(found["env"], [row[1] for row in wanted])
        self.assertEqual(found["agent"], [row[2] for row in wanted])
        self.assertEqual(found["t"], [row[4] for row in wanted])
        self.assertEqual(found["old_logp"], [row[5] for row in wanted])
        # The same episode has the same number for both agents, and no two share one.
        for row, episode in zip(wanted, found["episode"]):
            ids.setdefault(row[3], set()).add(int(episode))
        self.assertTrue(all(len(numbers) == 1 for numbers in ids.values()))
        self.assertEqual(len({min(numbers) for numbers in ids.values()}), len(ids))
        # Returns of finished episodes are sums of their rewards.
        sums, lengths = {}, {}
        for row, episode in zip(wanted, found["episode"]):
            sums[(episode, row[2])] = sums.get((episode, row[2]), 0.0) + row[6]
            lengths[(episode, row[2])] = row[4] + 1
        done = table(self.path, "episodes")
        self.assertGreater(len(done["episode"]), 20)
        for episode, agent, gained, length in zip(done["episode"], done["agent"], done["return"], done["length"]):
            self.assertAlmostEqual(gained, sums[(episode, agent)], places=9)
            self.assertEqual(length, lengths[(episode, agent)])

    def test_goes_on_counting_in_iterations_that_are_not_kept(self):
        recorder = self.recorder(first=1, every=4)
        for _ in range(9):
            recorder.samples(old_logp=np.zeros(10), terminated=np.zeros(10, bool), reward=np.ones(10))
            recorder.step(loss=1.0)
        recorder.close()
        found = table(self.path, "samples")
        self.assertEqual(sorted(set(found["iteration"])), [0, 4, 8])
        self.assertEqual(found["t"], [*range(10), *range(40, 50), *range(80, 90)])
        self.assertEqual(set(found["episode"]), {0})
        self.assertEqual(table(self.path, "steps")["iteration"], [*range(9)])

    def test_takes_lists_padded_arrays_and_lists_of_lists(self):
        recorder = self.recorder()
        padded = np.arange(12).reshape(3, 4)
        recorder.samples(
            old_logp=[0.0, 0.0, 0.0],
            terminated=[0, 0, 1],
            num_actions=[2, 4, 1],
            subset=padded,
            logits=torch.as_tensor(padded, dtype=torch.float32),
            legal=[[True, False], [True] * 4, [True]],
            candidate_features=np.arange(24.0).reshape(3, 4, 2),
            obs=np.ones((3, 6), np.float32),
        )
        recorder.close()
        found = table(self.path, "samples")
        self.assertEqual([row.tolist() for row in found["subset"]], [[0, 1], [4, 5, 6, 7], [8]])
        self.assertEqual([row.tolist() for row in found["logits"]], [[0, 1], [4, 5, 6, 7], [8]])
        self.assertEqual([row.tolist() for row in found["legal"]], [[True, False], [True] * 4, [True]])
        self.assertEqual(
            [row.tolist() for row in found["candidate_features"]], [[0, 1, 2, 3], [*range(8, 16)], [16, 17]]
        )
        self.assertEqual(np.array(found["obs"]).shape, (3, 6))

    def test_joins_calls_whose_lists_differ_in_length_and_columns_that_come_later(self):
        recorder = self.recorder(agents=["a", "b"])
        recorder.samples(agent="a", old_logp=[0.0, 0.0], terminated=[0, 0], logits=[[1.0, 2.0], [3.0, 4.0]])
        recorder.samples(
            agent=["b", "a"], old_logp=[0.5, 0.5], terminated=[0, 0], logits=[[1.0], [2.0, 3.0, 4.0]], value=[7.0, 8.0]
        )
        recorder.samples(agent=[1], old_logp=[0.25], terminated=[1])
        recorder.close()
        found = table(self.path, "samples")
        self.assertEqual([row.tolist() for row in found["logits"]], [[1, 2], [3, 4], [1], [2, 3, 4], []])
        np.testing.assert_array_equal(found["value"], [np.nan, np.nan, 7, 8, np.nan])
        self.assertEqual(found["agent"], [0, 0, 1, 0, 1])

    def test_copies_at_once_and_keeps_no_graph(self):
        recorder = self.recorder()
        logp = torch.zeros(4, requires_grad=True)
        doubled = logp * 2
        reward = np.zeros(4)
        recorder.samples(
            old_logp=doubled, terminated=np.zeros(4, bool), reward=reward, value=torch.ones(4, dtype=torch.bfloat16)
        )
        with torch.no_grad():
            logp += 5
        reward += 5
        recorder.close()
        found = table(self.path, "samples")
        self.assertEqual((found["old_logp"], found["reward"], found["value"]), ([0] * 4, [0] * 4, [1] * 4))

    def test_copies_rows_of_a_minibatch_at_once(self):
        recorder = self.recorder(strict=False)
        recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4, bool))
        logp, advantage, rows = torch.zeros(4, requires_grad=True), np.ones(4), np.arange(4)
        recorder.replays(sample=rows, new_logp=logp, advantage=advantage)
        with torch.no_grad():
            logp += 5
        advantage += 5
        rows += 5
        recorder.close()
        found = table(self.path, "replays")
        self.assertEqual((found["new_logp"], found["advantage"], found["sample"]), ([0] * 4, [1] * 4, [0, 1, 2, 3]))

    def test_takes_an_iteration_without_rows(self):
        recorder = self.recorder()
        recorder.samples(old_logp=np.zeros(0), terminated=np.zeros(0, bool), reward=np.zeros(0))
        recorder.samples(old_logp=np.zeros(2), terminated=np.array([False, True]), reward=np.ones(2))
        recorder.close()
        self.assertEqual((table(self.path, "samples")["t"], table(self.path, "episodes")["return"]), ([0, 1], [2.0]))

    def test_says_which_tensors_are_frozen(self):
        actor = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
        actor[0].requires_grad_(False)
        recorder = self.recorder()
        recorder.watch(actor=actor, optimizer=torch.optim.SGD(actor.parameters(), lr=0.1))
        recorder.samples(old_logp=np.zeros(4), terminated=np.ones(4))
        recorder.close()
        told = json.loads((pathlib.Path(self.path) / "manifest.json").read_text())["tensors"]
        self.assertEqual([tensor.get("frozen", False) for tensor in told], [True, True, False, False])

    def test_turns_negative_log_probabilities(self):
        recorder = self.recorder()
        recorder.samples(old_neglogp=[0.5, 1.5], terminated=[0, 1])
        recorder.replays(sample=[1, 0], new_neglogp=torch.tensor([1.25, 0.25]), old_neglogp=[1.5, 0.5])
        recorder.close()
        self.assertEqual(table(self.path, "samples")["old_logp"], [-0.5, -1.5])
        self.assertEqual(table(self.path, "replays")["new_logp"], [-1.25, -0.25])
        self.assertEqual(table(self.path, "replays")["old_logp"], [-1.5, -0.5])

    def test_puts_a_bootstrap_per_environment_at_the_last_step(self):
        recorder = self.recorder()
        zeros = np.zeros((3, 2))
        recorder.samples(old_logp=zeros, terminated=zeros, next_value=torch.tensor([[4.0, 5.0]]))
        recorder.close()
        np.testing.assert_array_equal(table(self.path, "samples")["next_value"], [np.nan] * 4 + [4, 5])

    def test_refuses_what_does_not_fit_with_a_sentence(self):
        zeros = np.zeros((3, 2))
        for columns, words in (
            (
                {"old_logp": zeros, "terminated": zeros, "reward": np.zeros((2, 3))},
                r"reward has the shape \(2, 3\) where old_logp has \(3, 2\)",
            ),
            ({"old_logp": zeros, "terminated": zeros, "rewards": zeros}, r"no column rewards; did you mean reward\?"),
            ({"terminated": zeros}, "needs old_logp"),
            ({"old_logp": zeros}, "to tell episodes apart"),
            ({"old_logp": zeros, "terminated": zeros, "agent": "x"}, "no agent 'x'"),
            ({"old_logp": zeros, "terminated": zeros, "env": zeros + 0.5}, "env holds 0.5 where whole numbers"),
            (
                {"old_logp": zeros, "terminated": zeros, "logits": np.zeros((3, 2, 4)), "num_actions": 5},
                "padded to 4 candidates, but a row has 5",
            ),
        ):
            with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(ValueError, words):
                    Recorder(os.path.join(folder, "run"), strict=True).samples(**columns)


if __name__ == "__main__":
    unittest.main()
