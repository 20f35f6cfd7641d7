"""What tests of the recorder share: a folder of their own, a small network, and the tables of what was recorded."""

import glob
import json
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[1] / "examples" / "pytorch")]

from trueline_recorder import Recorder


def table(path, name):
    """All chunks of a table, ragged columns as lists of arrays."""
    columns = {}
    for file in sorted(glob.glob(os.path.join(path, name, "[0-9]*.npz"))):
        with np.load(file) as chunk:
            for key in chunk.files:
                if key.endswith(".offsets"):
                    continue
                if key.endswith(".values"):
                    values, offsets = chunk[key], chunk[key[:-7] + ".offsets"]
                    rows = [values[a:b] for a, b in zip(offsets, offsets[1:])]
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
