"""The adapters of verl and OpenRLHF on doubles: objects with the methods, keys and shapes of the sources that the adapters name."""

import os
import pathlib
import sys
import tempfile
import unittest
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from recorded import table
from trueline_recorder import Recorder, openrlhf_experience, openrlhf_slice, verl_actor

PROMPTS = torch.tensor([[0, 2], [0, 2], [3, 4], [3, 4]])
ANSWERS = torch.tensor([[3, 1, 0], [4, 5, 5], [1, 0, 0], [4, 5, 5]])
PRESENT = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]])
ATTENTION = torch.cat([torch.tensor([[0, 1], [0, 1], [1, 1], [1, 1]]), PRESENT], 1)
IDS = torch.cat([PROMPTS, ANSWERS], 1)
ADVANTAGE = torch.tensor([0.5, -0.5, 0.25, -0.25])[:, None].expand(4, 3) * PRESENT


class VerlActor:
    """`update_policy` in two slices of one step, with the loss of a mean over tokens, as verl's has it."""

    def __init__(self):
        torch.manual_seed(0)
        self.actor_module = nn.Embedding(6, 6)
        self.actor_optimizer = torch.optim.SGD(self.actor_module.parameters(), 0.1)

    def _forward_micro_batch(self, micro_batch, temperature, calculate_entropy=False):
        width = micro_batch["responses"].size(-1)
        logits = self.actor_module(micro_batch["input_ids"])[:, -width - 1 : -1] / temperature
        return None, logits.log_softmax(-1).gather(2, micro_batch["responses"][..., None]).squeeze(2)

    def _optimizer_step(self):
        norm = nn.utils.clip_grad_norm_(self.actor_module.parameters(), 1.0)
        self.actor_optimizer.step()
        return norm

    def update_policy(self, data):
        self.actor_optimizer.zero_grad()
        for rows in ([2, 0], [3, 1]):
            keys = ("responses", "input_ids", "attention_mask", "position_ids", "old_log_probs", "advantages")
            part = {key: data.batch[key][rows] for key in keys}
            _, logp = self._forward_micro_batch(part, temperature=1.0)
            mask = part["attention_mask"][:, -3:]
            ratio = (logp - part["old_log_probs"]).exp()
            (-(ratio * part["advantages"] * mask).sum() / 9).backward()
        self._optimizer_step()


class Doubles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run")

    def check(self):
        samples, replays, responses = (table(self.path, name) for name in ("samples", "replays", "responses"))
        np.testing.assert_array_equal(responses["prompt_length"], [1, 1, 2, 2])
        np.testing.assert_array_equal(responses["length"], [2, 3, 1, 3])
        np.testing.assert_array_equal(samples["token"], [3, 1, 4, 5, 5, 1, 4, 5, 5])
        rows = replays["sample"]
        wanted = -np.array([0.5, -0.5, 0.25, -0.25])[samples["episode"][rows]] / 9
        np.testing.assert_allclose(replays["coef"], wanted, atol=1e-6)
        np.testing.assert_allclose(replays["new_logp"], samples["old_logp"][rows], atol=1e-6)

    def test_verl(self):
        actor = VerlActor()
        whole = {"input_ids": IDS, "responses": ANSWERS, "attention_mask": ATTENTION}
        with torch.no_grad():
            old = actor._forward_micro_batch(whole, 1.0)[1]
        places = (ATTENTION.cumsum(1) - 1).clamp(min=0)
        batch = {**whole, "position_ids": places, "old_log_probs": old, "advantages": ADVANTAGE}
        data = SimpleNamespace(batch=batch, non_tensor_batch={"uid": np.array(["a", "a", "b", "b"], object)})
        recorder = Recorder(self.path, strict=True)
        verl_actor(actor, recorder).update_policy(data)
        recorder.close()
        self.check()
        np.testing.assert_array_equal(table(self.path, "responses")["group"], [0, 0, 1, 1])
        self.assertEqual(len(table(self.path, "steps")["grad_norm"]), 1)

    def test_openrlhf(self):
        torch.manual_seed(0)
        model = nn.Embedding(6, 6)

        def scored(ids):
            return model(ids)[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).squeeze(2)[:, -3:]

        def experience(rows):
            return SimpleNamespace(
                sequences=IDS[rows],
                attention_mask=ATTENTION[rows],
                action_mask=PRESENT[rows].bool(),
                action_log_probs=scored(IDS[rows]).detach(),
                base_action_log_probs=None,
                values=None,
                returns=None,
                advantages=ADVANTAGE[rows],
                info={"reward": torch.zeros(len(rows))},
            )

        recorder = Recorder(self.path, strict=True)
        numbers = openrlhf_experience(recorder, experience([0, 1, 2, 3]), group=[0, 0, 1, 1])
        for rows in ([2, 0], [3, 1]):
            part, logp = experience(rows), scored(IDS[rows])
            openrlhf_slice(recorder, part, logp, numbers)
            (-((logp - part.action_log_probs).exp() * part.advantages * part.action_mask).sum() / 9).backward()
        recorder.step(loss=0.0)
        recorder.close()
        self.check()


if __name__ == "__main__":
    unittest.main()
