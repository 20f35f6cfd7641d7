"""The adapter of TRL on a double of its trainer; test_trl.py runs the real ones, and holds the double to them."""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import trl_double
from recorded import table
from trueline_recorder import trl_trainer


class Double(unittest.TestCase):
    def test_responses_keep_their_numbers_through_shuffling_and_splitting(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run")
            trl_trainer(trl_double.Trainer, path, strict=True)().train()
            samples, replays, steps, responses = (
                table(path, name) for name in ("samples", "replays", "steps", "responses")
            )
        np.testing.assert_array_equal(responses["length"], [2, 3, 1, 3] * 2)
        np.testing.assert_array_equal(responses["group"], [0, 0, 1, 1, 2, 2, 3, 3])
        np.testing.assert_array_equal(responses["prompt_length"], [1, 1, 2, 2] * 2)
        np.testing.assert_array_equal(responses["finish"][:4], [0, 1, 0, 0])
        np.testing.assert_array_equal(steps["sequences"], [4, 4])
        first = replays["iteration"] == 0
        rows = replays["sample"][first]
        advantage = np.array([0.5, -0.5, 0.25, -0.25])[samples["episode"][rows]]
        wanted = -advantage / np.array([2, 3, 1, 3])[samples["episode"][rows]] / 4
        np.testing.assert_allclose(replays["coef"][first], wanted, atol=1e-6)
        np.testing.assert_allclose(replays["new_logp"][first], samples["control_logp"][rows], atol=1e-6)


if __name__ == "__main__":
    unittest.main()
