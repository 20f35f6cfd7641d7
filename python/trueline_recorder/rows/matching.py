"""Finds the samples that a minibatch is made of by their content, where the program's own index is hidden in a generator. Rows that look alike are
told apart by what was computed for them (their return); where that does not help either they are counted and said, never guessed in silence."""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence

import numpy as np

#: What identifies a row, and what tells equal ones apart.
IDENTITY = ("old_logp", "action", "obs")
SECOND = ("return", "advantage")


class Match(NamedTuple):
    rows: np.ndarray  # of the samples; empty where not all were found
    found: int
    ambiguous: int
    by: Sequence[str]


class RowIndex:
    """One iteration's samples by content. `columns` are one-dimensional, or two-dimensional with a row each."""

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self.columns = columns
        self.sorted: Dict[Sequence[str], tuple] = {}

    def _lookup(self, names: Sequence[str]) -> tuple:
        if names not in self.sorted:
            keys = fingerprints([self.columns[name] for name in names])
            order = np.argsort(keys, kind="stable")
            self.sorted[names] = (keys[order], order)
        return self.sorted[names]

    def find(self, wanted: Mapping[str, np.ndarray], seen: np.ndarray) -> Match:
        """Where the wanted rows lie. `seen` are the samples that this epoch has used: of equal ones it takes those that it has not."""
        best = Match(np.zeros(0, np.int64), 0, 0, ())
        if self._in_order(wanted):
            count = len(next(iter(wanted.values())))
            return Match(np.arange(count), count, 0, ())
        for names in self._ways(wanted):
            ordered, order = self._lookup(names)
            keys = fingerprints([wanted[name] for name in names])
            begin, end = np.searchsorted(ordered, keys, "left"), np.searchsorted(ordered, keys, "right")
            found = int(np.count_nonzero(end > begin))
            if found < len(keys):
                best = max(best, Match(np.zeros(0, np.int64), found, 0, names), key=lambda match: match.found)
                continue
            rows = order[np.minimum(begin, len(order) - 1)]
            tied = np.flatnonzero(end - begin > 1)
            ambiguous = self._untie(rows, tied, begin, end, order, names, wanted, seen)
            return Match(rows, found, ambiguous, names)
        return best

    def _in_order(self, wanted: Mapping[str, np.ndarray]) -> bool:
        """Whether these are all the samples as they lie: an update with the whole batch."""
        both = [name for name in IDENTITY if name in wanted and name in self.columns and self._alike(name, wanted)]
        pairs = [(as_bits(wanted[name]), as_bits(self.columns[name])) for name in both]
        return bool(pairs) and all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def _ways(self, wanted: Mapping[str, np.ndarray]) -> List[Sequence[str]]:
        """All that both sides know first; then without the log-probability, and without the observation, which an update may have changed."""
        both = tuple(name for name in IDENTITY if name in wanted and name in self.columns and self._alike(name, wanted))
        ways = [both, tuple(n for n in both if n != "old_logp"), tuple(n for n in both if n != "obs")]
        strong = [way for way in ways if "old_logp" in way or "obs" in way]
        return list(dict.fromkeys(strong))

    def _alike(self, name: str, wanted: Mapping[str, np.ndarray]) -> bool:
        return wanted[name].shape[1:] == self.columns[name].shape[1:]

    def _untie(
        self,
        rows: np.ndarray,
        tied: np.ndarray,
        begin: np.ndarray,
        end: np.ndarray,
        order: np.ndarray,
        names: Sequence[str],
        wanted: Mapping[str, np.ndarray],
        seen: np.ndarray,
    ) -> int:
        """Chooses among equal samples, in place; returns how many rows could be another just as well."""
        second = [name for name in SECOND if name in wanted and name in self.columns]
        bits = {name: (as_bits(wanted[name]), as_bits(self.columns[name])) for name in second}
        differing = [as_bits(self.columns[name]) for name in SECOND if name in self.columns]
        taken: set = set()
        ambiguous = 0
        for row in tied.tolist():
            choices = order[begin[row] : end[row]]
            for mine, theirs in bits.values():
                narrowed = choices[(theirs[choices] == mine[row]).all(-1)]
                choices = narrowed if len(narrowed) else choices
            free = [c for c in choices.tolist() if c not in taken]
            fresh = [c for c in free if c >= len(seen) or not seen[c]]
            rows[row] = (fresh or free or choices.tolist())[0]
            taken.add(int(rows[row]))
            if len(choices) > 1 and (not differing or any((b[choices] != b[choices[0]]).any() for b in differing)):
                ambiguous += 1
        return ambiguous


def as_bits(column: np.ndarray) -> np.ndarray:
    """Rows as 32-bit words: what a program keeps in double precision meets itself in single precision."""
    with np.errstate(over="ignore"):
        plain = column.reshape(len(column), -1).astype(np.float32) + np.float32(0)  # minus zero is zero
    return plain.view(np.uint32)


def fingerprints(columns: Sequence[np.ndarray]) -> np.ndarray:
    """A 64-bit number for each row, the same for equal rows."""
    words = np.concatenate([as_bits(column) for column in columns], 1).astype(np.uint64)
    factors = np.random.Generator(np.random.PCG64(1)).integers(1, 2**63, words.shape[1], np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    words ^= words >> np.uint64(15)
    return (words * factors).sum(1, dtype=np.uint64)


def joined_columns(chunks: Sequence[Mapping[str, object]]) -> Dict[str, np.ndarray]:
    """The identifying columns of several calls of `samples`, where each has them in one shape."""
    out: Dict[str, np.ndarray] = {}
    for name in (*IDENTITY, *SECOND):
        parts = [chunk.get(name, chunk.get("action_values") if name == "action" else None) for chunk in chunks]
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        if len(arrays) == len(parts) and len({part.shape[1:] for part in arrays}) == 1:
            joined = np.concatenate(arrays)
            out[name] = joined[:, 0] if name == "action" and joined.shape[1:] == (1,) else joined
    return out
