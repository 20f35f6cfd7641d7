"""Episodes and steps of rollouts that only say where episodes end. An end is the end *after* its row's action."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import numpy as np

from ..chunks import Chunk


class Streams:
    """Numbers episodes and steps of rollouts that only say where episodes end. One stream is one agent in one environment."""

    def __init__(self) -> None:
        self.state: Dict[int, Tuple[int, int, float]] = {}  # by env * 4096 + agent: episodes so far, t, return so far
        self.ids: Dict[int, Dict[int, int]] = {}
        self.next = 0
        # How the rows of the last rollout lie, which is how those of the next will: their streams, the order that brings a
        # stream's rows together, and each stream with where it begins and ends in that order.
        self.keys = np.zeros(0, np.int64)
        self.order = np.zeros(0, np.int64)
        self.streams: List[Tuple[int, int, int]] = []

    def _sort(self, keys: np.ndarray) -> None:
        self.keys, self.order = keys, np.argsort(keys, kind="stable")
        ordered = keys[self.order]
        firsts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
        self.streams = list(zip(ordered[firsts].tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(keys)]))

    def number(
        self, env: np.ndarray, agent: np.ndarray, end: np.ndarray, reward: Optional[np.ndarray], rows_too: bool
    ) -> Tuple[Optional[np.ndarray], Optional[np.ndarray], Chunk]:
        """Episode and t of every row, where they are asked for, and the episodes that have ended, as columns."""
        keys = env.astype(np.int64) * 4096 + agent
        if not np.array_equal(keys, self.keys):
            self._sort(keys)
        rows = len(keys)
        end = end[self.order]
        stops = [*np.flatnonzero(end).tolist(), rows]
        begins: List[int] = []  # of stretches: rows of one stream and one episode
        at = 0
        for _, first, last in self.streams:
            begins.append(first)
            while stops[at] < last:
                at += 1
                if stops[at - 1] + 1 < last:
                    begins.append(stops[at - 1] + 1)
        gained = [0.0] * len(begins)
        if reward is not None and rows:
            gained = np.add.reduceat(reward[self.order], begins, dtype=np.float64).tolist()
        begins.append(rows)
        at = 0
        numbers: List[int] = []
        ages: List[int] = []
        done: List[Tuple[int, int, float, int]] = []
        for key, _, last in self.streams:
            count, age, before = self.state.get(key, (0, 0, 0.0))
            while begins[at] < last:
                number, length, total = (
                    self._id(key >> 12, count),
                    age + begins[at + 1] - begins[at],
                    before + gained[at],
                )
                numbers.append(number)
                ages.append(age)
                at += 1
                if end[begins[at] - 1]:
                    done.append((number, key & 4095, total, length))
                    count, age, before = count + 1, 0, 0.0
                else:
                    age, before = length, total
            self.state[key] = (count, age, before)
        columns = zip(("episode", "agent", "return", "length"), zip(*done) if done else ((),) * 4)
        ended: Chunk = {
            name: np.array(values, np.float64 if name == "return" else np.int64) for name, values in columns
        }
        if not rows_too:
            return None, None, ended
        spans = np.diff(begins)
        episode, t = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        episode[self.order] = np.repeat(np.array(numbers, np.int64), spans)
        t[self.order] = np.arange(rows) - np.repeat(np.array(begins[:-1], np.int64) - np.array(ages, np.int64), spans)
        return episode, t, ended

    def _id(self, env: int, count: int) -> int:
        known = self.ids.setdefault(env, {})
        if count not in known:
            known[count] = self.next
            self.next += 1
            if len(known) > 256:
                for old in [old for old in known if old < count - 64]:
                    del known[old]
        return known[count]
