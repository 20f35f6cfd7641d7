"""One iteration's tokens while its parts come in. Which tokens have rows is known only at its end: a prompt or padding token has one where it was
trained, or where the loss turned out to depend on it."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from ..arrays import cast
from ..chunks import Chunk
from ..tables import TABLES
from .grid import CODES, PADDING, PLACES, PROMPT, SAMPLED
from .scoring import Support

#: Where these are not finite, that is what the trainer holds; elsewhere NaN only says that nobody knows.
EVIDENCE = ("old_logp", "sampler_logp", "reference_logp", "advantage", "reward", "value", "return")


class Part:
    """The kept rows of one micro-batch as they entered the loss. The hook fills `coef` when the program runs backward."""

    def __init__(self, cells: np.ndarray, columns: Dict[str, np.ndarray], place: Dict[str, int]) -> None:
        self.cells, self.columns, self.place = cells, columns, place
        self.coef: Optional[np.ndarray] = None
        self.hooked = False

    def add_coef(self, gradient: np.ndarray) -> None:
        """A loss that is taken backward in pieces adds up."""
        self.coef = gradient if self.coef is None else self.coef + gradient


class TokenBatch:
    """Responses of one iteration, counted in the order in which they were given; cells are addresses of (response, t)."""

    def __init__(self, kept: int) -> None:
        self.limit = kept
        self.count = 0
        self.rows_kept = np.zeros(0, bool)  # by response
        self.prompt_length = np.zeros(0, np.int64)
        self.supports: List[Support] = []
        self.ids: List[Optional[np.ndarray]] = []  # whole sequences, of responses that are kept
        self.cells: List[np.ndarray] = []
        self.columns: List[Dict[str, np.ndarray]] = []
        self.parts: List[Part] = []
        self.scored = 0
        self.fitted = 0
        self._sorted: Optional[Tuple[np.ndarray, np.ndarray]] = None
        self.episode: np.ndarray = np.zeros(0, np.int64)

    def choose(self, groups: np.ndarray) -> np.ndarray:
        """Which of the responses that come in are kept: whole groups, spread over the call, until there are enough."""
        room = self.limit - int(self.rows_kept.sum())
        kept = np.zeros(len(groups), bool)
        names, first, sizes = np.unique(groups, return_index=True, return_counts=True)
        if len(groups) <= room:
            return ~kept
        order = np.argsort(first)
        wanted = max(1, int(room // max(1, int(sizes.mean()))))
        for place in order[np.unique(np.linspace(0, len(order) - 1, wanted).astype(int))]:
            if sizes[place] <= room or not kept.any():
                kept |= groups == names[place]
                room -= int(sizes[place])
        if kept.sum() > self.limit:  # one group, wider than all that is kept
            kept[np.flatnonzero(kept)[self.limit :]] = False
        return kept

    def set_columns(self, cells: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        """Columns that come later than their tokens: scores from logits, clean passes."""
        self._sorted = None if "token" in columns else self._sorted
        self.cells.append(cells)
        self.columns.append(dict(columns))

    def token_at(self, cells: np.ndarray) -> np.ndarray:
        """The token of every cell, -1 where none is known."""
        if self._sorted is None:
            every = np.concatenate([at for at, columns in zip(self.cells, self.columns) if "token" in columns])
            token = np.concatenate([columns["token"] for columns in self.columns if "token" in columns])
            order = np.argsort(every, kind="stable")
            self._sorted = (every[order], token[order])
        every, token = self._sorted
        at = np.minimum(np.searchsorted(every, cells), len(every) - 1)
        return np.where(every[at] == cells, token[at], -1)

    def finish(self, iteration: int) -> Tuple[Optional[Chunk], List[Chunk]]:
        """The rows of `samples`, and those of `replays` part by part."""
        if not self.cells:
            return None, []
        marked = [cells[columns["rows"]] for cells, columns in zip(self.cells, self.columns) if "rows" in columns]
        moved = [part.cells[nonzero(part.coef)] for part in self.parts if part.coef is not None]
        rows = np.unique(np.concatenate([*marked, *moved]))
        rows = rows[self.rows_kept[rows // PLACES]]
        response, place = rows // PLACES, rows % PLACES
        start = self.prompt_length[response]
        chunk: Chunk = {"iteration": iteration, "agent": 0, "episode": self.episode[response]}
        left = place >= PLACES // 2  # padding before the prompt is counted after everything else
        ends = np.zeros(self.count, np.int64)
        np.maximum.at(ends, response[~left], place[~left])
        chunk["t"] = np.where(left, ends[response] + place - PLACES // 2, place).astype(np.int32)
        source = np.where(
            left | (place >= start + self.length_all(response)), PADDING, np.where(place < start, PROMPT, SAMPLED)
        )
        values: Dict[str, np.ndarray] = {"source": source.astype(np.int8), "trained": np.zeros(len(rows), bool)}
        values["kept_by"] = np.full(len(rows), len(CODES["samples.kept_by"]) - 1, np.int8)
        values["token"] = self.tokens_of(response, np.where(left, -1, place))
        for cells, columns in zip(self.cells, self.columns):
            at = np.searchsorted(rows, cells)
            at[at == len(rows)] = 0
            hit = rows[at] == cells
            for name, array in columns.items():
                if name == "rows":
                    continue
                if name not in values:
                    values[name] = np.full(len(rows), np.nan, array.dtype if array.dtype.kind == "f" else np.float64)
                told = hit & ~np.isnan(array) if array.dtype.kind == "f" and name not in EVIDENCE else hit
                values[name][at[told]] = array[told]
        for name, array in values.items():
            kind = TABLES["samples"][name].kind
            chunk[name] = array if kind == "text" else cast(kind, array, name)
        return chunk, [self.replay(part, rows, iteration) for part in self.parts]

    def length_all(self, response: np.ndarray) -> np.ndarray:
        """How many tokens a response has in all, where its ids are known; else nothing after the prompt counts as padding."""
        known = np.array([-1 if ids is None else len(ids) for ids in self.ids], np.int64)[response]
        return np.where(known < 0, PLACES, known - self.prompt_length[response])

    def tokens_of(self, response: np.ndarray, place: np.ndarray) -> np.ndarray:
        out = np.full(len(response), np.nan)
        for one in np.unique(response).tolist():
            ids = self.ids[one]
            mine = response == one
            if ids is not None:
                inside = mine & (place >= 0) & (place < len(ids))
                out[inside] = ids[place[inside]]
        return out

    def replay(self, part: Part, rows: np.ndarray, iteration: int) -> Chunk:
        at = np.searchsorted(rows, part.cells)
        at[at == len(rows)] = 0
        hit = np.flatnonzero(rows[at] == part.cells) if len(rows) else np.zeros(0, np.int64)
        chunk: Chunk = {"iteration": iteration, **part.place, "sample": at[hit].astype(np.int32)}
        chunk["coef"] = np.full(len(hit), np.nan, np.float32) if part.coef is None else part.coef[hit]
        for name, array in part.columns.items():
            chunk[name] = cast(TABLES["replays"][name].kind, array[hit], name)
        return chunk


def nonzero(coef: np.ndarray) -> np.ndarray:
    return coef != 0  # NaN is not 0 either: it is evidence
