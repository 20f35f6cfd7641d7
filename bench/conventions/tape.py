"""The recorder as a program with these conventions would call it: some columns left out, numbers in another width.

The one thing to get wrong: what is left out is left out of the call, so the doctor sees what a user who gave less would give it.
"""

import contextlib

import numpy as np
import torch

from trueline_recorder import Recorder

WIDTHS = {"float16": torch.float16, "float32": torch.float32, "float64": torch.float64}


class Tape:
    def __init__(self, out, conventions, drop, **about):
        self.drop, self.width = set(drop), WIDTHS[conventions["width"]]
        self.negated = conventions["logp"] == "negated"
        self.recorder = Recorder(out, overwrite=True, strict=True, first=10**6, **about)

    def watch(self, **about):
        if "tensors" not in self.drop:
            self.recorder.watch(**about)

    def _columns(self, table, columns):
        kept = {}
        for name, value in columns.items():
            if value is None or f"{table}.{name.rstrip('_')}" in self.drop:
                continue
            if torch.is_tensor(value) and value.is_floating_point():
                value = value.detach().to(self.width)
            if self.negated and name in ("old_logp", "new_logp"):
                name, value = name.replace("logp", "neglogp"), -value
            kept[name] = value
        return kept

    def samples(self, **columns):
        self.recorder.samples(**self._columns("samples", columns))

    def replays(self, again=None, **columns):
        at = {name: columns.pop(name) for name in ("policy", "epoch", "minibatch", "lengths", "sample") if name in columns}
        if not {"replays.logits", "replays.subset", "replays.legal"} - self.drop:
            at.pop("lengths", None)
        self.recorder.replays(**at, **self._columns("replays", columns), again=None if "again" in self.drop else again)

    def step(self, **columns):
        at = {name: columns.pop(name) for name in ("policy", "epoch", "minibatch") if name in columns}
        if "steps" not in self.drop:
            self.recorder.step(**at, **{name: value for name, value in columns.items() if f"steps.{name}" not in self.drop and value is not None})

    def close(self):
        self.recorder.close()


@contextlib.contextmanager
def seeded(seed):
    torch.manual_seed(seed)
    yield np.random.default_rng(seed)
