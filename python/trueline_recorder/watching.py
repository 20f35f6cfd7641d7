"""What the recorder has hung onto the program's own objects: hooks around optimiser steps and on actors' last layers. All of it can be taken off again."""

from __future__ import annotations

import contextlib
import functools
import math
import types
from typing import Any, Callable, Dict, List, Set

import numpy as np

from .logits import LogitsTap, find_head
from .rows.oddities import Oddity
from .tensors import Supply, Watch, last_layer
from .unmoved import never_stepped, origin_of

Hook = Callable[[Any], None]


class Watching:
    """Optimisers, watched tensors and taps on last layers. `before` and `after` are called around every step with the optimiser."""

    def __init__(self, before: Hook, after: Hook) -> None:
        self.before, self.after = before, after
        self.watches: List[Watch] = []
        self.optimizers: List[Any] = []
        self.taps: Dict[int, LogitsTap] = {}  # by policy
        self.snapshots: Dict[int, Any] = {}  # by policy: actors to be kept as ONNX
        self.stepped: Set[int] = set()  # ids of optimisers
        self._by_optimizer: Dict[int, List[Watch]] = {}  # by id; the watch keeps the optimiser
        self._undo: List[Callable[[], None]] = []

    def add(self, policy: int, supply: Supply, optimizers: List[Any], first: int) -> Watch:
        watch = Watch(policy, supply, optimizers, first)
        for item in optimizers:
            if not any(item is other for other in self.optimizers):
                self.optimizers.append(item)
                self._hook(item)
        watch.refresh(self.optimizers)
        if not watch.tensors:
            raise ValueError("watch() found no parameter; name the actor and the critic")
        watch.origins = [origin_of(tensor.parameter) for tensor in watch.tensors]
        self.watches.append(watch)
        for item in optimizers:
            self._by_optimizer.setdefault(id(item), []).append(watch)
        return watch

    def of(self, optimizer: Any) -> List[Watch]:
        return self._by_optimizer.get(id(optimizer), [])

    def tap(self, policy: int, actor: Any, head: Any) -> None:
        """Listens to the actor's last layer, where there is one that takes hooks."""
        layer = find_head(actor, head, None if head is not None else last_layer(actor))
        if layer is not None and policy not in self.taps:
            with contextlib.suppress(Exception):  # a scripted module takes none
                self.taps[policy] = LogitsTap(layer)

    def untap(self, policy: int) -> None:
        tap = self.taps.pop(policy, None)
        if tap is not None:
            tap.remove()

    def add_logits(self, policy: int, known: Dict[str, Any], rows: np.ndarray) -> None:
        """A minibatch's logits, where the program leaves them out; once it hands them over nobody listens any more."""
        tap = self.taps.get(policy)
        if tap is None:
            return
        if "logits" in known:
            self.untap(policy)
            return
        caught = tap.minibatch(rows, known["new_logp"])
        if caught is not None:
            known["logits"] = caught

    def listen(self, on: bool) -> None:
        for tap in self.taps.values():
            tap.caught.on = on

    def refresh(self) -> None:
        for watch in self.watches:
            watch.refresh(self.optimizers)

    def never_stepped(self, told: List[Dict[str, Any]]) -> List[Oddity]:
        """What to say of optimisers that never stepped, when all is over; the manifest's tensors are marked."""
        return list(never_stepped(self.watches, self.optimizers, self.stepped, told))

    def settle(self) -> None:
        for watch in self.watches:
            watch.settle()

    def release(self) -> None:
        for undo in [*self._undo, *(tap.remove for tap in self.taps.values())]:
            with contextlib.suppress(Exception):
                undo()
        self._undo, self.taps = [], {}
        for watch in self.watches:
            watch.held = {}

    def _start(self, optimizer: Any) -> None:
        self.stepped.add(id(optimizer))
        self.before(optimizer)

    def _hook(self, optimizer: Any) -> None:
        """Around every step: torch's own hooks where there are any, else the method wrapped on this one object."""
        if hasattr(optimizer, "register_step_pre_hook") and hasattr(optimizer, "register_step_post_hook"):
            before = optimizer.register_step_pre_hook(lambda which, args, kwargs: self._start(which))
            after = optimizer.register_step_post_hook(lambda which, args, kwargs: self.after(which))
            self._undo += [before.remove, after.remove]
            return
        original = optimizer.step

        @functools.wraps(original)
        def step(which: Any, *args: Any, **kwargs: Any) -> Any:
            self._start(which)
            result = original(*args, **kwargs)
            self.after(which)
            return result

        # A bound method, because learning-rate schedules take it apart.
        optimizer.step = types.MethodType(step, optimizer)

        def undo() -> None:
            if getattr(optimizer.step, "__func__", None) is step:
                del optimizer.step

        self._undo.append(undo)


def describe_optimizer(optimizer: Any) -> Dict[str, Any]:
    """Learning rate and optimiser as the manifest's settings have them."""
    group = optimizer.param_groups[0]
    kind = type(optimizer).__name__.lower()
    about: Dict[str, Any] = {"name": kind, "decoupled_decay": kind == "adamw"}
    if "betas" in group:
        about["betas"] = [float(beta) for beta in group["betas"]]
    # How far a step can go depends on these; the doctor knows no bound without them.
    for name in ("eps", "momentum", "alpha", "nesterov", "centered", "weight_decay"):
        if isinstance(group.get(name), (bool, int, float)):
            about[name] = group[name]
    return {"learning_rate": float(group.get("lr", math.nan)), "optimizer": about}


def as_optimizers(optimizer: Any) -> List[Any]:
    optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    if any(not hasattr(item, "param_groups") for item in optimizers):
        raise ValueError("watch() needs optimizer=: a torch optimiser, or a list of them")
    return optimizers
