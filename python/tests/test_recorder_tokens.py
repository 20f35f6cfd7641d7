"""What the recorder writes of language models, compared with independent computations."""

import math
import os
import pathlib
import sys
import unittest
import warnings

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "examples" / "pytorch")]

from support import Case, manifest, table
from trueline_recorder import Recorder, RecorderWarning

VOCABULARY = 7
SOURCES = ["sampled", "environment", "template", "prompt", "padding", ""]


class Bigram(nn.Module):
    """Logits of the next token from the last one alone: what it says of a token can be computed by hand."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(VOCABULARY, VOCABULARY))

    def forward(self, ids):
        return self.table[ids]


class TokenCase(Case):
    """Four responses in two groups: prompts of two and three tokens, answers of one to four, padded on the right."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = Bigram()
        self.prompts = [[1, 2], [1, 2], [3, 4, 5], [3, 4, 5]]
        self.answers = [[3, 4], [5], [6, 1, 2, 3], [2, 2, 0]]
        self.ids = torch.zeros(4, 4, dtype=torch.long)
        self.mask = torch.zeros(4, 4)
        for row, answer in enumerate(self.answers):
            self.ids[row, : len(answer)] = torch.tensor(answer)
            self.mask[row, : len(answer)] = 1
        self.advantage = torch.tensor([1.0, -1.0, 0.5, -0.5])

    def logp(self, rows=slice(None)):
        """Log-probabilities of the answers' grid, and the logits behind them."""
        last = torch.tensor([prompt[-1] for prompt in self.prompts])
        before = torch.cat([last[:, None], self.ids[:, :-1]], 1)[rows]
        logits = self.model(before)
        return logits.log_softmax(-1).gather(2, self.ids[rows][..., None]).squeeze(2), logits

    def told(self, recorder, **more):
        with torch.no_grad():
            logp = self.logp()[0]
        given = {"sampler_logp": logp, "old_logp": logp, "group": [0, 0, 1, 1], "advantage": self.advantage, **more}
        recorder.responses(self.ids, prompts=self.prompts, present=self.mask, **given)


class Rows(TokenCase):
    def test_writes_one_row_per_token_in_order_with_its_place(self):
        recorder = self.recorder(control=self.model)
        self.told(recorder, reward=[1.0, 0.0, 1.0, 0.0], finish=["stop", "stop", "length", "other"])
        recorder.close()
        rows, responses = table(self.path, "samples"), table(self.path, "responses")
        self.assertEqual(rows["token"], [token for answer in self.answers for token in answer])
        starts = [len(prompt) for prompt in self.prompts]
        self.assertEqual(rows["t"], [n + i for n, answer in zip(starts, self.answers) for i in range(len(answer))])
        self.assertEqual(rows["episode"], [e for e, answer in enumerate(self.answers) for _ in answer])
        self.assertEqual({SOURCES[code] for code in rows["source"]}, {"sampled"})
        self.assertTrue(all(rows["trained"]))
        self.assertEqual(responses["length"], [2, 1, 4, 3])
        self.assertEqual(responses["prompt_length"], starts)
        self.assertEqual(responses["prompt"][0], responses["prompt"][1])
        self.assertNotEqual(responses["prompt"][0], responses["prompt"][2])
        names = manifest(self.path)["names"]
        self.assertEqual(
            [names["responses.finish"][code] for code in responses["finish"]], ["stop", "stop", "length", "other"]
        )
        self.assertEqual(manifest(self.path)["names"]["samples.source"], SOURCES)
        # A bigram's clean pass is its only pass.
        np.testing.assert_allclose(rows["control_logp"], rows["sampler_logp"], atol=1e-6)
        np.testing.assert_allclose(rows["control2_logp"], rows["sampler_logp"], atol=1e-6)
        self.assertNotIn("control_plain_logp", rows)

    def test_tells_temperature_1_of_a_clean_pass_where_another_is_configured(self):
        recorder = self.recorder(control=self.model, settings={"temperature": 0.5})
        self.told(recorder)
        recorder.close()
        rows = table(self.path, "samples")
        # The sampler of this test draws at temperature 1.
        np.testing.assert_allclose(rows["control_plain_logp"], rows["sampler_logp"], atol=1e-6)
        self.assertGreater(np.abs(np.subtract(rows["control_logp"], rows["sampler_logp"])).max(), 0.1)

    def test_takes_lists_as_it_takes_grids(self):
        found = []
        for place, form in enumerate(("lists", "grid")):
            recorder = Recorder(f"{self.path}-{place}", strict=True)
            if form == "grid":
                self.told(recorder)
            else:
                with torch.no_grad():
                    logp = self.logp()[0]
                cut = [row[: len(answer)].tolist() for row, answer in zip(logp, self.answers)]
                recorder.responses(
                    self.answers, prompts=self.prompts, sampler_logp=cut, old_logp=cut, group=[0, 0, 1, 1]
                )
            recorder.close()
            found.append(table(f"{self.path}-{place}", "samples"))
        for name in ("token", "t", "episode", "trained", "source"):
            self.assertEqual(found[0][name], found[1][name])
        np.testing.assert_allclose(found[0]["sampler_logp"], found[1]["sampler_logp"])

    def test_keeps_whole_groups_and_every_response(self):
        recorder = self.recorder(responses_kept=2)
        self.told(recorder)
        recorder.close()
        self.assertEqual(len(table(self.path, "responses")["episode"]), 4)
        kept = set(table(self.path, "samples")["episode"])
        self.assertIn(kept, ({0, 1}, {2, 3}))

    def test_says_where_tokens_come_from(self):
        recorder = self.recorder()
        generated = self.mask.clone()
        generated[2, 1] = 0  # a tool's word
        self.told(recorder, generated=generated)
        recorder.close()
        rows = table(self.path, "samples")
        at = [e == 2 and t == 4 for e, t in zip(rows["episode"], rows["t"])].index(True)
        self.assertEqual(SOURCES[rows["source"][at]], "environment")
        self.assertFalse(rows["trained"][at])
        self.assertEqual(sum(rows["trained"]), 9)

    def test_refuses_shapes_that_do_not_fit_in_a_sentence(self):
        recorder = self.recorder()
        with self.assertRaisesRegex(ValueError, r"old_logp has the shape \(4, 3\) where token has \(4, 4\)"):
            self.told(recorder, old_logp=np.zeros((4, 3)))
        with self.assertRaisesRegex(ValueError, "rewards; did you mean reward"):
            self.told(recorder, rewards=[0.0] * 4)
        with self.assertRaisesRegex(ValueError, "reward has 3 entries for 4 responses"):
            self.told(recorder, reward=[0.0] * 3)

    def test_parts_of_ranks_lie_in_that_of_the_first(self):
        for rank in range(2):
            recorder = Recorder(self.path, strict=True, rank=rank, ranks=2)
            self.told(recorder)
            recorder.close()
        parts = [table(os.path.join(self.path, part), "responses") for part in ("", "rank-1")]
        self.assertEqual(sorted([*parts[0]["episode"], *parts[1]["episode"]]), list(range(8)))
        self.assertEqual([set(part["rank"]) for part in parts], [{0}, {1}])


class Loss(TokenCase):
    def update(self, recorder, slices=((0, 1, 2, 3),), scale=1.0, mask=None, backward=True, **more):
        """One optimiser step of a policy gradient with a mean over tokens, in slices."""
        mask = self.mask if mask is None else mask
        for rows in slices:
            logp, logits = self.logp(list(rows))
            given = {"new_logp": logp, "logits": logits, "advantage": self.advantage[list(rows)], **more}
            recorder.replays(response=list(rows), **given)
            loss = -(logp * self.advantage[list(rows)][:, None] * mask[list(rows)]).sum() / mask.sum() * scale
            if backward:
                loss.backward()
        recorder.step(loss=0.0)

    def coef(self):
        rows, replays = table(self.path, "samples"), table(self.path, "replays")
        place = dict(zip(replays["sample"], replays["coef"]))
        return {(rows["episode"][s], rows["t"][s]): value for s, value in place.items()}

    def wanted(self, total=10.0):
        return {
            (row, len(self.prompts[row]) + i): -float(self.advantage[row]) / total
            for row, answer in enumerate(self.answers)
            for i in range(len(answer))
        }

    def check(self, wanted):
        found = self.coef()
        self.assertEqual(set(found), set(wanted))
        for key, value in wanted.items():
            self.assertAlmostEqual(found[key], value, places=6)

    def test_coef_is_the_derivative_of_the_loss(self):
        recorder = self.recorder()
        self.told(recorder)
        self.update(recorder)
        recorder.close()
        self.check(self.wanted())
        steps = table(self.path, "steps")
        self.assertEqual((steps["tokens"], steps["sequences"]), ([10], [4]))

    def test_counts_tokens_of_steps_in_iterations_that_are_not_kept(self):
        recorder = self.recorder(first=1, every=100)
        for _ in range(3):
            self.told(recorder)
            self.update(recorder, slices=((2, 0),))
            self.update(recorder, slices=((3,), (1,)))
        recorder.close()
        steps = table(self.path, "steps")
        self.assertEqual((steps["tokens"], steps["sequences"]), ([6, 4] * 3, [2, 2] * 3))
        self.assertEqual(set(table(self.path, "samples")["iteration"]), {0})
        self.assertEqual(len(table(self.path, "responses")["episode"]), 12)

    def test_gathered_gradients_are_slices_of_one_step(self):
        recorder = self.recorder()
        self.told(recorder)
        for _ in range(2):
            self.update(recorder, slices=((2, 0), (3, 1)))
        recorder.close()
        self.check(self.wanted())
        replays = table(self.path, "replays")
        self.assertEqual(
            sorted(set(zip(replays["epoch"], replays["minibatch"], replays["micro_batch"]))),
            [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)],
        )

    def test_a_padding_token_has_a_row_where_the_loss_depends_on_it(self):
        recorder = self.recorder()
        self.told(recorder)
        mask = self.mask.clone()
        mask[1, 1] = 1  # the place after the end of the second answer
        self.update(recorder, mask=mask)
        recorder.close()
        rows = table(self.path, "samples")
        self.check({**self.wanted(11.0), (1, 3): 1 / 11})
        at = [(e, t) == (1, 3) for e, t in zip(rows["episode"], rows["t"])].index(True)
        self.assertEqual((SOURCES[rows["source"][at]], bool(rows["trained"][at])), ("padding", False))

    def test_survives_activation_checkpointing(self):
        from torch.utils.checkpoint import checkpoint

        recorder = self.recorder()
        self.told(recorder)

        def inside(table_):
            last = torch.tensor([prompt[-1] for prompt in self.prompts])
            before = torch.cat([last[:, None], self.ids[:, :-1]], 1)
            logp = table_[before].log_softmax(-1).gather(2, self.ids[..., None]).squeeze(2)
            recorder.replays(response=range(4), new_logp=logp)
            return -(logp * self.advantage[:, None] * self.mask).sum() / self.mask.sum()

        checkpoint(inside, self.model.table, use_reentrant=True).backward()
        recorder.step(loss=0.0)
        recorder.close()
        self.check(self.wanted())

    def test_packed_rows_are_told_by_response_and_place(self):
        recorder = self.recorder()
        self.told(recorder)
        logp = self.logp()[0]
        flat = logp[self.mask > 0]  # one line of ten tokens
        response = torch.arange(4)[:, None].expand(4, 4)[self.mask > 0]
        t = (torch.tensor([2, 2, 3, 3])[:, None] + torch.arange(4))[self.mask > 0]
        recorder.replays(response=response[None], t=t[None], new_logp=flat[None].requires_grad_(), pack=0)
        recorder.close()
        rows, replays = table(self.path, "samples"), table(self.path, "replays")
        np.testing.assert_allclose(
            np.array(replays["new_logp"]), np.array(rows["sampler_logp"])[replays["sample"]], atol=1e-6
        )

    def test_says_what_a_fused_loss_hides(self):
        recorder = Recorder(self.path)
        self.told(recorder)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            recorder.replays(response=range(4), new_logp=None)
            recorder.step(loss=0.0)
        recorder.close()
        self.assertTrue(
            any(issubclass(w.category, RecorderWarning) and "replays.coef are missing" in str(w.message) for w in said)
        )
        self.assertIn("fused loss", manifest(self.path)["recorder"]["warnings"][0]["text"])

    def test_says_that_a_copy_of_the_log_probabilities_shows_nothing(self):
        recorder = Recorder(self.path)
        self.told(recorder)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            logp = self.logp()[0]
            recorder.replays(response=range(4), new_logp=logp.detach())
            (-logp.sum()).backward()
            recorder.step(loss=0.0)
            recorder.close()
        self.assertTrue(any("replays.coef is missing" in str(w.message) for w in said))
        self.assertTrue(all(math.isnan(c) for c in table(self.path, "replays")["coef"]))

    def test_leaves_training_as_it_was(self):
        found = []
        for record in (False, True):
            torch.manual_seed(1)
            model = self.model = Bigram()
            model.train()
            optimizer = torch.optim.Adam(model.parameters(), 0.1)
            recorder = Recorder(f"{self.path}-plain", strict=True, control=model) if record else None
            for _ in range(3):
                if recorder:
                    self.told(recorder)
                logp, logits = self.logp()
                if recorder:
                    recorder.replays(response=range(4), new_logp=logp, logits=logits)
                optimizer.zero_grad()
                (-(logp * self.advantage[:, None] * self.mask).sum() + torch.rand(()) * logp.sum()).backward()
                optimizer.step()
            self.assertTrue(model.training)
            found.append(model.table.detach().clone())
        self.assertTrue(torch.equal(*found))


if __name__ == "__main__":
    unittest.main()
