"""What the recorder takes from logits, and how it stores half precision, compared with independent computations."""

import math
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from recorded import table
from trueline_recorder import Recorder
from trueline_recorder.tokens.scoring import Support, fit_temperature, score


class Scores(unittest.TestCase):
    def test_both_temperatures_entropy_and_kept_mass(self):
        random = np.random.default_rng(0)
        logits = random.normal(size=(50, 30)) * 2
        token = random.integers(0, 30, 50)
        for top_p, top_k, min_p in (
            (1.0, 0, 0.0),
            (0.8, 0, 0.0),
            (1.0, 5, 0.0),
            (0.7, 8, 0.0),
            (1.0, 0, 0.1),
            (0.9, 0, 0.05),
        ):
            found = score(torch.as_tensor(logits), token, Support(0.7, top_p, top_k, min_p))
            for row in range(50):
                plain = np.exp(logits[row]) / np.exp(logits[row]).sum()
                warm = np.exp(logits[row] / 0.7) / np.exp(logits[row] / 0.7).sum()
                self.assertAlmostEqual(found["logp_plain"][row], math.log(plain[token[row]]), places=5)
                self.assertAlmostEqual(found["logp_tempered"][row], math.log(warm[token[row]]), places=5)
                self.assertAlmostEqual(found["entropy"][row], -(warm * np.log(warm)).sum(), places=5)
                order = sorted(range(30), key=lambda i: -warm[i])[: top_k or 30]
                whole = sum(warm[i] for i in order)
                mass = total = 0.0
                for i in order:
                    if total / whole < top_p and warm[i] >= min_p * warm.max():
                        mass += warm[i]
                    total += warm[i]
                self.assertAlmostEqual(found["kept_mass"][row] if "kept_mass" in found else 1.0, mass, places=5)

    def test_finds_the_temperature_that_gives_the_log_probabilities(self):
        random = np.random.default_rng(1)
        logits, token = torch.as_tensor(random.normal(size=(20, 30)) * 2), random.integers(0, 30, 20)
        found = score(logits, token, Support(0.7, 1.0, 0, 0.0))
        at = lambda heat: (logits / heat).log_softmax(1).gather(1, torch.as_tensor(token)[:, None]).squeeze(1).numpy()
        fitted = fit_temperature(logits, token, found, at(0.49))
        np.testing.assert_allclose(fitted["temperature"], 0.49, rtol=1e-5)
        np.testing.assert_allclose(fitted["fitted_logp"], at(0.49), atol=1e-5)
        for own in (at(0.7), at(1.0), at(0.7) / 0.7):  # the configured one, 1, and what no temperature gives
            self.assertEqual(fit_temperature(logits, token, found, own), {})

    def test_half_precision_is_stored_as_it_was(self):
        values = torch.tensor([[-0.123, -4.56]])
        for kind in (torch.float16, torch.bfloat16):
            with self.subTest(kind=kind), tempfile.TemporaryDirectory() as folder:
                recorder = Recorder(os.path.join(folder, "run"), strict=True)
                recorder.responses([[1, 2]], prompts=[[3]], sampler_logp=values.to(kind))
                recorder.close()
                found = table(os.path.join(folder, "run"), "samples")["sampler_logp"]
                self.assertEqual([float(v) for v in found], values.to(kind).double()[0].tolist())


if __name__ == "__main__":
    unittest.main()
