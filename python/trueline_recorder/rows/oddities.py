"""Shapes and rows that a training program seldom means: looked at as they come in, before they are flattened and nobody can see them any more."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Tuple

import numpy as np

#: Columns that a program computes row by row; one number for all rows is a mean, or a mistake.
MEASURED = ("old_logp", "new_logp", "advantage", "return", "value", "entropy", "reward")

Oddity = Tuple[str, str]  # its kind, and the sentence


def odd_shapes(columns: Mapping[str, Any], main: str, lead: Tuple[int, ...]) -> Iterator[Oddity]:
    """(B, 1) beside (B), and one number where there should be one per row."""
    for name in MEASURED:
        shape = getattr(columns.get(name), "shape", None)
        if shape is None or name == main:
            continue
        shape = tuple(shape)
        if len(lead) and (shape == (*lead, 1) or (*shape, 1) == lead) and shape != lead:
            yield (
                f"axis {name}",
                f"{name} has the shape {shape} where {main} has {lead}: computed with each other, every row meets every other "
                f"row. If your loss does so, drop the axis of 1 there; the recording takes both row by row",
            )
        elif len(lead) and int(np.prod(lead)) > 1 and int(np.prod(shape)) == 1:
            yield (
                f"single {name}",
                f"{name} is one number for {int(np.prod(lead))} rows; hand it over row by row, before its mean is taken",
            )


def odd_axes(lead: Tuple[int, ...], main: str, agents: Optional[int], flat: bool) -> Iterator[Oddity]:
    """A last axis of 1 that nobody asked for, and an axis of agents that nobody named."""
    if len(lead) > 1 and lead[-1] == 1 and np.prod(lead) > 1 and (flat or (len(lead) == 3 and agents is None)):
        yield (
            "last axis",
            f"{main} has the shape {lead}, with a last axis of 1: beside columns without it every row would meet every other row; "
            f"it is taken as {lead[:-1]}",
        )
    elif not flat and len(lead) == 3 and lead[2] > 1 and (agents or 1) == 1:
        yield (
            "several agents",
            f"{main} has the shape {lead}, and the recorder was told of one agent: the {lead[2]} entries of the last axis are taken as "
            f"separate environments. If they are agents, name them: Recorder(..., agents=[...])",
        )


def odd_rows(rows: np.ndarray, new: np.ndarray, old: Any) -> Iterator[Oddity]:
    """The same row again and again in one minibatch."""
    if len(rows) < 2:
        return
    counts = np.bincount(rows)
    most = int(counts.max())
    if most > 1:
        yield (
            "repeated row",
            f"sample {int(counts.argmax())} comes {most} times in one minibatch of {len(rows)} rows; "
            f"an index that is drawn without replacement has each once",
        )
    if (
        old is not None
        and getattr(old, "shape", None)
        and new.size == len(rows)
        and new.reshape(-1)[0] == new.reshape(-1)[-1]
    ):
        before = np.asarray(old.detach().cpu() if hasattr(old, "detach") else old)
        if before.size > 1 and np.ptp(new) == 0 and np.ptp(before) > 1e-6:
            yield (
                "equal rows",
                f"new_logp is {new.reshape(-1)[0]:.6g} in all {len(rows)} rows of a minibatch, and old_logp is not: "
                f"the same row may be repeated through the forward pass",
            )
