"""Micro-batches of tokens as they entered the loss. The one thing to get wrong: `new_logp` must be the very tensor that the loss is made of, handed over
before backward(); a hook on it reads what the loss does with every token."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from ..again import TWICE, look_again
from ..arrays import Array, to_numpy
from ..progress import PolicyProgress, Step
from ..tables import known_columns
from .batch import Part, TokenBatch
from .grid import PLACES, address, places
from .responses import Responses
from .scoring import FITTED, FITTED_ENTRIES, Support, fit_temperature, score

#: Tokens of an iteration whose logits are looked at.
SCORED = 1024


class Tokens(Responses):
    """The recorder's calls for language models."""

    def _replay_tokens(
        self,
        own: PolicyProgress,
        epoch: Optional[int],
        minibatch: Optional[int],
        columns: Dict[str, Array],
        again: Optional[Callable[[], Any]],
    ) -> None:
        """Rows of one micro-batch, addressed by response and place."""
        response = to_numpy(columns.pop("response")).astype(np.int64)
        t, start, logits = columns.pop("t", None), columns.pop("start", None), columns.pop("logits", None)
        known = known_columns("replays", columns)
        step = self._token_step(own, epoch, minibatch, np.unique(response[response >= 0]))
        batch = self._batch
        if not self.recording or batch is None:
            return
        new = known.pop("new_logp", None)
        if new is None:
            self._say(
                (
                    "no new_logp",
                    "replays() was given no new_logp, as with a fused loss that never forms it: replays.new_logp and replays.coef are missing, so that mask, "
                    "advantage, ratio, clip, KL term and normaliser of the loss cannot be checked. Form the log-probabilities for a few steps "
                    "(switch the fused loss off), or hand over those of a pass without gradients: then only coef is missing",
                )
            )
            return
        shape = tuple(new.shape)
        if len(shape) == 2 and response.ndim == 1 and len(response) == shape[0]:
            if t is None:
                t = places(batch.prompt_length[response] if start is None else start, (shape[0], shape[1]))
            response = np.broadcast_to(response[:, None], shape)
        elif t is None:
            raise ValueError("replays() of packed tokens needs response= and t= of the shape of new_logp")
        if response.size and response.max() >= batch.count:
            raise ValueError(
                f"response {response.max()} is beyond the {batch.count} responses of iteration {self.iteration}"
            )
        where = np.broadcast_to(to_numpy(t).astype(np.int64), shape).reshape(-1)
        flat = response.reshape(-1)
        picked = np.flatnonzero((flat >= 0) & batch.rows_kept[np.maximum(flat, 0)])
        cells = address(flat[picked], where[picked])
        values = {name: self._cells(value, shape, name)[picked] for name, value in known.items()}
        values["new_logp"] = to_numpy(new).reshape(-1)[picked]
        if again is not None and len(batch.parts) < TWICE[self.iteration >= self._progress.first]:
            self._watching.listen(False)
            once_more = look_again(again)[0]
            if once_more is not None:
                values["again_logp"] = once_more.reshape(-1)[picked]
            self._listen()
        place = {"epoch": step.epoch, "minibatch": step.minibatch, "micro_batch": step.micro, "policy": own.index}
        if self._rank is not None:
            place["rank"] = self._rank
        if logits is not None:
            self._score(batch, logits, picked, cells, values, step.epoch == step.minibatch == 0)
        part = Part(cells, values, place)
        last = batch.parts[-1] if batch.parts else None
        if last is not None and not last.hooked and wants_gradient(new) and np.array_equal(last.cells, cells):
            # Activation checkpointing runs a forward pass again during backward; only this time there is a graph.
            part.place = last.place
            batch.parts.pop()
        batch.parts.append(part)
        if wants_gradient(new):
            part.hooked = True
            new.register_hook(hook_of(part, picked))

    @staticmethod
    def _cells(value: Array, shape: Any, name: str) -> np.ndarray:
        """One entry per token; one per response, or one for all, is spread over them."""
        array = to_numpy(value)
        if array.ndim == 1 and len(shape) == 2 and len(array) == shape[0]:
            array = array[:, None]
        if array.size == int(np.prod(shape)):
            return array.reshape(-1)
        try:
            return np.broadcast_to(array, shape).reshape(-1)
        except ValueError:
            raise ValueError(f"{name} has the shape {array.shape} where new_logp has {tuple(shape)}") from None

    def _score(
        self,
        batch: TokenBatch,
        logits: Any,
        picked: np.ndarray,
        cells: np.ndarray,
        values: Dict[str, np.ndarray],
        first: bool,
    ) -> None:
        """Scores of the tokens at hand, while their logits are there: both temperatures, and the kept mass."""
        token = batch.token_at(cells)
        known = np.flatnonzero(token >= 0)
        room = SCORED - batch.scored
        if len(known) > room:
            known = known[np.unique(np.linspace(0, len(known) - 1, room).astype(int))] if room > 0 else known[:0]
        batch.scored += len(known)
        flat = logits.reshape(-1, logits.shape[-1])
        torch = sys.modules["torch"]
        given = set(values)
        ways: Dict[Support, List[int]] = {}
        for place, row in zip(known.tolist(), (cells[known] // PLACES).tolist()):
            ways.setdefault(batch.supports[row], []).append(place)
        for support, some in ways.items():
            at = np.array(some)
            own = flat[torch.as_tensor(picked[at], device=flat.device)]
            found = score(own, token[at], support)
            few = self._telling(batch, cells[at], flat.shape[1])
            fitted = fit_temperature(
                own[torch.as_tensor(few, device=flat.device)],
                token[at][few],
                {name: array[few] for name, array in found.items()},
                values["new_logp"][at][few],
            )
            for where, columns in ((at, found), (at[few], fitted)):
                for name, array in columns.items():
                    if name not in given:
                        values.setdefault(name, np.full(len(cells), np.nan, np.float32))[where] = array
            if first:
                early: Dict[str, np.ndarray] = {name: found[name] for name in found if name != "entropy"}
                if "kept_mass" in early:
                    early["kept_by"] = np.ones(len(at), np.int8)
                batch.set_columns(cells[at], early)

    @staticmethod
    def _telling(batch: TokenBatch, cells: np.ndarray, width: int) -> np.ndarray:
        """A few tokens of responses that tell a temperature; none once an iteration has had its share, because a vocabulary is wide."""
        own = np.flatnonzero(cells % PLACES >= batch.prompt_length[cells // PLACES])
        room = min(max(4, FITTED_ENTRIES // width), FITTED) - batch.fitted
        few = own[np.unique(np.linspace(0, len(own) - 1, min(room, len(own))).astype(int))] if room > 1 else own[:0]
        batch.fitted += len(few)
        return few

    def _token_step(
        self, own: PolicyProgress, epoch: Optional[int], minibatch: Optional[int], rows: np.ndarray
    ) -> Step:
        """The step that a micro-batch belongs to: the present one, until the optimiser has stepped or a step was reported."""
        now = own.step
        over = any(part != "micro" for part in now.parts)
        if epoch is None and minibatch is None and own.told == (None, None):
            if over:
                now = self._progress.next_step(own, now.epoch, now.minibatch + 1)
            if "micro" not in now.parts and len(rows) and own.epoch_of(rows, self._next_response):
                now.epoch, now.minibatch = now.epoch + 1, 0
            else:
                own.mark(rows, self._next_response)
        else:
            now = self._progress.at(own, "micro", epoch, minibatch)
        if "micro" not in now.parts:
            now.parts += ("micro",)
            now.micro = 0
        else:
            now.micro += 1
        if self._ranks == 1 and len(rows) and rows.max() < len(self._lengths):
            # With several ranks only the program knows; what it says in step() counts.
            now.report["tokens"] = int(now.report.get("tokens", 0) + self._lengths[rows].sum())
            now.report["sequences"] = int(now.report.get("sequences", 0) + len(rows))
        return now

    def _end_iteration(self) -> None:
        self._end_tokens()
        super()._end_iteration()

    def _end_tokens(self) -> None:
        batch, self._batch = self._batch, None
        self._lengths = np.zeros(0, np.int64)
        if batch is None:
            return
        silent = [part for part in batch.parts if part.coef is None]
        if silent and len(silent) == len(batch.parts):
            why = (
                "it has no gradient"
                if not any(part.hooked for part in silent)
                else "no gradient came to it before the iteration ended"
            )
            self._say(
                (
                    "no coef",
                    f"replays.coef is missing: the new_logp that was handed over is not the tensor that the loss is made of ({why}). Hand over that very "
                    "tensor, before backward(), or mask, advantage, ratio, clip, KL term and normaliser of the loss cannot be checked",
                )
            )
        chunk, replays = batch.finish(self.iteration)
        if chunk is not None:
            self._store.hold("samples", chunk)
        for part in replays:
            self._store.hold("replays", part)


def wants_gradient(tensor: Any) -> bool:
    return bool(getattr(tensor, "requires_grad", False))


def hook_of(part: Part, picked: np.ndarray) -> Callable[[Any], None]:
    def hook(gradient: Any) -> None:
        flat = gradient.detach().reshape(-1)
        torch = sys.modules["torch"]
        part.add_coef(to_numpy(flat[torch.as_tensor(picked, device=flat.device)]))

    return hook
