"""How the recorder counts steps, epochs and minibatches, whatever order reports come in."""

import pathlib
import sys
import unittest

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support import Case, manifest, table


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


if __name__ == "__main__":
    unittest.main()
