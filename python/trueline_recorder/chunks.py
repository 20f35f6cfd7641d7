"""Rows of a table as columns in memory, and several of them joined into one file's arrays. What a part lacks is unknown there, not 0."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .arrays import Array, Ragged, cast, per_row, per_row_lists
from .tables import TABLES

Chunk = Dict[str, Union[int, Ragged]]  # by column; a whole number stands for itself in every row


def make_chunk(table: str, columns: Mapping[str, Array], lead: Tuple[int, ...], lengths: Optional[np.ndarray]) -> Chunk:
    main = "new_logp" if table == "replays" else "old_logp" if table == "samples" else "the first column"
    chunk: Chunk = {}
    for name, value in columns.items():
        spec = TABLES[table][name]
        if type(value) is int and spec.kind == "int" and abs(value) < 2**31:
            chunk[name] = value
            continue
        if not spec.ragged:
            chunk[name] = cast(spec.kind, per_row(value, lead, name, main), name)
            continue
        found = per_row_lists(value, lead, lengths, name, main)
        chunk[name] = (
            (cast(spec.kind, found[0], name), found[1]) if isinstance(found, tuple) else cast(spec.kind, found, name)
        )
    return chunk


def bytes_of(chunk: Chunk) -> int:
    total = 0
    for value in chunk.values():
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, tuple):
            total += value[0].nbytes + value[1].nbytes
    return total


def rows_of(chunk: Chunk) -> int:
    value = next(value for value in chunk.values() if type(value) is not int)
    return len(value[1]) - 1 if isinstance(value, tuple) else len(value)  # type: ignore[arg-type]


def join_chunks(table: str, chunks: Sequence[Chunk]) -> Dict[str, np.ndarray]:
    """One array per column and chunk file; what a part lacks is unknown there."""
    out: Dict[str, np.ndarray] = {}
    names = [name for name in TABLES[table] if any(name in chunk for chunk in chunks)]
    lengths = [rows_of(chunk) for chunk in chunks]
    for name in names:
        spec = TABLES[table][name]
        if not spec.ragged:
            parts = [chunk.get(name) for chunk in chunks]
            if all(type(part) is int for part in parts):
                out[name] = np.repeat(np.array(parts, np.int32), lengths)
                continue
            out[name] = np.concatenate(
                [
                    unknown(spec.kind, rows)
                    if part is None
                    else np.full(rows, part, np.int32)
                    if type(part) is int
                    else part
                    for part, rows in zip(parts, lengths)
                ]
            )
            continue
        lists = [
            chunk.get(name, (np.zeros(0, np.float32), np.zeros(rows + 1, np.int64)))
            for chunk, rows in zip(chunks, lengths)
        ]
        if all(isinstance(part, np.ndarray) and part.shape[1] == lists[0].shape[1] for part in lists):  # type: ignore[union-attr]
            out[name] = np.concatenate(lists)
            continue
        flat = [part if isinstance(part, tuple) else as_ragged(part) for part in lists]  # type: ignore[arg-type]
        bases = np.cumsum([0] + [int(offsets[-1]) for _, offsets in flat])
        out[f"{name}.values"] = np.concatenate(
            [values for values, offsets in flat if len(values) or len(flat) == 1] or [np.zeros(0)]
        )
        out[f"{name}.offsets"] = np.concatenate(
            [[0]] + [offsets[1:] + base for (_, offsets), base in zip(flat, bases)]
        ).astype(np.int64)
    return out


def as_ragged(array: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    return array.reshape(-1), np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]


def unknown(kind: str, rows: int) -> np.ndarray:
    return np.full(rows, "", dtype=str) if kind == "text" else np.full(rows, np.nan, np.float64)


def rows_to_chunk(rows: Sequence[Mapping[str, Any]], table: str) -> Chunk:
    """Rows gathered one by one, as columns."""
    chunk: Chunk = {}
    given = set().union(*rows)
    for name, spec in TABLES[table].items():
        if name not in given:
            continue
        missing: Any = "" if spec.kind == "text" else math.nan
        values = [row.get(name, missing) for row in rows]
        if not PLAIN.issuperset(map(type, values)):
            values = [plain_number(value) for value in values]
        chunk[name] = cast(spec.kind, np.array(values), name)
    return chunk


PLAIN = {float, int, str, bool}


def plain_number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
