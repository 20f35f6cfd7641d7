"""Logits that a program does not hand over: the output of the actor's last layer, caught by a hook. They are used only where they give the
recorded log-probabilities, because a layer that merely looks like the last one would accuse a healthy program."""

from __future__ import annotations

import sys
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from .arrays import to_numpy
from .tensors import layers

#: Bytes of outputs that are kept while nobody asks for them.
KEPT_BYTES = 64 << 20
#: How often the last layer may be called for each step of a rollout.
CALLS_A_STEP = 3
#: The share of rows whose log-probability the caught logits must give, and how closely.
AGREEING = 0.9
CLOSE = 1e-3


def find_head(actor: Any, head: Any, last_layer: Optional[str]) -> Any:
    """The actor's last layer as a module, or None."""
    if head is not None and not isinstance(head, str):
        return head if hasattr(head, "register_forward_hook") else None
    name = head if head is not None else last_layer
    return dict(layers(actor)).get(name) if name is not None else None


class Caught:
    """The hook. A copy of it, as `deepcopy` and `torch.save` of a module make, catches nothing."""

    def __init__(self) -> None:
        self.on = False
        self.bytes = 0
        self.calls: List[Any] = []

    def __call__(self, module: Any, inputs: Any, output: Any) -> None:
        if self.on and hasattr(output, "detach") and output.dim() > 1:
            # Cloned, because programs mask logits in place.
            self.calls.append(output.detach().clone())
            self.bytes += output.numel() * 4
            while self.bytes > KEPT_BYTES and len(self.calls) > 1:
                self.bytes -= self.calls.pop(0).numel() * 4

    def __reduce__(self) -> Tuple[Any, ...]:
        return (Caught, ())

    def take(self) -> List[Any]:
        calls, self.calls, self.bytes = self.calls, [], 0
        return calls


class LogitsTap:
    """What one policy's last layer gave since rows were last recorded."""

    def __init__(self, head: Any) -> None:
        self.caught = Caught()
        self.remove: Callable[[], None] = head.register_forward_hook(self.caught).remove
        self.trusted: Optional[bool] = None  # whether it gave the log-probabilities of a rollout, or of a minibatch
        self.choices: Optional[Tuple[np.ndarray, Optional[np.ndarray]]] = None

    def minibatch(self, rows: np.ndarray, logp: np.ndarray) -> Any:
        """The logits of the forward pass that is being recorded, or None."""
        fitting = [call for call in self.caught.take() if call.numel() // call.shape[-1] == len(rows)]
        if not fitting:
            return None
        found = fitting[-1].reshape(len(rows), -1)
        if not self.trusted and not self._gives(to_numpy(found), rows, logp):
            return None
        self.trusted = True
        return found

    def _gives(self, logits: np.ndarray, rows: np.ndarray, logp: np.ndarray) -> bool:
        """A layer that does not give what was stored while sampling may give what the update computes: then what was stored is what is odd."""
        if self.choices is None or rows.max(initial=-1) >= len(self.choices[0]):
            return False
        action, legal = self.choices
        chosen = action[rows]
        if logits.shape[1] < 2 or chosen.max(initial=0) >= logits.shape[1] or logp.size != len(rows):
            return False
        mask = None if legal is None else legal[rows]
        return any(
            agreement(logits, logp.reshape(-1), chosen, each) >= AGREEING
            for each in ([None] if mask is None else [mask, None])
        )

    def rollout(
        self, logp: np.ndarray, action: np.ndarray, legal: Optional[np.ndarray], agents: int
    ) -> Optional[np.ndarray]:
        """The logits of a rollout's rows, in their order, or None where no order of the calls gives the recorded log-probabilities."""
        calls = self.caught.take()
        # Acting may also score what follows each step, or the last one: then every second or third call is the one that drew.
        best: Optional[np.ndarray] = None
        nearest = np.inf
        for period in range(1, CALLS_A_STEP + 1):
            for skipped in range(period + 1):
                taken = calls[: len(calls) - skipped][::-1][::period]
                found = orders_of(taken[::-1], len(logp), action, agents)
                for logits in found:
                    if agreement(logits, logp, action, legal) >= AGREEING:
                        # A policy that has hardly begun scores all alike: the calls that drew give the very numbers.
                        off = float(np.median(distances(logits, logp, action, legal)))
                        if off < nearest:
                            best, nearest = logits, off
        if best is not None:
            self.trusted = True
        return best


def orders_of(calls: List[Any], rows: int, action: np.ndarray, agents: int) -> List[np.ndarray]:
    """What the last of these calls gave for so many rows, in every order that the rows may lie in."""
    chosen: List[Any] = []
    for call in reversed(calls):
        if call.shape[-1] != calls[-1].shape[-1] or rows <= 0:
            break
        chosen.append(call.reshape(-1, call.shape[-1]))
        rows -= len(chosen[-1])
    if rows != 0 or not chosen:
        return []
    torch = sys.modules["torch"]
    flat = to_numpy(torch.cat(chosen[::-1]))
    steps, each, size = len(chosen), len(chosen[0]), flat.shape[1]
    if size < 2 or action.max(initial=0) >= size:
        return []
    orders = [flat]
    if all(len(part) == each for part in chosen):
        orders.append(flat.reshape(steps, each, size).swapaxes(0, 1).reshape(-1, size))
        if agents > 1 and steps % agents == 0:
            orders.append(flat.reshape(-1, agents, each, size).swapaxes(1, 2).reshape(-1, size))
        if agents > 1 and each % agents == 0:
            orders.append(flat.reshape(steps, agents, -1, size).swapaxes(1, 2).reshape(-1, size))
    return orders


def agreement(logits: np.ndarray, logp: np.ndarray, action: np.ndarray, legal: Optional[np.ndarray]) -> float:
    """The share of rows whose log-probability follows from these logits."""
    return float(np.mean(distances(logits, logp, action, legal) < CLOSE))


def distances(logits: np.ndarray, logp: np.ndarray, action: np.ndarray, legal: Optional[np.ndarray]) -> np.ndarray:
    """How far each row's log-probability is from what these logits give."""
    scores = logits.astype(np.float64)
    if legal is not None and legal.shape == scores.shape:
        scores = np.where(legal, scores, -np.inf)
    with np.errstate(all="ignore"):
        scores = scores - scores.max(1, keepdims=True)
        scores = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        return np.asarray(np.abs(scores[np.arange(len(action)), action] - logp))
