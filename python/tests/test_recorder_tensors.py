"""What the recorder measures of gradients, parameters and optimisers, compared with what torch computes."""

import os
import pathlib
import sys
import unittest
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import trueline_recorder
from support import Case, manifest, table


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
        # As programs hold a trunk and two heads: a list of modules each.
        recorder.watch(policy="d", actor=[trunk, policy], critic=[trunk, value], optimizer=optimizer)
        recorder.watch(
            policy="e", actor={"body": trunk, "pi": policy}, critic={"v": value}, head="pi", optimizer=optimizer
        )
        tensors = manifest(self.path)["tensors"]
        roles = ["shared", "shared", "head", "head", "critic", "critic"]
        self.assertEqual([t["role"] for t in tensors], roles * 3 + ["trunk", "trunk", *roles[2:]])
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


if __name__ == "__main__":
    unittest.main()
