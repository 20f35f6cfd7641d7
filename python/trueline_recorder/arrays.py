"""Whatever a caller holds (tensors, arrays, lists, numbers) as numpy arrays, one entry or one list per row. What is returned is always a copy."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

Array = Any  # a tensor of any device, a numpy array, a sequence, or one number for all rows
Ragged = Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]

#: Per-candidate columns, which `lengths` cuts where they come padded.
CANDIDATES = ("subset", "legal", "logits", "candidate_features")


def to_numpy(value: Array) -> np.ndarray:
    """A copy in numpy of whatever the caller holds; gradients and devices stay behind."""
    if hasattr(value, "detach"):
        if value.requires_grad:
            value = value.detach()
        if value.dtype in half_types():
            value = value.float()
        return np.array(value.numpy() if on_cpu(value) else value.cpu().numpy())
    if isinstance(value, (list, tuple)) and any(hasattr(item, "detach") for item in value):
        return np.stack([to_numpy(item) for item in value])
    return np.array(value)


def on_cpu(tensor: Any) -> bool:
    return getattr(tensor, "is_cpu", False)


@functools.lru_cache(maxsize=1)
def half_types() -> Tuple[Any, ...]:
    torch = sys.modules.get("torch")
    return (torch.bfloat16,) if torch is not None else ()


def cast(kind: str, array: np.ndarray, name: str) -> np.ndarray:
    """The narrowest plain dtype that keeps every value; an unknown whole number or flag stays a float."""
    if kind == "text":
        return array.astype(str)
    if array.dtype == object or array.dtype.kind in "USOmM":
        raise ValueError(f"{name} holds {array.dtype} where numbers are expected")
    if kind == "float":
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    if array.dtype.kind == "f":
        known = array[np.isfinite(array)]
        if known.size != array.size:
            return array.astype(np.float64)
        if np.any(known != np.floor(known)):
            raise ValueError(f"{name} holds {known[known != np.floor(known)][0]} where whole numbers are expected")
    if kind == "bool":
        return array.astype(bool)
    if array.dtype == np.int32:
        return array
    wide = array.astype(np.int64, copy=False)
    fits = wide.size == 0 or (wide.min() >= -(2**31) and wide.max() < 2**31)
    return wide.astype(np.int32) if fits else wide


def is_continuous(action: Array) -> bool:
    """Whether actions are numbers of a continuous space, and no indices."""
    array = to_numpy(action)
    return array.dtype.kind == "f" and bool(np.any(array[np.isfinite(array)] % 1 != 0))


def is_several(action: Array, logp: Array) -> bool:
    """Whether every row has several choices, one per dimension of its action."""
    shape = np.shape(action)
    return len(shape) == np.ndim(logp) + 1 and shape[:-1] == np.shape(logp) and shape[-1] > 1


def per_row(value: Array, lead: Tuple[int, ...], name: str, main: str) -> np.ndarray:
    """One number per row. What has fewer dimensions than the rows is spread over them as numpy does it."""
    array = to_numpy(value)
    count = math.prod(lead)
    if array.shape == lead or (array.size == count and (array.ndim == 1 or len(lead) == 1)):
        return array.reshape(count)
    if array.size == count and [n for n in array.shape if n != 1] == [n for n in lead if n != 1]:
        return array.reshape(count)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, lead)).reshape(count)
    except ValueError:
        raise ValueError(f"{name} has the shape {array.shape} where {main} has {lead}") from None


def per_row_lists(value: Array, lead: Tuple[int, ...], lengths: Optional[np.ndarray], name: str, main: str) -> Ragged:
    """A list per row: a 2-D array where all are equally long, else flat values with offsets."""
    count = math.prod(lead)
    if isinstance(value, (list, tuple)) and not is_rectangular(value):
        rows = [to_numpy(row).reshape(-1) for row in value]
        if len(rows) != count:
            raise ValueError(f"{name} has {len(rows)} lists where {main} has {count} rows")
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return (np.concatenate(rows) if rows else np.zeros(0)), offsets
    array = to_numpy(value)
    if array.shape[: len(lead)] == lead and array.ndim > len(lead):
        array = array.reshape((count, *array.shape[len(lead) :]))
    elif not (array.ndim > 1 and array.shape[0] == count):
        if array.ndim == 1 and lengths is None:
            array = np.broadcast_to(array, (count, array.size))
        else:
            raise ValueError(f"{name} has the shape {array.shape}; a list for each of {main}'s {lead} rows is expected")
    if lengths is None or name not in CANDIDATES or np.all(lengths == array.shape[1]):
        return np.ascontiguousarray(array).reshape(count, -1)
    if lengths.max(initial=0) > array.shape[1]:
        raise ValueError(f"{name} is padded to {array.shape[1]} candidates, but a row has {lengths.max()}")
    kept = np.arange(array.shape[1]) < lengths[:, None]
    each = math.prod(array.shape[2:])
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths * each, out=offsets[1:])
    return array[kept].reshape(-1), offsets


def is_rectangular(rows: Sequence[Any]) -> bool:
    sizes = {np.shape(row) if not hasattr(row, "shape") else tuple(row.shape) for row in rows}
    return len(sizes) == 1
