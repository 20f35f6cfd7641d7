"""A policy's parameter tensors: their names and roles, and what an optimiser step did to them. Nothing here changes a parameter."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from .arrays import on_cpu

#: Entries of a policy's tensors that are copied before they are measured; at least those of one step.
COPIED_ENTRIES = 1 << 20


class Tensor(NamedTuple):
    name: str
    role: str
    parameter: Any


Supply = Callable[[], List[Tensor]]


def named(part: Any, prefix: str) -> List[Tuple[str, Any]]:
    """Names and parameters of a module, of several, or of a list of parameters."""
    if part is None:
        return []
    if hasattr(part, "named_parameters"):
        return [(f"{prefix}.{name}", parameter) for name, parameter in part.named_parameters()]
    if hasattr(part, "detach"):
        return [(prefix, part)]
    if isinstance(part, Mapping):
        return [pair for key, item in part.items() for pair in named(item, f"{prefix}.{key}")]
    return [pair for place, item in enumerate(part) for pair in named(item, f"{prefix}.{place}")]


def layers(part: Any, prefix: str = "") -> List[Tuple[str, Any]]:
    """Names and submodules of a module, or of several, as `named` calls their parameters."""
    below = f"{prefix}." if prefix else ""
    if hasattr(part, "named_modules"):
        return [(below + name if name else prefix, module) for name, module in part.named_modules()]
    items = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, (list, tuple)) else ()
    return [pair for key, item in items for pair in layers(item, f"{below}{key}")]


def last_layer(actor: Any) -> Optional[str]:
    """The name of the last submodule that holds a matrix: what most actors end with."""
    last = None
    for name, module in layers(actor):
        if name and any(parameter.dim() > 1 for parameter in module.parameters(recurse=False)):
            last = name
    return last


def roles_of(actor: Any, critic: Any, shared: Any, head: Any) -> List[Tensor]:
    if isinstance(head, str) or head is None:
        wanted = head if head is not None else last_layer(actor)
        prefix = f"actor.{wanted}."
        tops = {id(p) for name, p in named(actor, "actor") if wanted is not None and (name + ".").startswith(prefix)}
        if head is not None and not tops:
            names = sorted({name.split(".", 1)[1].rsplit(".", 1)[0] for name, _ in named(actor, "actor")})
            raise ValueError(f"head={head!r} names no layer of the actor; it has {', '.join(names)}")
        loose: List[Tuple[str, Any]] = []
    else:
        loose = named(head, "head")
        tops = {id(parameter) for _, parameter in loose}
    actors = named(actor, "actor")
    critics = named(critic, "critic")
    both = {id(p) for _, p in actors} & {id(p) for _, p in critics} | {id(p) for _, p in named(shared, "shared")}
    found: List[Tensor] = []
    seen: Set[int] = set()
    for source, role in ((actors, "trunk"), (named(shared, "shared"), "shared"), (loose, "head"), (critics, "critic")):
        for name, parameter in source:
            if id(parameter) in seen or parameter.numel() == 0:
                continue
            seen.add(id(parameter))
            found.append(
                Tensor(
                    name, "head" if id(parameter) in tops else "shared" if id(parameter) in both else role, parameter
                )
            )
    return found


class Held:
    """The tensors that one optimiser moves, in one order. What they were before and after steps is copied, and measured for
    several steps at once: many small calls between a program's own cost it more than their time."""

    def __init__(
        self,
        parameters: List[Any],
        places: np.ndarray,
        bound: Sequence[int],
        groups: Sequence[Optional[Mapping[str, Any]]],
    ) -> None:
        self.parameters = parameters
        self.places = places
        self.bound = np.array(bound, np.int32)
        self.groups = {id(group): group for group in groups}
        self.group_of = np.array([list(self.groups).index(id(group)) for group in groups])
        sizes = [parameter.numel() for parameter in parameters]
        self.starts, self.size = np.cumsum([0, *sizes[:-1]]), sum(sizes)
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
        self.pointers, self.plain, self.views, self.copies = pointers, is_plain(self.parameters), None, None
        if self.plain and all(parameter.is_contiguous() for parameter in self.parameters):
            self.views = self._lines()

    def start(self) -> None:
        """Parameters and gradients before a step: the optimiser may change either."""
        pointers = [parameter.data_ptr() for parameter in self.parameters]
        if pointers != self.pointers:
            self._find(pointers)
        if not self.plain:
            self.begun = [
                (parameter.detach().clone(), dense(parameter).detach().clone()) for parameter in self.parameters
            ]
            return
        torch = sys.modules["torch"]
        if self.copies is None:
            wide = np.float64 if any(parameter.dtype == torch.float64 for parameter in self.parameters) else np.float32
            steps = max(1, min(64, COPIED_ENTRIES // (3 * self.size)))
            self.copies = np.empty((3, steps, self.size), wide)
        gradients = [parameter.grad for parameter in self.parameters]
        if any(gradient is None or gradient.is_sparse for gradient in gradients):
            gradients = [dense(parameter) for parameter in self.parameters]
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
            rows.update(zip(FIGURES, measure(begun, self.parameters)))
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
            figures = [
                lengths[0],
                total(gradient != 0, np.int32),
                total(np.abs(change, out=change)),
                lengths[1],
                lengths[2],
            ]
        for at, rows in enumerate(self.waiting):
            rows.update((name, figure[at]) for name, figure in zip(FIGURES, figures))
        self.waiting = []
        if self.copies.shape[1] == 1:
            self.copies = None


#: Gradient norm, entries of the gradient that are not 0, sum and length of the change, and norm before the step; by tensor.
FIGURES = ("grad_norm", "grad_nonzero", "delta", "delta_norm", "norm")


def is_plain(parameters: Sequence[Any]) -> bool:
    torch = sys.modules["torch"]
    return all(on_cpu(p) and p.dtype in (torch.float32, torch.float64) for p in parameters)


def dense(parameter: Any) -> Any:
    gradient = parameter.grad
    if gradient is None:
        return parameter.detach().new_zeros(parameter.shape)
    return gradient.to_dense() if gradient.is_sparse else gradient


def measure(before: Sequence[Tuple[Any, Any]], parameters: Sequence[Any]) -> Sequence[np.ndarray]:
    """The figures of tensors on a device, or of half precision: computed there, and fetched once."""
    torch = sys.modules["torch"]
    figures = []
    for (old, gradient), parameter in zip(before, parameters):
        change = (parameter.detach() - old).float()
        figures.append(
            torch.stack(
                [
                    gradient.float().norm(),
                    (gradient != 0).sum().float(),
                    change.abs().sum(),
                    change.norm(),
                    old.float().norm(),
                ]
            )
        )
    table = torch.stack(figures).cpu().numpy().astype(np.float64).T
    return [table[0], np.rint(table[1]).astype(np.int32), *table[2:]]


class Watch:
    """One policy's tensors and the optimisers that should hold them. Measures around a step; copies are kept of `COPIED_ENTRIES`, or of one step."""

    def __init__(self, policy: int, supply: Supply, optimizers: List[Any], first: int) -> None:
        self.policy = policy
        self.supply = supply
        self.optimizers = optimizers
        self.first = first
        self.names: List[str] = []
        self.tensors: List[Tensor] = []
        self.sizes: List[int] = []
        self.held: Dict[int, Held] = {}  # by the id of the optimiser
        self.shape: Tuple[int, ...] = ()
        self.origins: List[Any] = []  # what each tensor was in the beginning

    def refresh(self, everyone: Sequence[Any]) -> None:
        """Looks again which parameters there are and who holds them: layers are replaced, groups are added."""
        found = {tensor.name: tensor for tensor in self.supply()}
        if not self.names:
            self.names = list(found)
            self.sizes = [tensor.parameter.numel() for tensor in found.values()]
        self.tensors = [found[name] for name in self.names if name in found]
        if len(self.tensors) != len(self.names) or any(
            t.parameter.numel() != n for t, n in zip(self.tensors, self.sizes)
        ):
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
            mine = [
                any(at == place for at, _ in groups) or (not groups and optimizer is self.optimizers[0])
                for groups in held
            ]
            chosen = np.flatnonzero(mine)
            if len(chosen):
                self.held[id(optimizer)] = Held(
                    [self.tensors[i].parameter for i in chosen],
                    (chosen + self.first).astype(np.int32),
                    [len(held[i]) for i in chosen],
                    [held[i][0][1] if held[i] else None for i in chosen],
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


def added(known: Dict[str, np.ndarray], more: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Tensors of another optimiser's step; where both hold a tensor its changes add up."""
    at = {tensor: place for place, tensor in enumerate(known["tensor"].tolist())}
    both = np.array([tensor in at for tensor in more["tensor"].tolist()], bool)
    places = [at[tensor] for tensor in more["tensor"][both].tolist()]
    for name in ("delta", "delta_norm"):
        known[name][places] += more[name][both]
    return {name: np.concatenate([values, more[name][~both]]) for name, values in known.items()}
