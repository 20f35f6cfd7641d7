"""The recording of TRL's real trainers, compared with what they compute themselves. Needs the packages of requirements/trl.txt."""

import inspect
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import trl_double
import trl_runs
from recorded import table
from trl import GRPOTrainer, RLOOTrainer


class Real(unittest.TestCase):
    def recorded(self, name, **more):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "run")
        trl_runs.run(name, path, **more)
        return [table(path, part) for part in ("samples", "replays", "steps", "responses")]

    def test_the_double_has_the_real_ones_interface(self):
        for real in (GRPOTrainer, RLOOTrainer):
            for name in trl_double.METHODS:
                wanted = list(inspect.signature(getattr(real, name)).parameters)
                mine = list(inspect.signature(getattr(trl_double.Trainer, name)).parameters)
                self.assertEqual(mine, wanted[: len(mine)], f"{real.__name__}.{name}")

    def test_clean_passes_agree_with_the_trainer_in_the_first_step(self):
        for name in ("grpo", "rloo"):
            samples, replays, _, _ = self.recorded(name, temperature=0.8)
            first = (replays["iteration"] == 0) & (replays["epoch"] == 0) & (replays["minibatch"] == 0)
            rows = replays["sample"][first]
            gap = samples["control_logp"][rows] - replays["new_logp"][first]
            self.assertGreater(np.isfinite(gap).sum(), 20)
            self.assertLess(np.nanmax(np.abs(gap)), 1e-5)

    def test_coef_is_what_each_loss_type_declares(self):
        for name, share in (
            ("grpo kl", lambda steps, length: 1 / (length * steps["sequences"][0])),
            ("grpo dapo", lambda steps, length: 1 / steps["tokens"][0] + 0 * length),
            ("grpo dr", lambda steps, length: 1 / (8 * steps["sequences"][0]) + 0 * length),
            ("rloo", lambda steps, length: 1 / steps["sequences"][0] + 0 * length),
        ):
            samples, replays, steps, responses = self.recorded(name)
            first = (replays["iteration"] == 0) & (replays["epoch"] == 0) & (replays["minibatch"] == 0)
            rows = replays["sample"][first]
            length = responses["length"][samples["episode"][rows]]
            wanted = -replays["advantage"][first] * share(steps, length)
            np.testing.assert_allclose(replays["coef"][first], wanted, atol=1e-5, err_msg=name)

    def test_advantages_follow_from_rewards_and_groups(self):
        _, _, _, responses = self.recorded("grpo")
        first = responses["iteration"] == 0
        for group in np.unique(responses["group"][first]):
            paid = responses["reward"][first & (responses["group"] == group)]
            wanted = (paid - paid.mean()) / (paid.std(ddof=1) + 1e-4)
            np.testing.assert_allclose(responses["advantage"][first & (responses["group"] == group)], wanted, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
