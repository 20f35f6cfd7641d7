"""Log-probabilities at both temperatures, entropy and kept mass from logits, and the clean passes. Few rows at a time: a vocabulary is wide."""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence

import numpy as np

from ..arrays import to_numpy

#: Entries of logits that are turned into float32 at once.
AT_ONCE = 1 << 24
#: Tokens that are looked at first for top-p, and rows that are sorted whole where those do not reach it.
TOP, SORTED = 256, 2
#: Tokens of an iteration that tell a temperature, and entries of logits that they may have in all.
FITTED, FITTED_ENTRIES = 32, 1 << 21
#: How far from 1 a temperature is looked for, as a logarithm, and log-probabilities that are the same.
WIDEST, CLOSE = 2.5, 1e-4


class Support(NamedTuple):
    """How tokens were drawn: temperature, and what top-k, top-p and min-p leave."""

    temperature: float
    top_p: float
    top_k: int
    min_p: float

    @property
    def cuts(self) -> bool:
        return self.top_p < 1 or self.top_k > 0 or self.min_p > 0


def score(logits: Any, token: np.ndarray, support: Support) -> Dict[str, np.ndarray]:
    """logp_plain, logp_tempered, entropy, and kept_mass where something is cut: one entry per row of `logits` (rows, vocabulary)."""
    torch = sys.modules["torch"]
    chosen = torch.as_tensor(token, dtype=torch.long, device=logits.device)
    parts: Dict[str, List[Any]] = {}
    step = max(1, AT_ONCE // max(1, logits.shape[-1]))
    with torch.no_grad():
        for begin in range(0, len(logits), step):
            scores = logits[begin : begin + step].detach().float()
            at = chosen[begin : begin + step, None]
            found = {"logp_plain": (scores.gather(1, at) - scores.logsumexp(1, keepdim=True)).squeeze(1)}
            if support.temperature != 1:
                scores = scores / support.temperature
            top = scores.max(1, keepdim=True).values
            weights = (scores - top).exp_()
            whole = weights.sum(1, keepdim=True)
            total = whole.log() + top
            found["logp_tempered"] = (scores.gather(1, at) - total).squeeze(1)
            found["entropy"] = (total - (weights * scores).sum(1, keepdim=True) / whole).squeeze(1)
            if support.cuts:
                found["kept_mass"] = kept_mass(weights.div_(whole), support)
            for name, values in found.items():
                parts.setdefault(name, []).append(values.cpu())
    return {name: torch.cat(values).numpy() for name, values in parts.items()}


def fit_temperature(
    logits: Any, token: np.ndarray, found: Dict[str, np.ndarray], used: np.ndarray
) -> Dict[str, np.ndarray]:
    """Where the update's log-probabilities are at neither temperature: the one temperature at which these logits give them, and what they give there.
    A few rows tell; what no temperature gives is left alone."""
    known = [found["logp_plain"], found["logp_tempered"]]
    if "kept_mass" in found:
        known.append(found["logp_tempered"] - np.log(found["kept_mass"]))
    if len(used) < 2 or any(np.nanmedian(np.abs(own - used)) < CLOSE for own in known):
        return {}
    torch = sys.modules["torch"]
    with torch.no_grad():
        scores = logits.detach().double()
        at = torch.as_tensor(token, dtype=torch.long, device=logits.device)[:, None]
        own = torch.as_tensor(used, dtype=torch.float64, device=logits.device)[:, None]

        def given(heat: float) -> Any:
            return (scores / heat).gather(1, at) - (scores / heat).logsumexp(1, keepdim=True)

        def miss(power: float) -> float:
            return float((given(math.exp(power)) - own).abs().mean())

        powers = np.linspace(-WIDEST, WIDEST, 41)
        best = int(np.argmin([miss(power) for power in powers]))
        low, high = powers[max(0, best - 1)], powers[min(len(powers) - 1, best + 1)]
        for _ in range(48):  # by thirds, because a mean of absolute values has no slope to follow
            third = (high - low) / 3
            low, high = (low, high - third) if miss(low + third) < miss(high - third) else (low + third, high)
        heat = math.exp((low + high) / 2)
        if miss((low + high) / 2) > CLOSE:
            return {}
        return {
            "temperature": np.full(len(used), heat, np.float32),
            "fitted_logp": given(heat).squeeze(1).float().cpu().numpy(),
        }


def kept_mass(probabilities: Any, support: Support) -> Any:
    """The probability that top-k, then top-p among what is left, then min-p keep, in every row. Unknown where that would take a sort of the whole
    vocabulary, but for a few rows: only a model that knows nothing spreads so wide."""
    width = probabilities.shape[1]
    if support.top_k == 0 and support.top_p >= 1:
        return (probabilities * (probabilities >= support.min_p * probabilities.max(1, keepdim=True).values)).sum(1)
    values = probabilities.topk(min(support.top_k or width, TOP, width), 1).values
    kept = cut_mass(values, support)
    if support.top_k == 0 and width > TOP:
        wide = (values.sum(1) < support.top_p).nonzero().squeeze(1)
        kept[wide] = math.nan
        few = wide[:SORTED]
        kept[few] = cut_mass(probabilities[few].sort(1, descending=True).values, support)
    elif support.top_k > TOP:
        kept = cut_mass(probabilities.topk(support.top_k, 1).values, support)
    return kept


def cut_mass(values: Any, support: Support) -> Any:
    """What top-p and min-p leave of probabilities that are in order, the largest first."""
    torch = sys.modules["torch"]
    kept = torch.ones_like(values, dtype=torch.bool)
    if support.top_p < 1:
        whole = values.sum(1, keepdim=True) if support.top_k else 1.0
        kept &= (values.cumsum(1) - values) / whole < support.top_p
    if support.min_p > 0:
        kept &= values >= support.min_p * values[:, :1]
    return (values * kept).sum(1)


@contextlib.contextmanager
def evaluation(modules: Sequence[Any]) -> Iterator[None]:
    """Every submodule in evaluation mode, then in the mode that it was in, one by one."""
    torch = sys.modules["torch"]
    parts = [part for module in modules if hasattr(module, "modules") for part in module.modules()]
    modes = [part.training for part in parts]
    try:
        for part in parts:
            part.training = False
        with torch.no_grad(), torch.random.fork_rng():
            yield
    finally:
        for part, mode in zip(parts, modes):
            part.training = mode


def clean_pass(
    score_ids: Callable[[Any], Any],
    ids: np.ndarray,
    first: int,
    copies: int,
    temperatures: Sequence[float],
    device: Optional[Any],
) -> List[np.ndarray]:
    """The log-probability of every id from `first` on, in a batch of `copies` of one sequence that holds no padding: at each temperature, or only as the scorer gives it."""
    torch = sys.modules["torch"]
    batch = torch.as_tensor(ids, dtype=torch.long, device=device).unsqueeze(0).repeat(copies, 1)
    result = score_ids(batch)
    result = getattr(result, "logits", result)
    result = result[0] if isinstance(result, tuple) else result
    count = len(ids) - first
    if result.dim() == 2:  # log-probabilities already
        return [to_numpy(result[0, result.shape[1] - count :])]
    found: List[List[Any]] = [[] for _ in temperatures]
    step = max(1, AT_ONCE // result.shape[-1])
    for begin in range(first, len(ids), step):
        scores = result[0, begin - 1 : min(begin + step, len(ids)) - 1].float()
        for own, temperature in zip(found, temperatures):
            tempered = scores / temperature if temperature != 1 else scores
            picked = tempered.gather(1, batch[0, begin : begin + len(scores), None]).squeeze(1)
            own.append((picked - tempered.logsumexp(1)).cpu())
    return [torch.cat(own).numpy() for own in found]
