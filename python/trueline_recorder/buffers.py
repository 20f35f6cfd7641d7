"""Programs with a replay buffer: the targets that enter a loss, and the target networks that they come from. The one thing to get wrong: the window is what lies in the
buffer from the row's own step on, as it was stored, and not what the program made of it."""

from __future__ import annotations

import math
import zlib
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from .arrays import Array, to_numpy
from .chunks import make_chunk
from .tables import known_columns
from .tokens.replays import Tokens
from .trouble import guarded

#: Columns with several numbers a row.
WIDE = {
    "rewards",
    "terminated",
    "truncated",
    "next_values",
    "next_online",
    "next_mean",
    "next_log_std",
    "next_action",
    "next_mean_again",
}
#: Updates that make an iteration, where the program does not say itself when one begins.
UPDATES = 64


class Buffers(Tokens):
    """The recorder's calls for programs with a replay buffer."""

    _followed: Tuple[Tuple[str, Callable[[], Any], Callable[[], Any]], ...] = ()
    _updates = 0
    #: Online tensors as they were when they were last looked at.
    _online: Optional[Dict[str, np.ndarray]] = None

    def follow(self, *, target: Any, online: Any, name: str = "") -> None:
        """Says that the module `target` is a copy of `online` that is updated now and then; both are looked at in every `targets()`."""
        own = dict(online.named_parameters())
        for key in dict(target.named_parameters()):
            if key in own:
                pair = (f"{name}{key}", _of(target, key), _of(online, key))
                self._followed = (*self._followed, pair)

    @guarded
    def targets(
        self,
        *,
        policy: Union[str, int, None] = None,
        lengths: Array = None,
        **columns: Array,
    ) -> None:
        """Rows of one minibatch as they entered the loss, before `optimizer.step()`: target, and what it was made of.

        sample      a number of the stored step, the same whenever it is drawn
        rewards, terminated, truncated   of the stored steps from this one on: one column, or (rows, steps) of at least n steps; padded ones are cut to `lengths`
        n           steps of the target; 1 without it
        next_values, next_online   what the target networks, and the online ones, give for the next state: (rows, choices), or (rows, critics)
        prediction_again, coef   the prediction from a second pass; the derivative of the loss by the prediction
        env_reward  what the environment paid for the stored step
        next_mean, next_log_std, next_action   what the next action was drawn from, and the action itself, between -1 and 1
        next_mean_again   the mean once more, from a second pass over the stored next observation
        obs_hash, next_hash   numbers that are equal for equal stored observations, and next ones
        bootstrap   the value that follows, as the target network gave it, before discount and mask; with `next_logp` and `temperature` of
                    soft targets, before the entropy is added
        target, prediction, priority, probability, weight   as they were used
        """
        if self.iteration < 0 or (not self._progress.told and self._updates % UPDATES == 0):
            self._begin(None)
        self._updates += 1
        self._progress.updated = True
        own = self._policy(policy)
        step = self._at(own, "targets", None, None, None)
        if not self.recording:
            return
        known = known_columns("targets", columns)
        if "target" not in known:
            raise ValueError("targets() needs target: the number that the prediction was compared with")
        aim = to_numpy(known["target"]).reshape(-1)
        known["target"] = aim
        lead = aim.shape
        for name in ("rewards", "terminated", "truncated"):
            if name in known:
                window = to_numpy(known[name])
                known[name] = window.reshape(len(aim), -1)
        for name, value in list(known.items()):
            if name not in WIDE:
                flat = to_numpy(value)
                known[name] = flat.reshape(-1) if flat.size == len(aim) else flat
        place = {"iteration": self.iteration, "epoch": step.epoch, "minibatch": step.minibatch, "policy": own.index}
        chunk = make_chunk("targets", {**known, **place}, lead, None)
        if lengths is not None:
            counts = to_numpy(lengths).reshape(-1).astype(np.int64)
            for name in ("rewards", "terminated", "truncated"):
                if name in chunk:
                    chunk[name] = _cut(chunk[name], counts)
        self._store.hold("targets", chunk)
        copies = self._copies()
        if copies:
            names = ("name", "hash", "gap", "norm", "moved")
            rows = {name: np.array(column) for name, column in zip(names, zip(*copies))}
            place.pop("policy")
            self._store.hold("copies", make_chunk("copies", {**rows, **place}, (len(copies),), None))

    def _copies(self) -> List[Tuple[str, int, float, float, float]]:
        found = []
        self._online = self._online or {}
        for name, target, online in self._followed:
            copy, own = to_numpy(target()), to_numpy(online())
            last = self._online.get(name)
            self._online[name] = own.copy()
            moved = math.nan if last is None or last.shape != own.shape else _length(own.astype(np.float64) - last)
            gap = _length(copy.astype(np.float64) - own)
            found.append((name, zlib.crc32(copy.tobytes()), gap, _length(copy.astype(np.float64)), moved))
        return found


def _length(values: np.ndarray) -> float:
    return math.sqrt(float((values**2).sum()))


def _of(module: Any, key: str) -> Callable[[], Optional[Any]]:
    """The parameter of this name, looked up every time: a program may put another in its place."""
    path, _, leaf = key.rpartition(".")
    return lambda: getattr(module.get_submodule(path), leaf)


def _cut(window: Any, counts: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return window[np.arange(window.shape[1]) < counts[:, None]], offsets
