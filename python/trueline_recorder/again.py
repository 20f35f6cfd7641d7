"""The same rows scored once more, before and after a step: what shows dropout, and what one update did. It leaves no gradient and no drawn number behind."""

from __future__ import annotations

import sys
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from .arrays import to_numpy
from .progress import Step

#: Minibatches of an iteration that `again` is called for: of the first ones, and of those that are kept later.
TWICE = (4, 2)


def look_again(again: Callable[[], Any]) -> Tuple[Optional[np.ndarray], Optional[np.ndarray]]:
    """A forward pass that leaves no trace: no gradient, and the random state put back. None where the program itself refuses, as torch does once scores are
    no numbers: that is what is to be recorded."""
    torch = sys.modules.get("torch")
    try:
        if torch is None:
            result = again()
        else:
            with torch.no_grad(), torch.random.fork_rng():
                result = again()
    except ValueError:
        return None, None
    logp, logits = result if isinstance(result, tuple) else (result, None)
    return to_numpy(logp), None if logits is None else to_numpy(logits)


def look_after(step: Step) -> None:
    """What the step has changed: after_logp of its rows, and how far log-probabilities and logits have moved."""
    squares: List[np.ndarray] = []
    moved: List[np.ndarray] = []
    for chunk, again, logits in step.again:
        after, later = look_again(again)
        if after is None:
            continue
        chunk["after_logp"] = after.reshape(-1)
        if "old_logp" in chunk:
            squares.append(0.5 * (chunk["after_logp"] - chunk["old_logp"]).astype(np.float64) ** 2)  # type: ignore[operator, union-attr]
        if logits is not None and later is not None:
            finite = np.isfinite(logits) & np.isfinite(later)
            moved.append((later[finite] - logits[finite]).astype(np.float64) ** 2)
    if squares:
        step.report["kl_after"] = float(np.mean(np.concatenate(squares)))
    if moved:
        step.report["delta_logits"] = float(np.sqrt(np.mean(np.concatenate(moved))))
