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

    def two(self, **options):
        """A recorder that watches an actor and a critic with an optimiser each."""
        actor, critic, _ = self.network()
        both = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic)]
        recorder = self.recorder(**options)
        recorder.watch(actor=actor, critic=critic, optimizer=both)
        return recorder, *both

    def stepped(self, optimizer):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.ones_like(parameter)
        optimizer.step()

    def places(self, name):
        found = table(self.path, name)
        return list(zip(*(map(int, found[column]) for column in ("iteration", "epoch", "minibatch"))))

    def test_a_report_belongs_to_the_latest_rows_however_often_an_optimiser_has_stepped_since(self):
        recorder, policy, value = self.two(first=1)
        for iteration in range(2):
            recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
            for epoch in range(2):
                for rows in ([0, 1], [2, 3]):
                    recorder.replays(sample=rows, new_logp=[0.0, 0.0])
                    for optimizer in (policy, value, value):
                        self.stepped(optimizer)
                    recorder.step(policy_loss=100 * iteration + 10 * epoch + rows[0])
        recorder.close()
        rows = [(0, epoch, place) for epoch in (0, 1) for place in (0, 2)]
        self.assertEqual(sorted(set(self.places("replays"))), rows)
        # Iterations whose rows are not kept follow the same plan.
        reports = zip(self.places("steps"), table(self.path, "steps")["policy_loss"])
        told = {place: loss for place, loss in reports if not np.isnan(loss)}
        self.assertEqual(list(told), rows + [(1, *place[1:]) for place in rows])
        self.assertEqual(list(told.values()), [0, 2, 10, 12, 100, 102, 110, 112])
        # The further step is one of its own, and only the critic is in it.
        tensors = {}
        for place, tensor in zip(self.places("tensors"), table(self.path, "tensors")["tensor"]):
            tensors.setdefault(place, []).append(int(tensor))
        self.assertEqual(
            tensors,
            {(0, epoch, place): list(range(4 * (place % 2), 8)) for epoch in (0, 1) for place in range(4)},
        )

    def test_a_place_that_is_told_holds_its_report_although_an_optimiser_steps_twice(self):
        for told in ({"epoch": 0}, {"epoch": 0, "minibatch": 0}):
            recorder, policy, value = self.two(overwrite=True)
            recorder.samples(old_logp=np.zeros(4), terminated=np.zeros(4))
            recorder.replays(sample=[0, 1], new_logp=[0.0, 0.0], **told)
            for optimizer in (policy, value, value):
                self.stepped(optimizer)
            recorder.step(policy_loss=1.0, **told)
            recorder.replays(sample=[2, 3], new_logp=[0.0, 0.0])
            recorder.close()
            self.assertEqual(self.places("replays"), [(0, 0, 0)] * 2 + [(0, 0, 2)] * 2)
            losses = zip(self.places("steps"), table(self.path, "steps")["policy_loss"])
            self.assertEqual(next(losses), ((0, 0, 0), 1.0))

    def test_a_report_waits_for_its_step_although_many_rows_are_written_before(self):
        many = 10_000
        recorder, policy, value = self.two()
        recorder.samples(old_logp=np.zeros(many), terminated=np.zeros(many))
        recorder.replays(sample=np.arange(many), new_logp=np.zeros(many))
        for optimizer in (policy, value, value, value):
            self.stepped(optimizer)
        recorder.flush()
        recorder.step(policy_loss=1.0)
        recorder.close()
        steps = table(self.path, "steps")
        self.assertEqual(self.places("steps"), [(0, 0, 0), (0, 0, 1), (0, 0, 2)])
        np.testing.assert_array_equal(steps["policy_loss"], [1.0, np.nan, np.nan])

    def test_a_value_loop_of_its_own_has_steps_of_its_own_and_the_rows_after_it_too(self):
        recorder, policy, value = self.two()
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        for epoch in range(2):
            recorder.replays(sample=[0, 1], new_logp=[0.0, 0.0])
            self.stepped(policy)
            recorder.step(policy_loss=1.0 + epoch)
            for _ in range(3):
                self.stepped(value)
                recorder.step(value_loss=5.0)
        recorder.close()
        self.assertEqual(self.places("replays"), [(0, 0, 0)] * 2 + [(0, 1, 0)] * 2)
        steps = table(self.path, "steps")
        self.assertEqual(self.places("steps"), [(0, epoch, place) for epoch in (0, 1) for place in range(4)])
        none = np.nan
        np.testing.assert_array_equal(steps["policy_loss"], [1, none, none, none, 2, none, none, none])
        np.testing.assert_array_equal(steps["value_loss"], [none, 5, 5, 5] * 2)

    def test_a_critic_that_is_warmed_up_first_moves_no_report(self):
        recorder, policy, value = self.two()
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        for _ in range(2):
            self.stepped(value)
            recorder.step(value_loss=5.0)
        for epoch in range(2):
            recorder.replays(sample=[0, 1], new_logp=[0.0, 0.0])
            self.stepped(policy)
            recorder.step(policy_loss=1.0 + epoch)
        recorder.close()
        self.assertEqual(self.places("replays"), [(0, 0, 2)] * 2 + [(0, 1, 0)] * 2)
        losses = dict(zip(self.places("steps"), table(self.path, "steps")["policy_loss"]))
        self.assertEqual([losses[0, 0, 2], losses[0, 1, 0]], [1.0, 2.0])

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
