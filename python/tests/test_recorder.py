"""What the recorder writes, compared with independent computations; `python3 -m unittest discover python/tests`."""

import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "examples" / "pytorch")]

import trueline_recorder
from trueline_recorder import Recorder, RecorderWarning


def table(path, name):
    """All chunks of a table, ragged columns as lists of arrays."""
    columns = {}
    for file in sorted(glob.glob(os.path.join(path, name, "[0-9]*.npz"))):
        with np.load(file) as chunk:
            for key in chunk.files:
                if key.endswith(".offsets"):
                    continue
                if key.endswith(".values"):
                    offsets = chunk[key[:-7] + ".offsets"]
                    rows = [chunk[key][a:b] for a, b in zip(offsets, offsets[1:])]
                    columns.setdefault(key[:-7], []).extend(rows)
                else:
                    columns.setdefault(key, []).extend(chunk[key])
    return columns


def manifest(path):
    with open(os.path.join(path, "manifest.json")) as file:
        return json.load(file)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run")

    def recorder(self, **options):
        recorder = Recorder(self.path, **{"gamma": 0.9, "lam": 0.8, "strict": True, **options})
        self.addCleanup(recorder.close)
        return recorder

    def network(self):
        torch.manual_seed(0)
        actor = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        return actor, critic, torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)


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
            ({"old_logp": zeros, "terminated": zeros, "action": zeros + 0.5}, "action holds 0.5 where whole numbers"),
            (
                {"old_logp": zeros, "terminated": zeros, "logits": np.zeros((3, 2, 4)), "num_actions": 5},
                "padded to 4 candidates, but a row has 5",
            ),
        ):
            with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(ValueError, words):
                    Recorder(os.path.join(folder, "run"), strict=True).samples(**columns)


class Steps(Case):
    def test_counts_epochs_and_minibatches_by_the_rows_that_come_again(self):
        recorder = self.recorder()
        for iteration in range(2):
            recorder.samples(old_logp=np.zeros(6), terminated=np.zeros(6))
            for _ in range(2):
                for rows in ([4, 1, 0], [2, 3, 5]):
                    recorder.replays(sample=rows, new_logp=np.zeros(3))
                    recorder.step(loss=1.0)
        recorder.close()
        found = table(self.path, "replays")
        self.assertEqual(found["iteration"], [0] * 12 + [1] * 12)
        self.assertEqual(found["epoch"], ([0] * 6 + [1] * 6) * 2)
        self.assertEqual(found["minibatch"], ([0] * 3 + [1] * 3) * 4)
        steps = table(self.path, "steps")
        self.assertEqual([steps["epoch"], steps["minibatch"]], [[0, 0, 1, 1] * 2, [0, 1] * 4])

    def test_gathers_what_is_told_to_be_one_step(self):
        recorder = self.recorder()
        recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
        for epoch in range(2):
            for rows in ([0, 1], [2, 3]):
                recorder.replays(sample=rows, new_logp=[0.0, 0.0], epoch=epoch, minibatch=0)
            recorder.step(loss=1.0, epoch=epoch, minibatch=0)
        recorder.close()
        self.assertEqual(table(self.path, "replays")["epoch"], [0] * 4 + [1] * 4)
        self.assertEqual(set(table(self.path, "replays")["minibatch"]), {0})
        self.assertEqual(table(self.path, "steps")["epoch"], [0, 1])

    def test_gathers_reports_of_one_step_whether_its_iteration_is_kept_or_not(self):
        recorder = self.recorder(first=1)
        for _ in range(2):
            recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
            for epoch in range(2):
                recorder.step(policy_loss=1.0, epoch=epoch, minibatch=0)
                recorder.step(value_loss=2.0, epoch=epoch, minibatch=0)
        recorder.close()
        found = table(self.path, "steps")
        self.assertEqual((found["iteration"], found["epoch"]), ([0, 0, 1, 1], [0, 1, 0, 1]))
        self.assertEqual((found["policy_loss"], found["value_loss"]), ([1.0] * 4, [2.0] * 4))

    def test_writes_the_steps_that_are_over_when_told_to_in_the_middle(self):
        recorder = self.recorder(strict=False)
        recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
        for rows in ([0, 1], [2, 3]):
            recorder.replays(sample=np.array(rows), new_logp=np.zeros(2))
        recorder.flush()
        self.assertEqual(table(self.path, "replays")["sample"], [0, 1])
        recorder.close()
        self.assertEqual(table(self.path, "replays")["sample"], [0, 1, 2, 3])

    def test_counts_each_policy_by_itself_and_its_updates(self):
        recorder = self.recorder(agents=["x", "y"])
        nets = [self.network() for _ in range(2)]
        for name, (actor, critic, optimizer) in zip("xy", nets):
            recorder.watch(policy=name, actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros((2, 1, 2)), terminated=np.zeros((2, 1, 2)))
        for name, (actor, _, optimizer), times in (("x", nets[0], 1), ("y", nets[1], 3)):
            for _ in range(times):
                logp = actor(torch.ones(2, 3)).log_softmax(-1)[:, 0]
                recorder.replays(policy=name, sample=[0, 1], new_logp=logp)
                optimizer.zero_grad()
                logp.sum().backward()
                optimizer.step()
        recorder.close()
        found = table(self.path, "replays")
        self.assertEqual(
            sorted(zip(found["policy"], found["epoch"])), [(0, 0)] * 2 + [(1, 0)] * 2 + [(1, 1)] * 2 + [(1, 2)] * 2
        )
        self.assertEqual(manifest(self.path)["agents"], [{"name": "x", "policy": 0}, {"name": "y", "policy": 1}])
        counters = table(self.path, "counters")
        self.assertEqual(list(zip(counters["agent"], counters["value"])), [(0, 1.0), (1, 3.0)])

    def test_works_whatever_order_step_report_and_rows_come_in(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        for _ in range(2):
            actor(torch.ones(1, 3)).sum().backward()
            optimizer.step()
            recorder.step(loss=2.0)
            recorder.replays(sample=[0, 1], new_logp=[0.0, 0.0])
        recorder.close()
        self.assertEqual(table(self.path, "steps")["epoch"], [0, 1])
        self.assertEqual(
            sorted(set(zip(table(self.path, "tensors")["epoch"], table(self.path, "tensors")["minibatch"]))),
            [(0, 0), (1, 0)],
        )

    def test_looks_again_before_and_after_the_step_and_leaves_no_trace(self):
        actor, critic, optimizer = self.network()
        noisy = nn.Sequential(actor, nn.Dropout(0.5))
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
        obs = torch.randn(4, 3)

        def forward():
            scores = noisy(obs)
            return scores.log_softmax(-1)[:, 0], scores

        logp, _ = forward()
        state = torch.get_rng_state()
        recorder.replays(new_logp=logp, old_logp=torch.zeros(4), again=forward)
        logp.sum().backward()
        optimizer.step()
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        recorder.close()
        with torch.no_grad():
            torch.set_rng_state(state)
            after = forward()[0].numpy()
        found = table(self.path, "replays")
        np.testing.assert_allclose(found["after_logp"], after, atol=1e-6)
        self.assertGreater(np.abs(np.array(found["again_logp"]) - found["new_logp"]).max(), 1e-3)
        steps = table(self.path, "steps")
        self.assertAlmostEqual(steps["kl_after"][0], float(np.mean(0.5 * after.astype(np.float64) ** 2)), places=6)
        self.assertGreater(steps["delta_logits"][0], 0)


class Tensors(Case):
    def test_measures_gradients_and_changes_as_torch_computes_them(self):
        actor, critic, optimizer = self.network()
        self.compare(actor, critic, optimizer)

    def test_measures_the_same_where_tensors_are_not_in_plain_memory(self):
        actor, critic, optimizer = self.network()
        with mock.patch.object(trueline_recorder.tensors, "is_plain", return_value=False):
            self.compare(actor, critic, optimizer)

    def compare(self, actor, critic, optimizer):
        recorder = self.recorder()
        recorder.watch(policy="p", actor=actor, critic=critic, optimizer=optimizer, head="2")
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        names = [f"actor.{name}" for name, _ in actor.named_parameters()] + [
            f"critic.{name}" for name, _ in critic.named_parameters()
        ]
        parameters = [*actor.parameters(), *critic.parameters()]
        (actor(torch.ones(2, 3)).pow(2).sum() + critic(torch.ones(2, 3)).sum()).backward()
        before = [parameter.detach().clone() for parameter in parameters]
        optimizer.step()
        recorder.close()
        found, declared = table(self.path, "tensors"), manifest(self.path)
        self.assertEqual([tensor["name"] for tensor in declared["tensors"]], names)
        self.assertEqual(
            [tensor["role"] for tensor in declared["tensors"]], ["trunk"] * 2 + ["head"] * 2 + ["critic"] * 4
        )
        self.assertEqual([tensor["size"] for tensor in declared["tensors"]], [p.numel() for p in parameters])
        self.assertEqual(found["tensor"], [*range(8)])
        for i, (old, parameter) in enumerate(zip(before, parameters)):
            change = parameter.detach() - old
            self.assertAlmostEqual(found["grad_norm"][i], parameter.grad.norm().item(), places=4)
            self.assertEqual(found["grad_nonzero"][i], int((parameter.grad != 0).sum()))
            self.assertAlmostEqual(found["delta"][i], change.abs().sum().item(), places=4)
            self.assertAlmostEqual(found["delta_norm"][i], change.norm().item(), places=4)
            self.assertAlmostEqual(found["norm"][i], old.norm().item(), places=4)
        self.assertEqual(
            (set(found["learning_rate"]), set(found["bound"]), set(found["weight_decay"])), ({0.1}, {1}, {0.0})
        )
        self.assertEqual(table(self.path, "steps")["learning_rate"], [0.1])
        about = {"name": "sgd", "decoupled_decay": False, "momentum": 0, "nesterov": False, "weight_decay": 0}
        self.assertEqual(declared["settings"]["optimizer"], about)
        self.assertEqual(declared["settings"]["lambda"], 0.8)

    def test_tells_what_no_optimiser_holds_and_what_two_hold(self):
        actor, critic, _ = self.network()
        first = torch.optim.Adam([actor[0].weight, actor[0].bias], lr=0.01, weight_decay=0.1)
        second = torch.optim.SGD([*critic.parameters(), actor[0].weight], lr=0.02)
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=[first, second], head=actor[2])
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        (actor(torch.ones(2, 3)).pow(2).sum() + critic(torch.ones(2, 3)).sum()).backward()
        start = actor[0].weight.detach().clone()
        first.step()
        middle = actor[0].weight.detach().clone()
        second.step()
        recorder.close()
        found = table(self.path, "tensors")
        at = {i: k for k, i in enumerate(found["tensor"])}
        self.assertEqual([found["bound"][at[i]] for i in range(4)], [2, 1, 0, 0])
        self.assertEqual([found["delta"][at[i]] for i in (2, 3)], [0, 0])
        self.assertTrue(all(found["grad_norm"][at[i]] > 0 for i in (2, 3)))
        moved = (middle - start).abs().sum() + (actor[0].weight.detach() - middle).abs().sum()
        self.assertAlmostEqual(found["delta"][at[0]], moved.item(), places=5)
        self.assertAlmostEqual(found["weight_decay"][at[0]], 0.1)
        self.assertTrue(np.isnan(found["learning_rate"][at[2]]))
        self.assertEqual(len(found["tensor"]), 8)

    def test_finds_shared_trunks_and_the_last_layer(self):
        trunk, policy, value = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 1)
        optimizer = torch.optim.Adam([*trunk.parameters(), *policy.parameters(), *value.parameters()])
        recorder = self.recorder()
        recorder.watch(policy="a", shared=trunk, head=policy, critic=value, optimizer=optimizer)
        recorder.watch(
            policy="b",
            actor=nn.Sequential(trunk, nn.Tanh(), policy),
            critic=nn.Sequential(trunk, nn.Tanh(), value),
            optimizer=optimizer,
        )
        tensors = manifest(self.path)["tensors"]
        self.assertEqual([t["role"] for t in tensors], ["shared", "shared", "head", "head", "critic", "critic"] * 2)
        with self.assertRaisesRegex(ValueError, "head='9' names no layer of the actor; it has 0, 2"):
            recorder.watch(policy="c", actor=nn.Sequential(trunk, nn.Tanh(), policy), head="9", optimizer=optimizer)
        with self.assertRaisesRegex(ValueError, "needs optimizer="):
            recorder.watch(policy="c", actor=trunk)

    def test_sees_a_layer_that_was_replaced_behind_the_optimiser(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        for _ in range(2):
            recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
            actor(torch.ones(1, 3)).sum().backward()
            optimizer.step()
            actor[2] = nn.Linear(5, 2)
        recorder.close()
        found = table(self.path, "tensors")
        self.assertEqual([bound for i, bound in zip(found["tensor"], found["bound"]) if i == 2], [1, 0])

    def test_measures_parameters_that_were_given_other_memory_between_two_steps(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        norms = []
        for scale in (1.0, 3.0):
            for parameter in actor.parameters():
                parameter.data = parameter.data * scale
            actor(torch.ones(1, 3)).sum().backward()
            norms.append([parameter.detach().norm().item() for parameter in actor.parameters()])
            optimizer.step()
        recorder.close()
        found = np.array(table(self.path, "tensors")["norm"]).reshape(2, -1)[:, :4]
        np.testing.assert_allclose(found, norms, rtol=1e-6)

    def test_lives_with_schedules_made_before_and_after(self):
        actor, critic, optimizer = self.network()
        before = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        after = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                actor(torch.ones(1, 3)).sum().backward()
                optimizer.step()
                before.step()
                after.step()
        recorder.close()
        rates = [
            rate
            for i, rate in zip(table(self.path, "tensors")["tensor"], table(self.path, "tensors")["learning_rate"])
            if i == 0
        ]
        np.testing.assert_allclose(rates, [0.1, 0.1 * 0.01])

    def test_uses_the_optimisers_own_hooks_where_there_are_any(self):
        actor, critic, optimizer = self.network()
        removed = []

        class Hooked:
            param_groups = optimizer.param_groups
            hooks = {"pre": [], "post": []}

            def register_step_pre_hook(self, hook):
                self.hooks["pre"].append(hook)
                return SimpleNamespace(remove=lambda: removed.append("pre"))

            def register_step_post_hook(self, hook):
                self.hooks["post"].append(hook)
                return SimpleNamespace(remove=lambda: removed.append("post"))

            def step(self):
                for hook in self.hooks["pre"]:
                    self.result = hook(self, (), {})
                optimizer.step()
                for hook in self.hooks["post"]:
                    hook(self, (), {})

        hooked = Hooked()
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=hooked)
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        actor(torch.ones(1, 3)).sum().backward()
        hooked.step()
        self.assertIsNone(hooked.result)  # what a hook returns would replace the step's arguments
        recorder.close()
        self.assertEqual(len(table(self.path, "tensors")["delta"]), 8)
        self.assertEqual(removed, ["pre", "post"])

    def test_lets_go_of_the_optimiser(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder()
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.close()
        self.assertNotIn("step", vars(optimizer))

    def test_keeps_the_actor_as_onnx_where_asked(self):
        actor, critic, optimizer = self.network()
        actor.train()
        recorder = self.recorder(first=1, every=2)
        recorder.watch(policy="p", actor=actor, critic=critic, optimizer=optimizer, snapshots=True)
        for _ in range(3):
            recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2), obs=np.zeros((2, 3), np.float32))
            recorder.step(loss=0.0)
        recorder.close()
        self.assertEqual(sorted(os.listdir(os.path.join(self.path, "policies"))), ["p-0.onnx", "p-2.onnx"])
        self.assertTrue(actor.training)
        with open(os.path.join(self.path, "policies", "p-0.onnx"), "rb") as file:
            data = file.read()
        self.assertTrue(b"obs" in data and b"logits" in data)


class Trouble(Case):
    def test_warns_once_and_lets_training_go_on(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder(strict=False)
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        with self.assertWarnsRegex(
            RecorderWarning, "ends in iteration 0, training goes on: ValueError: replays has no column logprob"
        ):
            recorder.replays(logprob=[0.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            recorder.replays(logprob=[0.0])
            recorder.samples(nonsense=3)
            actor(torch.ones(1, 3)).sum().backward()
            optimizer.step()
            recorder.close()
        self.assertEqual(table(self.path, "samples")["t"], [0, 1, 2])
        self.assertNotIn("step", vars(optimizer))

    def test_survives_a_disk_that_fails(self):
        recorder = self.recorder(strict=False)
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        with mock.patch.object(np, "savez", side_effect=OSError(28, "No space left on device")):
            recorder.step(loss=1.0)
            with self.assertWarnsRegex(RecorderWarning, "No space left on device"):
                recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        recorder.close()
        self.assertEqual(glob.glob(os.path.join(self.path, "*", ".*")), [])

    def test_does_not_raise_where_warnings_are_errors(self):
        recorder = self.recorder(strict=False)
        with warnings.catch_warnings(), mock.patch("sys.stderr") as stderr:
            warnings.simplefilter("error")
            recorder.samples(nonsense=3)
        self.assertIn("no column nonsense", "".join(str(call.args[0]) for call in stderr.write.call_args_list))
        self.assertTrue(recorder.stopped)

    def test_refuses_a_folder_that_holds_a_recording(self):
        self.recorder().close()
        with self.assertRaisesRegex(FileExistsError, "pass overwrite=True"):
            Recorder(self.path)
        recorder = Recorder(self.path, overwrite=True, name="second")
        recorder.close()
        self.assertEqual(manifest(self.path)["name"], "second")

    def test_holds_no_more_than_it_should(self):
        with mock.patch.object(trueline_recorder.store, "HELD_BYTES", 100_000):
            recorder = self.recorder()
            most = 0
            for _ in range(50):
                recorder.samples(old_logp=np.zeros(100), terminated=np.zeros(100), obs=np.zeros((100, 40)))
                most = max(most, recorder._store.bytes)
            recorder.close()
        self.assertLess(most, 140_000)
        self.assertGreater(len(os.listdir(os.path.join(self.path, "samples"))), 10)
        self.assertEqual(table(self.path, "samples")["t"], [*range(5000)])

    def test_a_killed_program_leaves_whole_files_and_one_that_ends_leaves_all(self):
        script = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE.parent)!r})
import numpy as np
import trueline_recorder
trueline_recorder.store.HELD_SECONDS = 0
recorder = trueline_recorder.Recorder(sys.argv[1])
for _ in range(3):
    recorder.samples(old_logp=np.zeros(5), terminated=np.zeros(5))
    recorder.step(loss=1.0)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
        for way, rows in (("kill", 10), ("end", 15)):
            path = f"{self.path}-{way}"
            done = subprocess.run([sys.executable, "-c", script, path, way], check=False)
            self.assertEqual(done.returncode, -signal.SIGKILL if way == "kill" else 0)
            self.assertEqual(len(table(path, "samples")["t"]), rows)
            self.assertEqual(manifest(path)["format"], "trueline/1")


class Training(Case):
    def test_is_the_same_bit_for_bit_with_and_without_the_recorder(self):
        import mappo
        import ppo

        class Nothing:
            def __init__(self, *args, **kwargs):
                pass

            def __getattr__(self, name):
                return lambda *args, **kwargs: None

        for example in (ppo, mappo):
            options = example.parser().parse_args(["--iterations", "3", "--steps", "16", "--out", self.path])
            options.fault = "dropout" if example is mappo else None
            with self.subTest(example.__name__):
                self.assertEqual(example.train(options, Recorder), example.train(options, Nothing))

    def test_records_the_same_whether_rows_and_tensors_are_looked_at_together_or_one_by_one(self):
        import mappo
        import ppo

        def recorded(example, strict):
            options = example.parser().parse_args(["--iterations", "5", "--steps", "16", "--out", self.path])
            example.train(options, lambda *args, **kwargs: Recorder(*args, **{**kwargs, "strict": strict}))
            tables = {name: table(self.path, name) for name in trueline_recorder.TABLES}
            return {
                (name, key): np.hstack(values) for name, columns in tables.items() for key, values in columns.items()
            }

        for example in (ppo, mappo):
            together = recorded(example, False)
            with (
                mock.patch.object(trueline_recorder.tensors, "COPIED_ENTRIES", 1),
                mock.patch.object(trueline_recorder.core, "RAW_ROWS", 0),
            ):
                single = recorded(example, True)
            with self.subTest(example.__name__):
                self.assertGreater(len(together["tensors", "delta"]), 100)
                self.assertEqual(list(together), list(single))
                for key, values in together.items():
                    np.testing.assert_array_equal(values, single[key], str(key))


if __name__ == "__main__":
    unittest.main()
