"""Whatever holds one entry per token (a padded grid, lists of lists) as a grid with the place of every entry. `t` counts from the prompt's first token."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ..arrays import Array, to_numpy
from ..tables import TABLES

#: Text columns of tokens are kept as indices into these lists; the last entry is "not known".
CODES: Dict[str, List[str]] = {
    "samples.source": ["sampled", "environment", "template", "prompt", "padding", ""],
    "samples.kept_by": ["sampler", "trainer", ""],
    "responses.finish": ["stop", "length", "other", ""],
}
SAMPLED, ENVIRONMENT, TEMPLATE, PROMPT, PADDING = range(5)
#: Places of one response in an address. A place before the first prompt token is padding on the left; it is counted after all others.
PLACES = 1 << 24


def as_grid(value: Array, fill: float = np.nan) -> np.ndarray:
    """A padded grid, one row per response. Lists of different lengths are padded on the right with `fill`."""
    if isinstance(value, (list, tuple)):
        rows = [to_numpy(row).reshape(-1) for row in value]
        width = max((len(row) for row in rows), default=0)
        if any(len(row) != width for row in rows) or not rows:
            whole = all(row.dtype.kind in "iub" for row in rows) and not np.isnan(fill)
            grid = np.full((len(rows), width), fill, np.int64 if whole else np.float64)
            for place, row in enumerate(rows):
                grid[place, : len(row)] = row
            return grid
        return np.stack(rows)
    return to_numpy(value)


def lengths_of(value: Array) -> Optional[np.ndarray]:
    """How many tokens each response has, where lists say so."""
    if isinstance(value, (list, tuple)):
        return np.array([len(row) for row in value], np.int64)
    return None


def is_per_token(name: str, value: Array, count: int) -> bool:
    """Names that both tables have (advantage, reward, sampler_version ...) are told apart by their shape."""
    if name not in TABLES["samples"]:
        return False
    if name not in TABLES["responses"]:
        return True
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and (isinstance(value[0], (list, tuple)) or np.ndim(shape_of(value[0])) == 1)
    return len(getattr(value, "shape", ())) > 1


def shape_of(value: Any) -> Any:
    return np.zeros(tuple(value.shape)) if hasattr(value, "shape") else np.zeros(np.shape(value))


def coded(name: str, value: Array, shape: Tuple[int, ...]) -> np.ndarray:
    """A text column as indices; numbers are taken as indices already."""
    names = CODES[name]
    if isinstance(value, str):
        value = np.array(value)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        width = max(len(row) for row in value)
        value = [
            list(row) + [names[-1] if isinstance(row[0], str) else len(names) - 1] * (width - len(row)) for row in value
        ]
    array = np.array(value) if isinstance(value, (list, tuple)) else to_numpy(value)
    if array.dtype.kind in "US":
        known = {text: code for code, text in enumerate(names)}
        wrong = sorted(set(np.unique(array).tolist()) - set(known))
        if wrong:
            raise ValueError(f"{name} holds {wrong[0]!r}; it knows {', '.join(names[:-1])}")
        array = np.vectorize(known.__getitem__, otypes=[np.int8])(array) if array.size else array.astype(np.int8)
    return np.broadcast_to(array.astype(np.int8), shape)


def places(start: Array, shape: Tuple[int, int]) -> np.ndarray:
    """`t` of every entry of a grid whose first column is `start`: one number, or one per response."""
    begin = to_numpy(start).reshape(-1).astype(np.int64)
    return np.broadcast_to(
        begin[:, None] if len(begin) == shape[0] else begin.reshape(1, 1), (shape[0], 1)
    ) + np.arange(shape[1], dtype=np.int64)


def address(response: np.ndarray, t: np.ndarray) -> np.ndarray:
    """One number for a response and a place in it, rising in the order of rows."""
    return response * PLACES + np.where(t < 0, PLACES // 2 - t, t)


def prompt_rows(prompts: Array, lengths: Optional[np.ndarray]) -> List[np.ndarray]:
    """Prompts without their padding, which is on the left, as samplers need it."""
    if isinstance(prompts, (list, tuple)) and lengths is None:
        return [to_numpy(row).reshape(-1).astype(np.int64) for row in prompts]
    if lengths is None:
        raise ValueError("prompts in a padded grid need prompt_length")
    return [row[len(row) - n :].astype(np.int64) for row, n in zip(as_grid(prompts, 0), lengths.tolist())]


def identities(prompts: Sequence[np.ndarray]) -> np.ndarray:
    """The same number for the same prompt, in every run: FNV-1a over its ids, 31 bits."""
    seen: Dict[bytes, int] = {}
    out = np.zeros(len(prompts), np.int32)
    for place, row in enumerate(prompts):
        key = row.tobytes()
        if key not in seen:
            value = 0x811C9DC5
            for byte in key:
                value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
            seen[key] = value & 0x7FFFFFFF
        out[place] = seen[key]
    return out


def per_response(known: Mapping[str, Array], count: int) -> Dict[str, Any]:
    """Columns of the table `responses`, one entry each; ragged ones as values and offsets."""
    out: Dict[str, Any] = {}
    for name, value in known.items():
        if TABLES["responses"][name].ragged:
            lists = [to_numpy(row).reshape(-1) for row in value]
            offsets = np.zeros(len(lists) + 1, np.int64)
            np.cumsum([len(row) for row in lists], out=offsets[1:])
            out[name] = (np.concatenate(lists) if lists else np.zeros(0), offsets)
            continue
        if name == "finish":
            out[name] = coded("responses.finish", value, (count,)).copy()
            continue
        array = to_numpy([np.nan if item is None else item for item in value] if isinstance(value, list) else value)
        if array.size not in (1, count):
            raise ValueError(f"{name} has {array.size} entries for {count} responses")
        out[name] = np.broadcast_to(array.reshape(-1), (count,)).copy()
    return out
