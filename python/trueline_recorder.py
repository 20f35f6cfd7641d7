"""Records a training run for `trueline diagnose`: five lines in a PyTorch loop, or one argument in Stable-Baselines3.

    from trueline_recorder import Recorder

    recorder = Recorder("runs/mine", gamma=0.99, lam=0.95, agents=["IND", "EDU"])
    recorder.watch(policy="IND", actor=actor, critic=critic, optimizer=optimizer, head="4")
    for iteration in range(iterations):
        ...                                                              # collect, then:
        recorder.samples(agent="IND", old_logp=logp, reward=reward, value=value, terminated=terminated, ...)
        for ...:                                                         # every minibatch:
            recorder.replays(policy="IND", sample=index, new_logp=new_logp, advantage=advantage, ...)
            loss.backward()
            optimizer.step()                                             # measured by itself
            recorder.step(policy="IND", loss=loss, policy_loss=policy_loss, ...)
    recorder.close()

Columns are those of the recording format (docs/columns.md); all but a few are optional, and every one more lets the doctor
check one thing more. Where a Python keyword is in the way, write `return_=`.

The one thing to get wrong: `sample` counts rows of this iteration's samples in the order in which they were given, and it must be
the index that the minibatch really used. The recorder only reads: it draws no random number, keeps no graph alive and changes
no parameter. A mistake in a call, or a full disk, never ends the training run: the recorder warns once and stops recording.

Python 3.9 or later, and numpy; torch is used where the caller uses it.
"""

from __future__ import annotations

import atexit
import contextlib
import difflib
import functools
import json
import math
import os
import shutil
import sys
import time
import types
import warnings
import weakref
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

import numpy as np

__all__ = ["Recorder", "RecorderWarning", "sb3_callback", "TABLES"]
__version__ = "0.1.0"

Array = Any  # a tensor of any device, a numpy array, a sequence, or one number for all rows
Ragged = Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]
Chunk = Dict[str, Union[int, Ragged]]  # by column; a whole number stands for itself in every row


class Column(NamedTuple):
    """What a column holds: `int`, `float`, `bool` or `text`, one per row or a list per row."""

    kind: str
    ragged: bool
    required: bool


def _table(*definitions: str) -> Dict[str, Column]:
    columns = {}
    for definition in definitions:
        kind, name = definition.split(" ")
        plain = kind.rstrip("!*?")
        columns[name] = Column(plain.replace("[]", ""), plain.endswith("[]"), kind[-1] in "!*")
    return columns


#: Every table and column of the format `trueline/1`: `int! x` and `float* x` are required, `int[] x` is a list per row.
TABLES: Dict[str, Dict[str, Column]] = {
    "samples": _table(
        "int! iteration", "int! episode", "int! t", "int! agent", "float* old_logp", "int action", "int num_actions",
        "int[] subset", "bool[] legal", "float[] logits", "float temperature", "float[] obs", "float[] candidate_features",
        "float reward", "float env_reward", "bool terminated", "bool truncated", "float value", "float next_value",
        "float advantage", "float return", "int group", "int env", "int seat", "bool imagined",
    ),
    "replays": _table(
        "int! iteration", "int! epoch", "int! minibatch", "int! sample", "int? source_iteration", "int? policy",
        "float* new_logp", "float old_logp", "float advantage", "float entropy", "float value", "float return",
        "float weight", "float[] logits", "int[] subset", "bool[] legal", "float temperature", "float after_logp",
        "float again_logp",
    ),
    "steps": _table(
        "int! iteration", "int! epoch", "int! minibatch", "int? policy", "float loss", "float policy_loss",
        "float value_loss", "float entropy", "float approx_kl", "float clip_fraction", "float grad_norm",
        "float policy_grad_norm", "float value_grad_norm", "float learning_rate", "float valid_ratio", "bool skipped",
        "bool stopped", "float delta_logits", "float kl_after", "float embed_std", "float logits_std", "text probe",
    ),
    "tensors": _table(
        "int! iteration", "int! epoch", "int! minibatch", "int! tensor", "float grad_norm", "int grad_nonzero",
        "float delta", "float delta_norm", "float norm", "float learning_rate", "float weight_decay", "int bound",
    ),
    "episodes": _table(
        "int! episode", "int! agent", "float* return", "int length", "int iteration", "int seat", "int seed",
    ),
    "counters": _table("int! iteration", "int! agent", "text* name", "float* value"),
    "scalars": _table(
        "text* name", "float* value", "int iteration", "float step", "float time", "int policy", "int agent",
    ),
}

#: Per-candidate columns, which `lengths` cuts where they come padded.
_CANDIDATES = ("subset", "legal", "logits", "candidate_features")
#: What tells where episodes end; all that is looked at in iterations that are not kept.
_PLACING = ("old_logp", "agent", "env", "episode", "t", "terminated", "truncated", "reward", "env_reward")
#: Programs that keep minus the log-probability name the column so, and it is turned here.
_NEGATED = {"old_neglogp": "old_logp", "new_neglogp": "new_logp"}
#: What is held before it is written: bytes of rows, rows of small tables, and seconds that a killed run may lose.
_HELD_BYTES = 16 << 20
_HELD_ROWS = 4096
_HELD_SECONDS = 10.0
#: Minibatches of an iteration that `again` is called for: of the first ones, and of those that are kept later.
_TWICE = (4, 2)
#: Entries of a policy's tensors that are copied before they are measured; at least those of one step.
_COPIED_ENTRIES = 1 << 20
#: Rows of minibatches that are held as they came, and looked at together.
_RAW_ROWS = 8192


class RecorderWarning(UserWarning):
    """Recording has stopped, or part of it; training goes on."""


# --- arrays -------------------------------------------------------------------------------------------------------------------


def _array(value: Array) -> np.ndarray:
    """A copy in numpy of whatever the caller holds; gradients and devices stay behind."""
    if hasattr(value, "detach"):
        if value.requires_grad:
            value = value.detach()
        if value.dtype in _half_types():
            value = value.float()
        return np.array(value.numpy() if _on_cpu(value) else value.cpu().numpy())
    if isinstance(value, (list, tuple)) and any(hasattr(item, "detach") for item in value):
        return np.stack([_array(item) for item in value])
    return np.array(value)


def _on_cpu(tensor: Any) -> bool:
    return getattr(tensor, "is_cpu", False)


@functools.lru_cache(maxsize=1)
def _half_types() -> Tuple[Any, ...]:
    torch = sys.modules.get("torch")
    return (torch.bfloat16,) if torch is not None else ()


def _cast(kind: str, array: np.ndarray, name: str) -> np.ndarray:
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


def _rows(value: Array, lead: Tuple[int, ...], name: str, main: str) -> np.ndarray:
    """One number per row. What has fewer dimensions than the rows is spread over them as numpy does it."""
    array = _array(value)
    count = math.prod(lead)
    if array.shape == lead or (array.size == count and (array.ndim == 1 or len(lead) == 1)):
        return array.reshape(count)
    if array.size == count and [n for n in array.shape if n != 1] == [n for n in lead if n != 1]:
        return array.reshape(count)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, lead)).reshape(count)
    except ValueError:
        raise ValueError(f"{name} has the shape {array.shape} where {main} has {lead}") from None


def _lists(value: Array, lead: Tuple[int, ...], lengths: Optional[np.ndarray], name: str, main: str) -> Ragged:
    """A list per row: a 2-D array where all are equally long, else flat values with offsets."""
    count = math.prod(lead)
    if isinstance(value, (list, tuple)) and not _is_rectangular(value):
        rows = [_array(row).reshape(-1) for row in value]
        if len(rows) != count:
            raise ValueError(f"{name} has {len(rows)} lists where {main} has {count} rows")
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return (np.concatenate(rows) if rows else np.zeros(0)), offsets
    array = _array(value)
    if array.shape[: len(lead)] == lead and array.ndim > len(lead):
        array = array.reshape((count,) + array.shape[len(lead) :])
    elif not (array.ndim > 1 and array.shape[0] == count):
        if array.ndim == 1 and lengths is None:
            array = np.broadcast_to(array, (count, array.size))
        else:
            raise ValueError(f"{name} has the shape {array.shape}; a list for each of {main}'s {lead} rows is expected")
    if lengths is None or name not in _CANDIDATES or np.all(lengths == array.shape[1]):
        return np.ascontiguousarray(array).reshape(count, -1)
    if lengths.max(initial=0) > array.shape[1]:
        raise ValueError(f"{name} is padded to {array.shape[1]} candidates, but a row has {lengths.max()}")
    kept = np.arange(array.shape[1]) < lengths[:, None]
    each = math.prod(array.shape[2:])
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths * each, out=offsets[1:])
    return array[kept].reshape(-1), offsets


def _is_rectangular(rows: Sequence[Any]) -> bool:
    sizes = {np.shape(row) if not hasattr(row, "shape") else tuple(row.shape) for row in rows}
    return len(sizes) == 1


def _chunk(table: str, columns: Mapping[str, Array], lead: Tuple[int, ...], lengths: Optional[np.ndarray]) -> Chunk:
    main = "new_logp" if table == "replays" else "old_logp" if table == "samples" else "the first column"
    chunk: Chunk = {}
    for name, value in columns.items():
        spec = TABLES[table][name]
        if type(value) is int and spec.kind == "int" and abs(value) < 2**31:
            chunk[name] = value
            continue
        if not spec.ragged:
            chunk[name] = _cast(spec.kind, _rows(value, lead, name, main), name)
            continue
        found = _lists(value, lead, lengths, name, main)
        chunk[name] = (_cast(spec.kind, found[0], name), found[1]) if isinstance(found, tuple) else _cast(spec.kind, found, name)
    return chunk


def _known(table: str, columns: Mapping[str, Array]) -> Dict[str, Array]:
    """Columns by the names of the format, without those that were not given; a wrong name is answered with the nearest."""
    spec = TABLES[table]
    if columns.keys() <= spec.keys():
        return {name: value for name, value in columns.items() if value is not None}
    known: Dict[str, Array] = {}
    for given, value in columns.items():
        if value is None:
            continue
        if given in spec:
            known[given] = value
            continue
        name = "return" if given in ("return_", "returns") else given
        if name in _NEGATED and _NEGATED[name] in TABLES[table]:
            name, value = _NEGATED[name], -_array(value)
        if name not in TABLES[table]:
            near = difflib.get_close_matches(name, TABLES[table], 1, 0.3)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{table} has no column {given}{hint} It has {', '.join(TABLES[table])}.")
        known[name] = value
    return known


def _bytes(chunk: Chunk) -> int:
    total = 0
    for value in chunk.values():
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, tuple):
            total += value[0].nbytes + value[1].nbytes
    return total


def _length(chunk: Chunk) -> int:
    value = next(value for value in chunk.values() if type(value) is not int)
    return len(value[1]) - 1 if isinstance(value, tuple) else len(value)


def _joined(table: str, chunks: Sequence[Chunk]) -> Dict[str, np.ndarray]:
    """One array per column and chunk file; what a part lacks is unknown there."""
    out: Dict[str, np.ndarray] = {}
    names = [name for name in TABLES[table] if any(name in chunk for chunk in chunks)]
    lengths = [_length(chunk) for chunk in chunks]
    for name in names:
        spec = TABLES[table][name]
        if not spec.ragged:
            parts = [chunk.get(name) for chunk in chunks]
            if all(type(part) is int for part in parts):
                out[name] = np.repeat(np.array(parts, np.int32), lengths)
                continue
            out[name] = np.concatenate([
                _unknown(spec.kind, rows) if part is None else np.full(rows, part, np.int32) if type(part) is int else part
                for part, rows in zip(parts, lengths)
            ])
            continue
        lists = [chunk.get(name, (np.zeros(0, np.float32), np.zeros(rows + 1, np.int64))) for chunk, rows in zip(chunks, lengths)]
        if all(isinstance(part, np.ndarray) and part.shape[1] == lists[0].shape[1] for part in lists):  # type: ignore[union-attr]
            out[name] = np.concatenate(lists)  # type: ignore[arg-type]
            continue
        flat = [part if isinstance(part, tuple) else _ragged(part) for part in lists]
        bases = np.cumsum([0] + [int(offsets[-1]) for _, offsets in flat])
        out[f"{name}.values"] = np.concatenate([values for values, offsets in flat if len(values) or len(flat) == 1] or [np.zeros(0)])
        out[f"{name}.offsets"] = np.concatenate([[0]] + [offsets[1:] + base for (_, offsets), base in zip(flat, bases)]).astype(np.int64)
    return out


def _ragged(array: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    return array.reshape(-1), np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]


def _unknown(kind: str, rows: int) -> np.ndarray:
    return np.full(rows, "", dtype=str) if kind == "text" else np.full(rows, np.nan, np.float64)


def _table_of(rows: Sequence[Mapping[str, Any]], table: str) -> Chunk:
    """Rows gathered one by one, as columns."""
    chunk: Chunk = {}
    given = set().union(*rows)
    for name, spec in TABLES[table].items():
        if name not in given:
            continue
        missing: Any = "" if spec.kind == "text" else math.nan
        values = [row.get(name, missing) for row in rows]
        if not _PLAIN.issuperset(map(type, values)):
            values = [_number(value) for value in values]
        chunk[name] = _cast(spec.kind, np.array(values), name)
    return chunk


_PLAIN = {float, int, str, bool}


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


# --- tensors of a policy ------------------------------------------------------------------------------------------------------


class _Tensor(NamedTuple):
    name: str
    role: str
    parameter: Any


Supply = Callable[[], List[_Tensor]]


def _named(part: Any, prefix: str) -> List[Tuple[str, Any]]:
    """Names and parameters of a module, of several, or of a list of parameters."""
    if part is None:
        return []
    if hasattr(part, "named_parameters"):
        return [(f"{prefix}.{name}", parameter) for name, parameter in part.named_parameters()]
    if hasattr(part, "detach"):
        return [(prefix, part)]
    if isinstance(part, Mapping):
        return [pair for key, item in part.items() for pair in _named(item, f"{prefix}.{key}")]
    return [pair for place, item in enumerate(part) for pair in _named(item, f"{prefix}.{place}")]


def _last_layer(actor: Any) -> Optional[str]:
    """The name of the last submodule that holds a matrix: what most actors end with."""
    last = None
    for name, module in getattr(actor, "named_modules", list)():
        if name and any(parameter.dim() > 1 for parameter in module.parameters(recurse=False)):
            last = name
    return last


def _roles(actor: Any, critic: Any, shared: Any, head: Any) -> List[_Tensor]:
    if isinstance(head, str) or head is None:
        wanted = head if head is not None else _last_layer(actor)
        prefix = f"actor.{wanted}."
        tops = {id(p) for name, p in _named(actor, "actor") if wanted is not None and (name + ".").startswith(prefix)}
        if head is not None and not tops:
            names = sorted({name.split(".", 1)[1].rsplit(".", 1)[0] for name, _ in _named(actor, "actor")})
            raise ValueError(f"head={head!r} names no layer of the actor; it has {', '.join(names)}")
        loose: List[Tuple[str, Any]] = []
    else:
        loose = _named(head, "head")
        tops = {id(parameter) for _, parameter in loose}
    actors = _named(actor, "actor")
    critics = _named(critic, "critic")
    both = {id(p) for _, p in actors} & {id(p) for _, p in critics} | {id(p) for _, p in _named(shared, "shared")}
    found: List[_Tensor] = []
    seen: Set[int] = set()
    for source, role in ((actors, "trunk"), (_named(shared, "shared"), "shared"), (loose, "head"), (critics, "critic")):
        for name, parameter in source:
            if id(parameter) in seen or parameter.numel() == 0:
                continue
            seen.add(id(parameter))
            found.append(_Tensor(name, "head" if id(parameter) in tops else "shared" if id(parameter) in both else role, parameter))
    return found


class _Held:
    """The tensors that one optimiser moves, in one order. What they were before and after steps is copied, and measured for
    several steps at once: many small calls between a program's own cost it more than their time."""

    def __init__(self, parameters: List[Any], places: np.ndarray, bound: Sequence[int], groups: Sequence[Optional[Mapping[str, Any]]]) -> None:
        self.parameters = parameters
        self.places = places
        self.bound = np.array(bound, np.int32)
        self.groups = {id(group): group for group in groups}
        self.group_of = np.array([list(self.groups).index(id(group)) for group in groups])
        sizes = [parameter.numel() for parameter in parameters]
        self.starts, self.size = np.cumsum([0] + sizes[:-1]), sum(sizes)
        self.plain = False
        self.views: Optional[List[np.ndarray]] = None  # of the parameters, while they stay where they are
        self.pointers: List[int] = []
        self.copies: Any = None  # (3, steps, entries): before the step, its gradients, and after it
        self.begun: Any = None
        self.waiting: List[Dict[str, np.ndarray]] = []  # rows that lack their figures

    def _lines(self) -> List[np.ndarray]:
        return [parameter.detach().numpy().reshape(-1) for parameter in self.parameters]

    def _flat(self, out: np.ndarray) -> None:
        np.concatenate(self.views or self._lines(), out=out)

    def _find(self, pointers: List[int]) -> None:
        self.settle()
        self.pointers, self.plain, self.views, self.copies = pointers, _is_plain(self.parameters), None, None
        if self.plain and all(parameter.is_contiguous() for parameter in self.parameters):
            self.views = self._lines()

    def start(self) -> None:
        """Parameters and gradients before a step: the optimiser may change either."""
        pointers = [parameter.data_ptr() for parameter in self.parameters]
        if pointers != self.pointers:
            self._find(pointers)
        if not self.plain:
            self.begun = [(parameter.detach().clone(), _dense(parameter).detach().clone()) for parameter in self.parameters]
            return
        torch = sys.modules["torch"]
        if self.copies is None:
            wide = np.float64 if any(parameter.dtype == torch.float64 for parameter in self.parameters) else np.float32
            steps = max(1, min(64, _COPIED_ENTRIES // (3 * self.size)))
            self.copies = np.empty((3, steps, self.size), wide)
        gradients = [parameter.grad for parameter in self.parameters]
        if any(gradient is None or gradient.is_sparse for gradient in gradients):
            gradients = [_dense(parameter) for parameter in self.parameters]
        at = len(self.waiting)
        self._flat(self.copies[0, at])
        self.copies[1, at] = torch.cat([gradient.flatten() for gradient in gradients]).detach().numpy()
        self.begun = True

    def finish(self) -> Optional[Dict[str, np.ndarray]]:
        """Columns of the table `tensors` but for their place in time; the figures are there once they are settled."""
        begun, self.begun = self.begun, None
        if begun is None:
            return None
        rows: Dict[str, np.ndarray] = {"tensor": self.places, "bound": self.bound}
        for name, setting, default in (("learning_rate", "lr", math.nan), ("weight_decay", "weight_decay", 0.0)):
            told = [math.nan if group is None else float(group.get(setting, default)) for group in self.groups.values()]
            rows[name] = np.array(told)[self.group_of]
        if not self.plain:
            rows.update(zip(_FIGURES, _measure(begun, self.parameters)))
            return rows
        self._flat(self.copies[2, len(self.waiting)])
        self.waiting.append(rows)
        if len(self.waiting) == self.copies.shape[1]:
            self.settle()
        return rows

    def settle(self) -> None:
        if not self.waiting:
            return
        old, gradient, new = self.copies[:, : len(self.waiting)]

        def total(values: np.ndarray, kind: Any = np.float64) -> np.ndarray:
            return np.add.reduceat(values, self.starts, axis=1, dtype=kind)

        with np.errstate(all="ignore"):
            change = np.subtract(new, old, out=new)
            lengths = [np.sqrt(total(values * values)) for values in (gradient, change, old)]
            figures = [lengths[0], total(gradient != 0, np.int32), total(np.abs(change, out=change)), lengths[1], lengths[2]]
        for at, rows in enumerate(self.waiting):
            rows.update((name, figure[at]) for name, figure in zip(_FIGURES, figures))
        self.waiting = []
        if self.copies.shape[1] == 1:
            self.copies = None


#: Gradient norm, entries of the gradient that are not 0, sum and length of the change, and norm before the step; by tensor.
_FIGURES = ("grad_norm", "grad_nonzero", "delta", "delta_norm", "norm")


def _is_plain(parameters: Sequence[Any]) -> bool:
    torch = sys.modules["torch"]
    return all(_on_cpu(p) and p.dtype in (torch.float32, torch.float64) for p in parameters)


def _dense(parameter: Any) -> Any:
    gradient = parameter.grad
    if gradient is None:
        return parameter.detach().new_zeros(parameter.shape)
    return gradient.to_dense() if gradient.is_sparse else gradient


def _measure(before: Sequence[Tuple[Any, Any]], parameters: Sequence[Any]) -> Sequence[np.ndarray]:
    """The figures of tensors on a device, or of half precision: computed there, and fetched once."""
    torch = sys.modules["torch"]
    figures = []
    for (old, gradient), parameter in zip(before, parameters):
        change = (parameter.detach() - old).float()
        figures.append(torch.stack([
            gradient.float().norm(), (gradient != 0).sum().float(), change.abs().sum(), change.norm(), old.float().norm(),
        ]))
    table = torch.stack(figures).cpu().numpy().astype(np.float64).T
    return [table[0], np.rint(table[1]).astype(np.int32), *table[2:]]


class _Watch:
    """One policy's tensors and the optimisers that should hold them. Measures around a step; copies are kept of `_COPIED_ENTRIES`, or of one step."""

    def __init__(self, policy: int, supply: Supply, optimizers: List[Any], first: int) -> None:
        self.policy = policy
        self.supply = supply
        self.optimizers = optimizers
        self.first = first
        self.names: List[str] = []
        self.tensors: List[_Tensor] = []
        self.sizes: List[int] = []
        self.held: Dict[int, _Held] = {}  # by the id of the optimiser
        self.shape: Tuple[int, ...] = ()

    def refresh(self, everyone: Sequence[Any]) -> None:
        """Looks again which parameters there are and who holds them: layers are replaced, groups are added."""
        found = {tensor.name: tensor for tensor in self.supply()}
        if not self.names:
            self.names = list(found)
            self.sizes = [tensor.parameter.numel() for tensor in found.values()]
        self.tensors = [found[name] for name in self.names if name in found]
        if len(self.tensors) != len(self.names) or any(t.parameter.numel() != n for t, n in zip(self.tensors, self.sizes)):
            raise ValueError("a watched network has changed its layers; watch() it again under another policy's name")
        holders: Dict[int, List[Tuple[int, Mapping[str, Any]]]] = {}
        for place, optimizer in enumerate(everyone):
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    holders.setdefault(id(parameter), []).append((place, group))
        held = [holders.get(id(tensor.parameter), []) for tensor in self.tensors]
        self.settle()
        self.held = {}
        for optimizer in self.optimizers:
            place = next(i for i, other in enumerate(everyone) if other is optimizer)
            # What no optimiser holds is measured beside the first one's.
            mine = [any(at == place for at, _ in groups) or (not groups and optimizer is self.optimizers[0]) for groups in held]
            chosen = np.flatnonzero(mine)
            if len(chosen):
                self.held[id(optimizer)] = _Held(
                    [self.tensors[i].parameter for i in chosen], (chosen + self.first).astype(np.int32),
                    [len(held[i]) for i in chosen], [held[i][0][1] if held[i] else None for i in chosen],
                )
        self.shape = self._shape()

    def _shape(self) -> Tuple[int, ...]:
        return tuple(len(group["params"]) for optimizer in self.optimizers for group in optimizer.param_groups)

    def start(self, optimizer: Any, everyone: Sequence[Any]) -> None:
        if self.shape != self._shape():
            self.refresh(everyone)
        held = self.held.get(id(optimizer))
        if held is not None:
            held.start()

    def finish(self, optimizer: Any) -> Optional[Dict[str, np.ndarray]]:
        held = self.held.get(id(optimizer))
        return None if held is None else held.finish()

    def settle(self) -> None:
        for held in self.held.values():
            held.settle()


def _added(known: Dict[str, np.ndarray], more: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Tensors of another optimiser's step; where both hold a tensor its changes add up."""
    at = {tensor: place for place, tensor in enumerate(known["tensor"].tolist())}
    both = np.array([tensor in at for tensor in more["tensor"].tolist()], bool)
    places = [at[tensor] for tensor in more["tensor"][both].tolist()]
    for name in ("delta", "delta_norm"):
        known[name][places] += more[name][both]
    return {name: np.concatenate([values, more[name][~both]]) for name, values in known.items()}


# --- episodes from ends -------------------------------------------------------------------------------------------------------


class _Streams:
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
                number, length, total = self._id(key >> 12, count), age + begins[at + 1] - begins[at], before + gained[at]
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
        ended: Chunk = {name: np.array(values, np.float64 if name == "return" else np.int64) for name, values in columns}
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


# --- the recorder -------------------------------------------------------------------------------------------------------------


class _Step:
    """One optimiser step of one policy while its parts come in: rows, measurements and reports, in any order."""

    __slots__ = ("epoch", "minibatch", "parts", "replays", "again", "report", "tensors")

    def __init__(self, epoch: int, minibatch: int) -> None:
        self.epoch, self.minibatch = epoch, minibatch
        self.parts: Tuple[Any, ...] = ()
        self.replays: List[Union[Chunk, Callable[[], Chunk]]] = []
        self.again: List[Tuple[Chunk, Callable[[], Any], Any]] = []
        self.report: Dict[str, Any] = {}
        self.tensors: Dict[str, np.ndarray] = {}


class _Policy:
    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.step = _Step(0, 0)
        self.seen = np.zeros(0, bool)
        self.updates = 0
        self.replayed = 0
        self.plan: List[Tuple[int, int]] = []


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever goes wrong in the recorder ends the recording, never the training."""

    @functools.wraps(method)
    def safe(self: "Recorder", *args: Any, **kwargs: Any) -> Any:
        if self.stopped:
            return None
        if self._inside:
            return method(self, *args, **kwargs)
        self._inside = True
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001
            self._fail(error)
            return None
        finally:
            self._inside = False

    return safe


class Recorder:
    """Writes a recording of a training run into the folder `path`.

    gamma, lam      discount and GAE's lambda, as the trainer uses them
    agents          names of the agents, in the order of the `agent` column; one unnamed agent without it
    settings        what else the trainer was told: clip, epochs, minibatches, entropy_coefficient, value_coefficient,
                    max_grad_norm, target_kl, advantage_normalisation ("batch", "minibatch", "none") ... What is not declared is
                    not compared. Learning rate and optimiser are read from the optimiser.
    first, every    rows and tensors are kept for the first iterations and then for every so-many-th; `recording` tells which
    overwrite       replaces a recording that is already there; otherwise the constructor refuses
    strict          raises errors instead of warning, for tests of your own

    Mistakes in the constructor and in `watch` are raised at once, before any training time is spent.
    """

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        gamma: Optional[float] = None,
        lam: Optional[float] = None,
        agents: Optional[Sequence[str]] = None,
        settings: Optional[Mapping[str, Any]] = None,
        algorithm: str = "ppo",
        name: Optional[str] = None,
        seed: Optional[int] = None,
        first: int = 3,
        every: int = 10,
        environment: Optional[Mapping[str, Any]] = None,
        agent_settings: Optional[Sequence[Mapping[str, Any]]] = None,
        overwrite: bool = False,
        strict: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.agents = list(agents) if agents is not None else ["agent"]
        self.first, self.every = int(first), max(1, int(every))
        self.strict = strict
        self.stopped = False
        self.closed = False
        self.iteration = -1
        self.recording = False
        self._inside = False
        self._pid = os.getpid()
        self._policies: List[_Policy] = []
        self._watches: List[_Watch] = []
        self._by_optimizer: Dict[int, List[_Watch]] = {}  # by id; the watch keeps the optimiser
        self._optimizers: List[Any] = []
        self._undo: List[Callable[[], None]] = []
        self._agent_policy: Dict[str, int] = {}
        self._snapshots: Dict[int, Any] = {}
        self._listener: Optional[Callable[[Any], None]] = None
        self._streams = _Streams()
        self._own_episodes = False
        self._counted: Set[str] = set()
        self._updated = False
        self._rows = 0
        self._held: Dict[str, List[Chunk]] = {}
        self._bytes = 0
        self._ended: List[Tuple[int, _Step]] = []  # steps that are over and not yet held, by policy, and how many rows they have
        self._ended_rows = 0
        self._loose: Dict[str, List[Dict[str, Any]]] = {}
        self._next: Dict[str, int] = {}
        self._next_episode = 0
        self._written = -math.inf  # the first iteration is written at once, so that a mistake shows early
        declared = dict(settings or {})
        for key, value in (("gamma", gamma), ("lambda", lam)):
            if value is not None:
                declared[key] = float(value)
        self._manifest: Dict[str, Any] = {
            "format": "trueline/1", "name": name or os.path.basename(os.path.normpath(self.path)), "algorithm": algorithm,
            **({} if seed is None else {"seed": int(seed)}),
            "agents": [], "policies": [], "tensors": [], "settings": declared,
            **({} if agent_settings is None else {"agent_settings": [dict(own) for own in agent_settings]}),
            **({} if environment is None else {"environment": dict(environment)}),
            "writer": {"name": "trueline_recorder", "version": __version__, "python": sys.version.split()[0]},
        }
        self._prepare(overwrite)
        self._write_manifest()
        atexit.register(_close_at_exit, weakref.ref(self))

    # - set up -

    def watch(
        self,
        *,
        policy: Union[str, int, None] = None,
        actor: Any = None,
        critic: Any = None,
        shared: Any = None,
        head: Any = None,
        optimizer: Any = None,
        agents: Optional[Sequence[str]] = None,
        snapshots: bool = False,
        tensors: Optional[Supply] = None,
    ) -> None:
        """Finds a policy's tensors, their roles and who holds them, and measures them around `optimizer.step()` from now on.

        actor, critic   modules (or lists of modules or parameters); a parameter of both is shared
        shared          a trunk that is neither the actor's nor the critic's alone
        head            the actor's last layer: its name within the actor, or the module; the last matrix without it
        optimizer       the optimiser, or several, that should hold them
        agents          names of the agents that this policy plays for; the agent of its own name, or all, without it
        snapshots       also keeps the actor as policies/<policy>-<iteration>.onnx, where torch can export it
        tensors         instead of actor, critic, shared and head: a function that gives (name, role, parameter) triples
        """
        if "torch" not in sys.modules:
            raise ValueError("watch() measures torch modules, and torch is not imported")
        optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
        if any(not hasattr(item, "param_groups") for item in optimizers):
            raise ValueError("watch() needs optimizer=: a torch optimiser, or a list of them")
        known = self._find_policy(policy, create=True)
        supply = (lambda: [_Tensor(*item) for item in tensors()]) if tensors else (lambda: _roles(actor, critic, shared, head))
        watch = _Watch(known, supply, optimizers, len(self._manifest["tensors"]))
        for item in optimizers:
            if not any(item is other for other in self._optimizers):
                self._optimizers.append(item)
                self._hook(item)
        watch.refresh(self._optimizers)
        if not watch.tensors:
            raise ValueError("watch() found no parameter; name the actor and the critic")
        for tensor in watch.tensors:
            self._manifest["tensors"].append(
                {"name": tensor.name, "policy": known, "role": tensor.role, "size": tensor.parameter.numel()}
            )
        self._watches.append(watch)
        for item in optimizers:
            self._by_optimizer.setdefault(id(item), []).append(watch)
        for agent in agents or ():
            self._agent_policy[self.agents[self._agent_index(agent)]] = known
        if snapshots and actor is not None:
            self._snapshots[known] = actor
        self._declare_optimizer(optimizers[0])
        self._write_manifest()

    def _declare_optimizer(self, optimizer: Any) -> None:
        group = optimizer.param_groups[0]
        kind = type(optimizer).__name__.lower()
        declared = self._manifest["settings"]
        declared.setdefault("learning_rate", float(group.get("lr", math.nan)))
        about = {"name": kind, "decoupled_decay": kind == "adamw"}
        if "betas" in group:
            about["betas"] = [float(beta) for beta in group["betas"]]
        # How far a step can go depends on these; the doctor knows no bound without them.
        for name in ("eps", "momentum", "alpha", "nesterov", "centered", "weight_decay"):
            if isinstance(group.get(name), (bool, int, float)):
                about[name] = group[name]
        declared.setdefault("optimizer", about)

    def _hook(self, optimizer: Any) -> None:
        """Around every step: torch's own hooks where there are any, else the method wrapped on this one object."""
        if hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "register_step_post_hook"):
            before = optimizer.register_step_pre_hook(lambda which, args, kwargs: self._before_step(which))
            after = optimizer.register_step_post_hook(lambda which, args, kwargs: self._after_step(which))
            self._undo += [before.remove, after.remove]
            return
        original = optimizer.step

        @functools.wraps(original)
        def step(which: Any, *args: Any, **kwargs: Any) -> Any:
            self._before_step(which)
            result = original(*args, **kwargs)
            self._after_step(which)
            return result

        # A bound method, because learning-rate schedules take it apart.
        optimizer.step = types.MethodType(step, optimizer)

        def undo() -> None:
            if getattr(optimizer.step, "__func__", None) is step:
                del optimizer.step

        self._undo.append(undo)

    # - what happened -

    @_guarded
    def begin(self, iteration: Optional[int] = None) -> None:
        """Starts an iteration. `samples` does it by itself after an update; call it where that does not fit."""
        number = self.iteration + 1 if iteration is None else int(iteration)
        if number <= self.iteration:
            raise ValueError(f"iteration {number} begins after iteration {self.iteration}; iterations only rise")
        self._end_iteration()
        self.iteration = number
        self.recording = number < self.first or number % self.every == 0
        self._updated = False
        self._rows = 0
        for policy in self._policies:
            policy.step, policy.updates, policy.replayed = _Step(0, 0), 0, 0
            policy.seen = np.zeros(0, bool)
        if self.recording:
            for watch in self._watches:
                watch.refresh(self._optimizers)

    @_guarded
    def samples(self, *, lengths: Array = None, iteration: Optional[int] = None, **columns: Array) -> None:
        """Rows of the rollout, in the trainer's own storage order: one decision of one agent each.

        Shapes: flat, (steps, environments), or (steps, environments, agents); rows are counted in the order in which numpy (and
        torch's `reshape(-1)`) flattens them. Lists per row (logits, subset, legal, obs) have one dimension more, or are lists of
        lists; padded ones are cut to `lengths`, or to `num_actions`. Several calls in one iteration add up.

        `terminated` and `truncated` say that the episode ended *after* this row's action. Where `episode` and `t` are not given
        they are counted from these, in row order, by environment and agent. `agent` may be names. A `next_value` with one entry per
        environment is that of the rollout's last step. `old_neglogp` is minus `old_logp`.
        """
        if iteration is not None:
            if int(iteration) != self.iteration:
                self.begin(int(iteration))
        elif self.iteration < 0 or self._updated:
            self.begin()
        known = _known("samples", columns)
        if not self.recording:
            known = {name: value for name, value in known.items() if name in _PLACING}
        if "old_logp" not in known:
            raise ValueError("samples() needs old_logp: the log-probability stored when the action was sampled")
        old = _array(known["old_logp"])
        lead = old.shape if old.ndim > 0 else (1,)
        rows = math.prod(lead)
        known["old_logp"] = old.reshape(lead)
        known["agent"] = self._agents_of(known.get("agent"), lead)
        if len(lead) > 1 and "env" not in known:
            known["env"] = np.arange(lead[1]).reshape((-1,) + (1,) * (len(lead) - 2))
        if "next_value" in known:
            known["next_value"] = _last_step(_array(known["next_value"]), lead)
        self._place(known, lead)
        if not self.recording:
            self._rows += rows
            return
        cut = lengths if lengths is not None else known.get("num_actions")
        counts = None if cut is None else _rows(cut, lead, "lengths", "old_logp").astype(np.int64)
        chunk = _chunk("samples", {**known, "iteration": self.iteration}, lead, counts)
        self._hold("samples", chunk)
        self._rows += rows
        if self._snapshots and "obs" in chunk:
            self._export(chunk)

    @_guarded
    def replays(
        self,
        *,
        policy: Union[str, int, None] = None,
        epoch: Optional[int] = None,
        minibatch: Optional[int] = None,
        lengths: Array = None,
        again: Optional[Callable[[], Any]] = None,
        **columns: Array,
    ) -> None:
        """Rows of one minibatch as they entered the loss, before `optimizer.step()`.

        sample          the index of each row within this iteration's samples; without it, all of them in their order
        epoch, minibatch  which step; counted without them: a call is a minibatch, and a row that comes again begins an epoch.
                        With gradients gathered over several calls, give both, the same for each.
        again           a function that gives the same rows' log-probabilities once more, or (log-probabilities, logits): it is
                        called at once and again after the step, without gradients and with the random state put back, for the
                        first few minibatches of an iteration that is kept
        new_neglogp, old_neglogp  minus the log-probabilities, where the trainer keeps those
        """
        if self.iteration < 0:
            self.begin()
        self._updated = True
        own = self._policies[self._find_policy(policy, create=True)]
        if not self.recording:
            # Epochs are told apart by their rows in the iterations that are kept; the others follow the same plan.
            if epoch is None and minibatch is None and 0 < own.replayed < len(own.plan):
                epoch, minibatch = own.plan[own.replayed]
            own.replayed += 1
            self._at(own, "replays", epoch, minibatch, None)
            return
        known = _known("replays", columns)
        if "new_logp" not in known:
            raise ValueError("replays() needs new_logp: the log-probability in this step's forward pass")
        sample = known.get("sample")
        rows = np.arange(self._rows) if sample is None else _array(sample).reshape(-1).astype(np.int64, copy=False)
        step = self._at(own, "replays", epoch, minibatch, rows)
        if own.replayed == 0:
            own.plan = []
        own.plan.append((step.epoch, step.minibatch))
        fresh = _array(known["new_logp"])
        known["new_logp"] = fresh
        known["sample"] = rows
        lead = fresh.shape if fresh.ndim > 0 else (1,)
        if math.prod(lead) != len(rows):
            raise ValueError(f"replays() has {math.prod(lead)} log-probabilities for {len(rows)} samples")
        counts = None if lengths is None else _rows(lengths, lead, "lengths", "new_logp").astype(np.int64)
        known["policy"] = own.index
        own.replayed += 1
        self._ended_rows += len(rows)
        if own.replayed > _TWICE[self.iteration >= self.first]:
            again = None
        if again is None and not self.strict and not any(isinstance(value, (list, tuple)) for value in known.values()):
            copies = {name: value if type(value) is int else _array(value) for name, value in known.items()}
            step.replays.append(functools.partial(_chunk, "replays", copies, lead, counts))
            return
        chunk = _chunk("replays", known, lead, counts)
        if again is not None:
            logp, logits = _twice(again)
            chunk["again_logp"] = logp.reshape(-1)
            step.again.append((chunk, again, logits))
        step.replays.append(chunk)

    @_guarded
    def step(
        self,
        *,
        policy: Union[str, int, None] = None,
        epoch: Optional[int] = None,
        minibatch: Optional[int] = None,
        **columns: Array,
    ) -> None:
        """What the trainer itself reports of one optimiser step: loss, policy_loss, value_loss, entropy, approx_kl, clip_fraction,
        grad_norm (before clipping: what `clip_grad_norm_` returns), skipped, stopped ... One number each; kept for every iteration."""
        known = _known("steps", columns)
        if self.iteration < 0:
            self.begin()
        self._updated = True
        own = self._policies[self._find_policy(policy, create=True)]
        step = self._at(own, "step", epoch, minibatch, None)
        report = step.report
        for name, value in known.items():
            if hasattr(value, "detach"):
                # Reading a number from a device waits for it; that can wait until the rows are written.
                value = value.item() if _on_cpu(value) else value.detach().clone()
            report[name] = value
        if not self.recording and "iteration" not in report:
            report.update(iteration=self.iteration, epoch=step.epoch, minibatch=step.minibatch, policy=own.index)
            self._add("steps", report)

    @_guarded
    def episodes(self, *, agent: Array = None, episode: Array = None, return_: Array = None, **columns: Array) -> None:
        """Results of episodes, one row per agent and episode. Where `samples` counts episodes itself and knows the rewards this is
        done already, until the first call of this."""
        if not self._own_episodes:
            self._own_episodes = True
            self._held.pop("episodes", None)
        given = {**columns, **({} if return_ is None else {"return_": return_})}
        known = _known("episodes", given)
        if "return" not in known:
            raise ValueError("episodes() needs return_=: the sum of the agent's rewards")
        returns = _array(known["return"])
        lead = returns.shape if returns.ndim > 0 else (1,)
        rows = math.prod(lead)
        known["return"] = returns
        known["agent"] = self._agents_of(agent, lead)
        if episode is None:
            episode = self._next_episode + np.arange(rows).reshape(lead)
            self._next_episode += rows
        known["episode"] = episode
        known.setdefault("iteration", max(0, self.iteration))
        self._hold("episodes", _chunk("episodes", known, lead, None))

    @_guarded
    def count(self, name: str, value: Any, agent: Union[str, int, None] = None) -> None:
        """A named count at this iteration, of one agent or of each: updates.policy, buffer.real, early_return.<where> ..."""
        self._counted.add(name)
        values = _array(value).reshape(-1)
        who = range(len(self.agents)) if agent is None else [self._agent_index(agent)]
        for place, index in enumerate(who):
            number = float(values[place if len(values) > 1 else 0])
            self._add("counters", {"iteration": max(0, self.iteration), "agent": index, "name": name, "value": number})

    @_guarded
    def scalar(self, name: str, value: Any, *, step: Optional[float] = None, policy: Any = None, agent: Any = None) -> None:
        """A named number of a module or a log."""
        row: Dict[str, Any] = {"name": name, "value": float(_number(value)), "iteration": max(0, self.iteration)}
        if step is not None:
            row["step"] = float(step)
        if policy is not None:
            row["policy"] = self._find_policy(policy, create=True)
        if agent is not None:
            row["agent"] = self._agent_index(agent)
        self._add("scalars", row)

    @_guarded
    def flush(self) -> None:
        """Writes what is held. Done by itself at the end of iterations, every few seconds, and when much has gathered."""
        self._end_steps()
        for watch in self._watches:
            watch.settle()
        for table in list(self._loose):
            rows = self._loose.pop(table)
            if rows:
                self._held.setdefault(table, []).append(_table_of(rows, table))
        for table in list(self._held):
            chunks = [chunk for chunk in self._held.pop(table) if chunk]
            if chunks:
                self._write(table, _joined(table, chunks))
        self._bytes = 0
        self._written = time.monotonic()

    def close(self) -> None:
        """Writes the rest and lets go of the optimisers. Safe to call twice; also done when the program ends."""
        if self.closed or os.getpid() != self._pid:
            return
        self._finish()
        self.closed = True
        self.stopped = True
        self._release()

    @_guarded
    def _finish(self) -> None:
        self._end_iteration()
        self.flush()
        self._write_manifest()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # - steps -

    def _at(self, own: _Policy, part: Any, epoch: Optional[int], minibatch: Optional[int], rows: Optional[np.ndarray]) -> _Step:
        """The step that a call belongs to: the present one, or the next where the present one has that part already."""
        now = own.step
        if epoch is None and minibatch is None:
            if part in now.parts:
                now = self._next_step(own, now.epoch, now.minibatch + 1)
            if rows is not None and len(rows):
                most = int(rows.max()) + 1
                if most > len(own.seen):
                    own.seen = np.concatenate([own.seen, np.zeros(max(most, self._rows) - len(own.seen), bool)])
                if own.seen[rows].any():
                    now.epoch, now.minibatch = now.epoch + 1, 0
                    own.seen[:] = False
                own.seen[rows] = True
        else:
            wanted_epoch = now.epoch if epoch is None else int(epoch)
            if minibatch is not None:
                wanted = int(minibatch)
            else:
                wanted = 0 if wanted_epoch != now.epoch else now.minibatch + (part in now.parts)
            if wanted_epoch != now.epoch or wanted != now.minibatch:
                now = self._next_step(own, wanted_epoch, wanted)
        now.parts += (part,)
        return now

    def _next_step(self, own: _Policy, epoch: int, minibatch: int) -> _Step:
        if not self.recording:
            # Nothing is gathered, and what was reported is a row already: only the place moves on.
            step = own.step
            step.epoch, step.minibatch, step.parts, step.report = epoch, minibatch, (), {}
            return step
        if own.step.parts:
            self._ended.append((own.index, own.step))
            if self._ended_rows > _RAW_ROWS:
                self._end_steps()
        own.step = _Step(epoch, minibatch)
        return own.step

    def _end_steps(self) -> None:
        ended, self._ended, self._ended_rows = self._ended, [], 0
        for policy, step in ended:
            place = {"iteration": self.iteration, "epoch": step.epoch, "minibatch": step.minibatch}
            for part in step.replays:
                chunk = part() if callable(part) else part
                chunk.update(place)
                self._hold("replays", chunk)
            if step.tensors:
                rates = {rate for rate in step.tensors["learning_rate"].tolist() if rate == rate}
                if len(rates) == 1:
                    step.report.setdefault("learning_rate", rates.pop())
                step.tensors.update(place)  # type: ignore[arg-type]
                self._hold("tensors", step.tensors)  # type: ignore[arg-type]
            if step.report:
                step.report.update(place, policy=policy)
                self._add("steps", step.report)

    @_guarded
    def _before_step(self, optimizer: Any) -> None:
        if self.iteration < 0:
            return
        if self._listener is not None:
            self._listener(optimizer)
        self._updated = True
        for watch in self._of(optimizer):
            own = self._policies[watch.policy]
            own.updates += 1
            if self.recording:
                self._at(own, id(optimizer), None, None, None)
                watch.start(optimizer, self._optimizers)

    @_guarded
    def _after_step(self, optimizer: Any) -> None:
        if not self.recording:
            return
        for watch in self._of(optimizer):
            own = self._policies[watch.policy]
            rows = watch.finish(optimizer)
            if rows is not None and own.step.tensors:
                watch.settle()
                rows = _added(own.step.tensors, rows)
            if rows is not None:
                own.step.tensors = rows
            self._look_again(own.step)

    def _of(self, optimizer: Any) -> List[_Watch]:
        return self._by_optimizer.get(id(optimizer), [])

    def _look_again(self, step: _Step) -> None:
        squares: List[np.ndarray] = []
        moved: List[np.ndarray] = []
        for chunk, again, logits in step.again:
            after, later = _twice(again)
            chunk["after_logp"] = after.reshape(-1)
            if "old_logp" in chunk:
                squares.append(0.5 * (chunk["after_logp"] - chunk["old_logp"]).astype(np.float64) ** 2)  # type: ignore[operator]
            if logits is not None and later is not None:
                finite = np.isfinite(logits) & np.isfinite(later)
                moved.append((later[finite] - logits[finite]).astype(np.float64) ** 2)
        if squares:
            step.report["kl_after"] = float(np.mean(np.concatenate(squares)))
        if moved:
            step.report["delta_logits"] = float(np.sqrt(np.mean(np.concatenate(moved))))

    # - rows -

    def _agent_index(self, agent: Union[str, int]) -> int:
        if isinstance(agent, str):
            if agent not in self.agents:
                raise ValueError(f"there is no agent {agent!r}; the recorder was told of {', '.join(self.agents)}")
            return self.agents.index(agent)
        return int(agent)

    def _agents_of(self, agent: Array, lead: Tuple[int, ...]) -> np.ndarray:
        if agent is None:
            if len(lead) == 3 and lead[2] == len(self.agents):
                return np.arange(lead[2])
            if len(self.agents) == 1:
                return np.zeros(1, np.int64)
            raise ValueError(f"say which agent: there are {len(self.agents)}, {', '.join(self.agents)}")
        if isinstance(agent, str):
            return np.array(self._agent_index(agent))
        array = _array(agent)
        if array.dtype.kind in "US":
            array = np.array([self._agent_index(str(item)) for item in array.reshape(-1)]).reshape(array.shape)
        if array.size and (array.min() < 0 or array.max() >= len(self.agents)):
            raise ValueError(f"agent {int(array.max())} is beyond the {len(self.agents)} agents that the recorder was told of")
        return array

    def _find_policy(self, policy: Union[str, int, None], create: bool) -> int:
        if policy is None and len(self._policies) == 1:
            return 0
        names = [known.name for known in self._policies]
        if isinstance(policy, (int, np.integer)) and not isinstance(policy, bool):
            if 0 <= int(policy) < len(names):
                return int(policy)
            raise ValueError(f"there is no policy {policy}; watch() has named {', '.join(names) or 'none'}")
        if policy is None:
            if len(names) > 1:
                raise ValueError(f"say which policy: there are {', '.join(names)}")
            policy = "policy"
        if policy in names:
            return names.index(policy)
        if not create:
            raise ValueError(f"there is no policy {policy!r}; there are {', '.join(names)}")
        self._policies.append(_Policy(str(policy), len(names)))
        self._write_manifest()
        return len(names)

    def _place(self, known: Dict[str, Array], lead: Tuple[int, ...]) -> None:
        """Fills in episode and t where the caller only says where episodes end."""
        if "episode" in known and "t" in known:
            return
        if "episode" in known or "t" in known:
            raise ValueError("give both episode and t, or neither")
        if "terminated" not in known and "truncated" not in known:
            raise ValueError("samples() needs terminated (and truncated), or episode and t, to tell episodes apart")
        rows = math.prod(lead)
        end = np.zeros(rows, bool)
        for name in ("terminated", "truncated"):
            if name in known:
                flags = _rows(known[name], lead, name, "old_logp")
                end |= flags if flags.dtype == bool else np.nan_to_num(flags).astype(bool)
        env = _rows(known.get("env", 0), lead, "env", "old_logp")
        agent = _rows(known["agent"], lead, "agent", "old_logp")
        paid = known.get("env_reward", known.get("reward"))
        reward = None if paid is None else _rows(paid, lead, "reward", "old_logp")
        episode, t, done = self._streams.number(env, agent, end, reward, self.recording)
        known["episode"], known["t"] = episode, t
        if reward is not None and not self._own_episodes:
            self._hold("episodes", {**done, "iteration": self.iteration})

    def _add(self, table: str, row: Dict[str, Any]) -> None:
        rows = self._loose.setdefault(table, [])
        if len(rows) >= _HELD_ROWS:
            self._held.setdefault(table, []).append(_table_of(rows, table))
            self._bytes += _bytes(self._held[table][-1])
            rows = self._loose[table] = []
            if self._bytes > _HELD_BYTES:
                self.flush()
                rows = self._loose.setdefault(table, [])
        rows.append(row)

    def _hold(self, table: str, chunk: Chunk) -> None:
        if _length(chunk) == 0:
            return
        self._held.setdefault(table, []).append(chunk)
        self._bytes += _bytes(chunk)
        if self._bytes > _HELD_BYTES:
            self.flush()

    def _end_iteration(self) -> None:
        if self.iteration < 0:
            return
        for own in self._policies:
            self._next_step(own, 0, 0)
        self._end_steps()
        for watch in {watch.policy: watch for watch in self._watches}.values():
            own = self._policies[watch.policy]
            if own.updates and "updates.policy" not in self._counted:
                each = max(1, len(watch.optimizers))
                for agent, name in enumerate(self.agents):
                    if self._policy_of(name) == watch.policy:
                        count = own.updates / each
                        self._add("counters", {"iteration": self.iteration, "agent": agent, "name": "updates.policy", "value": count})
            own.updates = 0
        if self.recording and time.monotonic() - self._written > _HELD_SECONDS:
            self.flush()

    def _policy_of(self, agent: str) -> Optional[int]:
        if agent in self._agent_policy:
            return self._agent_policy[agent]
        names = [policy.name for policy in self._policies]
        if agent in names:
            return names.index(agent)
        return 0 if len(names) == 1 else None

    # - files -

    def _prepare(self, overwrite: bool) -> None:
        if os.path.exists(os.path.join(self.path, "manifest.json")):
            if not overwrite:
                raise FileExistsError(f"{self.path} holds a recording already; name another folder, or pass overwrite=True")
            for table in [*TABLES, "policies"]:
                shutil.rmtree(os.path.join(self.path, table), ignore_errors=True)
        os.makedirs(self.path, exist_ok=True)

    def _write_manifest(self) -> None:
        agents = []
        for name in self.agents:
            policy = self._policy_of(name)
            agents.append({"name": name} if policy is None else {"name": name, "policy": policy})
        self._manifest["agents"] = agents
        self._manifest["policies"] = [{"name": policy.name} for policy in self._policies] or [{"name": "policy"}]
        text = json.dumps(_plain(self._manifest), indent=2, allow_nan=False)
        self._replace(os.path.join(self.path, "manifest.json"), lambda file: file.write(text.encode()))

    def _write(self, table: str, columns: Dict[str, np.ndarray]) -> None:
        folder = os.path.join(self.path, table)
        os.makedirs(folder, exist_ok=True)
        number = self._next.get(table, 0)
        self._next[table] = number + 1
        self._replace(os.path.join(folder, f"{number:06d}.npz"), lambda file: np.savez(file, **columns))  # type: ignore[arg-type]

    def _replace(self, path: str, write: Callable[[Any], Any]) -> None:
        """Under another name first, so that a killed run leaves no half-written file."""
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "wb") as file:
                write(file)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise

    def _export(self, chunk: Chunk) -> None:
        torch = sys.modules["torch"]
        for policy, actor in list(self._snapshots.items()):
            name = f"{self._policies[policy].name}-{self.iteration}.onnx"
            path = os.path.join(self.path, "policies", name)
            if os.path.exists(path):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            training = actor.training
            try:
                obs = chunk["obs"]
                if isinstance(obs, tuple):
                    raise ValueError("observations have different lengths")
                parameter = next(actor.parameters())
                example = torch.as_tensor(obs[:1], dtype=parameter.dtype, device=parameter.device)
                options: Dict[str, Any] = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
                actor.eval()
                with warnings.catch_warnings(), torch.no_grad():
                    warnings.simplefilter("ignore")
                    self._replace(path, lambda file: torch.onnx.export(
                        actor, example, file, input_names=["obs"], output_names=["logits"],
                        dynamic_axes={"obs": {0: "rows"}, "logits": {0: "rows"}}, **options,
                    ))
            except Exception as error:  # noqa: BLE001
                self._snapshots.pop(policy, None)
                _warn(f"no ONNX snapshots of {self._policies[policy].name}: {error}")
            finally:
                actor.train(training)

    # - trouble -

    def _fail(self, error: Exception) -> None:
        if self.strict:
            raise error
        self.stopped = True
        self._release()
        with contextlib.suppress(Exception):
            self._end_steps()
            for watch in self._watches:
                watch.settle()
            for table, chunks in self._held.items():
                if chunks:
                    self._write(table, _joined(table, chunks))
        self._held, self._loose = {}, {}
        _warn(
            f"the recording in {self.path} ends in iteration {max(0, self.iteration)}, training goes on: "
            f"{type(error).__name__}: {error}"
        )

    def _release(self) -> None:
        for undo in self._undo:
            with contextlib.suppress(Exception):
                undo()
        self._undo = []
        for watch in self._watches:
            watch.held = {}


def _close_at_exit(reference: "weakref.ReferenceType[Recorder]") -> None:
    recorder = reference()
    if recorder is not None and os.path.isdir(recorder.path):
        recorder.strict = False
        recorder.close()


def _warn(text: str) -> None:
    """Warns, even where the program has made every warning an error."""
    try:
        warnings.warn(text, RecorderWarning, stacklevel=4)
    except RecorderWarning:
        print(f"trueline_recorder: {text}", file=sys.stderr)


def _twice(again: Callable[[], Any]) -> Tuple[np.ndarray, Optional[np.ndarray]]:
    """A forward pass that leaves no trace: no gradient, and the random state put back."""
    torch = sys.modules.get("torch")
    if torch is None:
        result = again()
    else:
        with torch.no_grad(), torch.random.fork_rng():
            result = again()
    logp, logits = result if isinstance(result, tuple) else (result, None)
    return _array(logp), None if logits is None else _array(logits)


def _last_step(value: np.ndarray, lead: Tuple[int, ...]) -> np.ndarray:
    """A bootstrap with one entry per stream is that of the last step; the others are not known."""
    rest = math.prod(lead[1:])
    if value.size == math.prod(lead) or value.size not in (1, rest):
        return value
    out = np.full(lead, np.nan)
    out[-1] = value.reshape(lead[1:]) if value.size == rest else value.reshape(-1)[0]
    return out


def _plain(value: Any) -> Any:
    """What JSON can hold: numpy's and torch's numbers as numbers, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


# --- Stable-Baselines3 --------------------------------------------------------------------------------------------------------


def sb3_callback(path: Union[str, "os.PathLike[str]"], **options: Any) -> Any:
    """A callback for Stable-Baselines3's PPO and sb3-contrib's MaskablePPO: `model.learn(steps, callback=sb3_callback("runs/mine"))`.

    Rollouts are read from the rollout buffer, and minibatches from `train` itself while it runs: what is recorded is what entered the
    loss, also in a subclass with a `train` of its own. `options` are the Recorder's: first, every, name, seed, overwrite ...
    """
    from stable_baselines3.common.callbacks import BaseCallback

    class TruelineCallback(BaseCallback):
        def __init__(self) -> None:
            super().__init__(0)
            self.reader: Optional[_BaselinesReader] = None

        def _on_training_start(self) -> None:
            if self.reader is None:
                self.reader = _BaselinesReader(self.model, path, options)
            self.reader.attach()

        def _on_rollout_start(self) -> None:
            if self.reader is not None:
                self.reader.rollout_start()

        def _on_step(self) -> bool:
            if self.reader is not None:
                self.reader.environment_step(self.locals)
            return True

        def _on_rollout_end(self) -> None:
            if self.reader is not None:
                self.reader.rollout_end(self.locals)

        def _on_training_end(self) -> None:
            if self.reader is not None:
                self.reader.end()

    return TruelineCallback()


def _reader(method: Callable[..., Any]) -> Callable[..., Any]:
    """As `_guarded`, for what is called from outside the recorder."""

    @functools.wraps(method)
    def safe(self: "_BaselinesReader", *args: Any, **kwargs: Any) -> Any:
        if self.recorder.stopped:
            return None
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # noqa: BLE001
            self.recorder._fail(error)
            return None

    return safe


class _BaselinesReader:
    """Reads a model of Stable-Baselines3 while it learns. Rows are in the order in which its buffer hands them out: environment by environment."""

    def __init__(self, model: Any, path: Any, options: Mapping[str, Any]) -> None:
        self.model = model
        self.discrete = type(model.action_space).__name__ == "Discrete"
        rows = int(model.n_steps) * int(model.n_envs)
        normalised = getattr(model, "normalize_advantage", True)
        settings = {
            "clip": _now(model.clip_range, model), "epochs": model.n_epochs,
            "minibatches": -(-rows // int(model.batch_size)) if model.batch_size else 1,
            "entropy_coefficient": model.ent_coef, "value_coefficient": model.vf_coef, "max_grad_norm": model.max_grad_norm,
            "target_kl": model.target_kl, "advantage_normalisation": "minibatch" if normalised else "none",
            "value_clip": _now(getattr(model, "clip_range_vf", None), model),
        }
        own = {"algorithm": type(model).__name__.lower(), "seed": getattr(model, "seed", None), **options}
        own["settings"] = {**settings, **dict(options.get("settings") or {})}
        self.recorder = Recorder(path, gamma=model.gamma, lam=model.gae_lambda, **own)
        self.recorder.watch(policy="policy", tensors=lambda: _baselines_tensors(model.policy), optimizer=model.policy.optimizer)
        self.recorder._listener = self.optimizer_step
        self.undo: List[Callable[[], None]] = []
        self.evaluate: Callable[..., Any] = model.policy.evaluate_actions
        self.logits: Any = None
        self.rows: Any = None
        self.evaluated: Any = None
        self.norm: Any = None
        self.rollout: List[Dict[str, np.ndarray]] = []
        self.last_values: Any = None

    @_reader
    def attach(self) -> None:
        policy, buffer = self.model.policy, self.model.rollout_buffer
        self.evaluate, taken = policy.evaluate_actions, buffer._get_samples

        @functools.wraps(self.evaluate)
        def evaluate_actions(*args: Any, **kwargs: Any) -> Any:
            result = self.evaluate(*args, **kwargs)
            self.evaluated = (args, kwargs, result, self.logits)
            return result

        @functools.wraps(taken)
        def get_samples(batch_inds: Any, *args: Any, **kwargs: Any) -> Any:
            self.rows = np.array(batch_inds)
            return taken(batch_inds, *args, **kwargs)

        utils = sys.modules["torch"].nn.utils
        clip = utils.clip_grad_norm_

        @functools.wraps(clip)
        def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
            self.norm = clip(*args, **kwargs)
            return self.norm

        policy.evaluate_actions = evaluate_actions
        buffer._get_samples = get_samples
        utils.clip_grad_norm_ = clip_grad_norm
        self.undo = [
            lambda: delattr(policy, "evaluate_actions"), lambda: delattr(buffer, "_get_samples"),
            lambda: setattr(utils, "clip_grad_norm_", clip),
        ]
        if self.discrete:

            def keep(module: Any, inputs: Any, output: Any) -> None:
                self.logits = output

            self.undo.append(policy.action_net.register_forward_hook(keep).remove)

    @_reader
    def rollout_start(self) -> None:
        self._stopped()
        self.recorder.begin()
        self.rollout = []

    @_reader
    def environment_step(self, local: Mapping[str, Any]) -> None:
        done = np.array(local["dones"], bool)
        infos = local["infos"]
        late = np.array([bool(info.get("TimeLimit.truncated", False)) for info in infos]) & done
        step = {"reward": np.array(local["rewards"], np.float64), "terminated": done & ~late, "truncated": late}
        if self.recorder.recording:
            if self.discrete and self.logits is not None:
                step["logits"] = _array(self.logits)
            step["next_value"] = self._beyond(infos, late)
        self.rollout.append(step)
        self.last_values = local.get("values")
        for info in infos:
            if "episode" in info:
                self.recorder.episodes(return_=float(info["episode"]["r"]), length=int(info["episode"]["l"]))

    def _beyond(self, infos: Sequence[Mapping[str, Any]], late: np.ndarray) -> np.ndarray:
        """What the critic expects after a time limit, asked here: what the model made of it is what shall be checked."""
        follows = np.full(len(infos), np.nan)
        for place in np.flatnonzero(late).tolist():
            final = infos[place].get("terminal_observation")
            if final is not None:
                with sys.modules["torch"].no_grad():
                    follows[place] = float(self.model.policy.predict_values(self.model.policy.obs_to_tensor(final)[0]))
        return follows

    @_reader
    def rollout_end(self, local: Mapping[str, Any]) -> None:
        buffer, model = self.model.rollout_buffer, self.model
        taken = {name: np.stack([step[name] for step in self.rollout]) for name in self.rollout[0]}
        self.rollout = []

        def rows(array: np.ndarray) -> np.ndarray:
            """The buffer's own flattening: all steps of the first environment, then of the next."""
            return np.swapaxes(array, 0, 1).reshape((-1,) + array.shape[2:])

        steps, envs = buffer.log_probs.shape[:2]
        columns: Dict[str, Any] = {
            "old_logp": rows(buffer.log_probs), "env": np.repeat(np.arange(envs), steps),
            "reward": rows(taken["reward"]), "terminated": rows(taken["terminated"]), "truncated": rows(taken["truncated"]),
        }
        if self.recorder.recording:
            follows, late = taken["next_value"], taken["truncated"]
            final = local.get("values")
            if final is not None and final is not self.last_values:
                follows[-1] = np.where(late[-1], follows[-1], _array(final).reshape(-1))
            columns.update(
                value=rows(buffer.values), advantage=rows(buffer.advantages), return_=rows(buffer.returns), next_value=rows(follows)
            )
            if self.discrete:
                count = int(model.action_space.n)
                columns.update(action=rows(buffer.actions), num_actions=count)
                if "logits" in taken:
                    columns["logits"] = rows(taken["logits"])
                masks = getattr(buffer, "action_masks", None)
                if masks is not None:
                    columns["legal"] = rows(np.asarray(masks)).reshape(steps * envs, count) > 0.5
            # Only numbers are seen as they are: a state's number becomes one of many inputs, and pictures are scaled.
            kind = getattr(getattr(model, "observation_space", None), "dtype", np.dtype(np.float32)).kind
            if kind == "f" and isinstance(buffer.observations, np.ndarray) and buffer.observations[0, 0].size <= 1024:
                columns["obs"] = rows(buffer.observations).reshape(steps * envs, -1).astype(np.float32)
        self.recorder.samples(iteration=self.recorder.iteration, **columns)

    @_reader
    def end(self) -> None:
        self._stopped()
        for undo in self.undo:
            undo()
        self.undo = []
        self.recorder._end_iteration()
        self.recorder.flush()
        self.recorder._write_manifest()

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step: `train` is on the stack, with all that entered the loss."""
        local = _frame_of(self.model)
        if local is None or self.evaluated is None:
            return
        self._minibatch(local)
        report: Dict[str, Any] = {name: local.get(name) for name in ("loss", "policy_loss", "value_loss", "clip_fraction")}
        report["approx_kl"] = local.get("approx_kl_div")
        report["grad_norm"] = self.norm
        if local.get("entropy_loss") is not None:
            report["entropy"] = -local["entropy_loss"]
        self.recorder.step(policy="policy", stopped=False, **report)
        self.evaluated = None

    def _minibatch(self, local: Mapping[str, Any]) -> None:
        args, kwargs, (values, log_prob, entropy), logits = self.evaluated
        data = local.get("rollout_data")
        masks = kwargs.get("action_masks")
        columns = {
            "new_logp": local.get("log_prob", log_prob), "value": values, "entropy": entropy,
            "advantage": local.get("advantages"), "old_logp": getattr(data, "old_log_prob", None),
            "return_": getattr(data, "returns", None),
        }
        if not self.recorder.recording:
            columns = {"new_logp": 0.0}
        elif self.discrete and logits is not None:
            columns["logits"] = logits
            if masks is not None:
                columns["legal"] = _array(masks).reshape(tuple(logits.shape)) > 0.5
        again = None
        if self.recorder.recording and not _keeps_statistics(self.model.policy):

            def again() -> Any:
                kept, found = self.logits, self.evaluate(*args, **kwargs)[1]
                fresh, self.logits = self.logits, kept
                return (found, fresh) if self.discrete else found

        self.recorder.replays(policy="policy", epoch=local.get("epoch"), minibatch=None, sample=self.rows, again=again, **columns)

    def _stopped(self) -> None:
        """A minibatch that was looked at and not used is where the KL limit ended the update: at the step before it."""
        own = self.recorder._policies[0]
        if self.evaluated is not None and own.step.report:
            own.step.report["stopped"] = True
        self.evaluated = None


def _now(schedule: Any, model: Any) -> Any:
    return schedule(getattr(model, "_current_progress_remaining", 1.0)) if callable(schedule) else schedule


def _frame_of(model: Any) -> Optional[Mapping[str, Any]]:
    """The local variables of the model's `train`, which is running now."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "train" and frame.f_locals.get("self") is model:
            return frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _keeps_statistics(policy: Any) -> bool:
    """Whether a second forward pass would leave a trace, as batch normalisation does."""
    return any(hasattr(module, "running_mean") and module.training for module in policy.modules())


def _baselines_tensors(policy: Any) -> List[_Tensor]:
    shared = "shared" if getattr(policy, "share_features_extractor", True) else "trunk"
    roles = {
        "action_net": "head", "value_net": "critic", "mlp_extractor.value_net": "critic", "vf_features_extractor": "critic",
        "mlp_extractor.policy_net": "trunk", "pi_features_extractor": "trunk", "mlp_extractor.shared_net": "shared",
        "features_extractor": shared,
    }
    found = []
    for name, parameter in policy.named_parameters():
        role = next((role for start, role in roles.items() if name.startswith(f"{start}.")), "other")
        found.append(_Tensor(name, role, parameter))
    return found
