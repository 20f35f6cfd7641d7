"""Rows of a rollout on their way into the table `samples`: episodes and steps are counted from the ends, a bootstrap goes to the last step."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from ..arrays import Array, per_row, to_numpy
from ..chunks import Chunk
from ..logits import LogitsTap
from .episodes import Streams

#: What tells where episodes end; all that is looked at in iterations that are not kept.
PLACING = ("old_logp", "agent", "env", "episode", "t", "terminated", "truncated", "reward", "env_reward")


def last_step(value: np.ndarray, lead: Tuple[int, ...]) -> np.ndarray:
    """A bootstrap with one entry per stream is that of the last step; the others are not known."""
    rest = math.prod(lead[1:])
    if value.size == math.prod(lead) or value.size not in (1, rest):
        return value
    out = np.full(lead, np.nan)
    out[-1] = value.reshape(lead[1:]) if value.size == rest else value.reshape(-1)[0]
    return out


def place_rows(known: Dict[str, Array], lead: Tuple[int, ...], streams: Streams, rows_too: bool) -> Optional[Chunk]:
    """Fills in episode and t where the caller only says where episodes end. Returns the episodes that have ended, where rewards are known."""
    if "episode" in known and "t" in known:
        return None
    if "episode" in known or "t" in known:
        raise ValueError("give both episode and t, or neither")
    if "terminated" not in known and "truncated" not in known:
        raise ValueError("samples() needs terminated (and truncated), or episode and t, to tell episodes apart")
    end = np.zeros(math.prod(lead), bool)
    for name in ("terminated", "truncated"):
        if name in known:
            flags = per_row(known[name], lead, name, "old_logp")
            end |= flags if flags.dtype == bool else np.nan_to_num(flags).astype(bool)
    env = per_row(known.get("env", 0), lead, "env", "old_logp")
    agent = per_row(known["agent"], lead, "agent", "old_logp")
    paid = known.get("env_reward", known.get("reward"))
    reward = None if paid is None else per_row(paid, lead, "reward", "old_logp")
    known["episode"], known["t"], done = streams.number(env, agent, end, reward, rows_too)
    return None if reward is None else done


def caught_logits(
    taps: Mapping[int, LogitsTap], known: Mapping[str, Array], lead: Tuple[int, ...], policies: Sequence[Optional[int]]
) -> Optional[np.ndarray]:
    """The logits of these rows as the actors' last layers gave them; `policies` has the policy of each agent. None where they do not tell."""
    action = to_numpy(known["action"]) if "action" in known else None
    if action is None or action.size != math.prod(lead) or np.any(action != np.floor(action)) or np.any(action < 0):
        return None
    chosen = action.reshape(-1).astype(np.int64)
    logp = per_row(known["old_logp"], lead, "old_logp", "old_logp").astype(np.float64)
    agent = per_row(known["agent"], lead, "agent", "old_logp")
    owner = np.array([-1 if policy is None else policy for policy in policies])[agent]
    legal: Any = to_numpy(known["legal"]) if "legal" in known else None
    if legal is not None:
        legal = legal.reshape(len(chosen), -1) > 0.5 if legal.size % max(1, len(chosen)) == 0 else None
    out: Optional[np.ndarray] = None
    for tap in taps.values():
        tap.choices = (chosen, legal)
    for policy in np.unique(owner).tolist():
        mine = owner == policy
        agents = len(np.unique(agent[mine]))
        found = None
        if policy in taps:
            found = taps[policy].rollout(logp[mine], chosen[mine], None if legal is None else legal[mine], agents)
        if found is None or (out is not None and found.shape[1] != out.shape[1]):
            return None
        if out is None:
            out = np.zeros((len(chosen), found.shape[1]), found.dtype)
        out[mine] = found
    return out
