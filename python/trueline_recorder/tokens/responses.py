"""Responses as they were sampled: their tokens, masks, rewards and versions, and clean passes over a few of them. It has to come before the first optimiser
step of its iteration: clean passes are made with the weights that the first minibatch is scored with."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from ..arrays import Array, cast, to_numpy
from ..chunks import Chunk
from ..reports import Reports
from ..tables import TABLES, known_columns
from ..trouble import guarded
from .batch import TokenBatch
from .grid import (
    CODES,
    ENVIRONMENT,
    PADDING,
    PROMPT,
    SAMPLED,
    address,
    as_grid,
    coded,
    identities,
    is_per_token,
    lengths_of,
    per_response,
    places,
    prompt_rows,
)
from .scoring import Support, clean_pass, evaluation

#: Copies in the batch of the second clean pass: another shape, the same tokens.
COPIES = 2


class Responses(Reports):
    """The recorder's call for what was sampled."""

    _batch: Optional[TokenBatch] = None
    _responses_kept = 64
    _control: Optional[Callable[[Any], Any]] = None
    _control_kept = 4
    _rank: Optional[int] = None
    _ranks = 1
    _next_response = 0
    _actors: List[Any] = []
    _lengths = np.zeros(0, np.int64)  # trained tokens of this iteration's responses

    @guarded
    def responses(
        self,
        token: Array,
        *,
        prompts: Array = None,
        prompt_length: Array = None,
        present: Array = None,
        generated: Array = None,
        source: Array = None,
        trained: Array = None,
        start: Array = None,
        control: Optional[Callable[[Any], Any]] = None,
        earlier: Optional[Callable[[Any], Any]] = None,
        iteration: Optional[int] = None,
        **columns: Array,
    ) -> None:
        """Responses of this iteration, before its first optimiser step, in the order that `replays(response=...)` counts in.

        token           ids that are trained on: (responses, places), padded, or lists. Its first column is the first token after the prompt,
                        or the place `start` (0 for whole rows; minus the padding where it is on the left)
        prompts         ids of the prompts: lists, or a grid padded on the left with prompt_length
        present         which entries are tokens of the response; all without it
        generated       which of them the model made; `source` tells more (sampled, environment, template, prompt, padding)
        trained         the loss mask; what is present and generated without it
        control         what `Recorder(control=...)` is, for this call
        earlier         likewise, with the weights of `earlier_version`

        All other columns of `samples` (sampler_logp, old_logp, reference_logp, kept_mass ...) are given as grids like `token`, and those
        of `responses` (group, reward, graded, advantage, sampler_version, finish ...) as one entry per response.
        """
        self._begin_rows(iteration)
        grid = as_grid(token, 0).astype(np.int64)
        if grid.ndim != 2:
            raise ValueError(f"token has the shape {grid.shape}; one row per response is expected")
        count, width = shape = (grid.shape[0], grid.shape[1])
        known_names = {**TABLES["samples"], **TABLES["responses"]}
        for name in columns:
            if name not in known_names:
                known_columns("responses", {name: 0})
        per_token = {
            name: value for name, value in columns.items() if value is not None and is_per_token(name, value, count)
        }
        rest = {name: value for name, value in columns.items() if value is not None and name not in per_token}
        own = per_response(rest, count)
        lengths = lengths_of(token)
        there = np.ones(grid.shape, bool) if lengths is None else np.arange(width) < lengths[:, None]
        if present is not None:
            there = as_grid(present, 0).astype(bool)
        told = None if prompt_length is None else to_numpy(prompt_length).reshape(-1).astype(np.int64)
        asked = None if prompts is None else prompt_rows(prompts, told)
        if told is None and asked is not None:
            told = np.array([len(row) for row in asked], np.int64)
        before = np.zeros(count, np.int64) if told is None else np.broadcast_to(told, (count,))
        t = places(before if start is None else start, shape)
        kinds = self._kinds(source, generated, there, t, before)
        mask = (there & (kinds == SAMPLED)) if trained is None else as_grid(trained, 0).astype(bool)
        if mask.shape != grid.shape or there.shape != grid.shape:
            raise ValueError(f"the masks have the shapes {mask.shape} and {there.shape} where token has {grid.shape}")
        self._own_responses(own, mask, before, asked, told is not None, count)
        if not self.recording:
            self._hold_responses(own, count)
            return
        batch = self._batch
        if batch is None:
            batch = self._batch = TokenBatch(self._responses_kept)
        first = batch.count
        kept = batch.choose(own["group"].astype(np.int64) if "group" in own else np.arange(count))
        self._enter(batch, own, kept, before)
        which = np.flatnonzero(kept)
        for row in range(count):
            whole = None
            if kept[row]:
                inside = (there[row] | (kinds[row] == PROMPT)) & (t[row] >= 0)
                tail = grid[row][inside & (t[row] >= before[row])]
                head = asked[row] if asked is not None else grid[row][inside & (t[row] < before[row])]
                whole = np.concatenate([head, tail]) if len(head) == before[row] else None
            batch.ids.append(whole)
        cells = address(first + which[:, None], t[which]).reshape(-1)
        held: Dict[str, np.ndarray] = {
            "token": grid[which].reshape(-1),
            "source": kinds[which].reshape(-1),
            "trained": mask[which].reshape(-1),
            "rows": ((there & (t >= before[:, None])) | mask)[which].reshape(-1),
        }
        for name, value in per_token.items():
            if name in ("kept_by",):
                held[name] = coded("samples.kept_by", value, grid.shape)[which].reshape(-1)
                continue
            array = as_grid(value)
            if array.shape != grid.shape:
                raise ValueError(f"{name} has the shape {array.shape} where token has {grid.shape}")
            held[name] = array[which].reshape(-1)
        if "kept_mass" in held and "kept_by" not in held:
            held["kept_by"] = np.zeros(len(cells), np.int8)
        batch.set_columns(cells, held)
        self._hold_responses(own, count)
        checks = control if control is not None else self._control
        if checks is not None:
            self._clean(batch, first + which, checks, ("control_logp", "control2_logp"))
        if earlier is not None:
            self._clean(batch, first + which, earlier, ("earlier_logp",))

    def _begin_rows(self, iteration: Optional[int]) -> None:
        if iteration is not None:
            if int(iteration) != self.iteration:
                self._begin(int(iteration))
        elif self.iteration < 0 or (self._progress.updated and not self._progress.told):
            self._begin(None)
        names = self._manifest.setdefault("names", {})
        if "samples.source" not in names:
            names.update(CODES)
            self._write_manifest()

    @staticmethod
    def _kinds(source: Array, generated: Array, there: np.ndarray, t: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Where every entry comes from, as told, or from the masks."""
        if source is not None:
            return coded("samples.source", source, there.shape).copy()
        kinds = np.where(there, SAMPLED, PADDING).astype(np.int8)
        if generated is not None:
            kinds[there & ~as_grid(generated, 0).astype(bool)] = ENVIRONMENT
        kinds[there & (t < before[:, None]) & (t >= 0)] = PROMPT
        return kinds

    def _own_responses(
        self, own: Dict[str, Any], mask: np.ndarray, before: np.ndarray, asked: Any, known: bool, count: int
    ) -> None:
        """What of the table `responses` follows from the tokens."""
        own.setdefault("length", mask.sum(1))
        if known:
            own.setdefault("prompt_length", before.copy())
        if asked is not None:
            own.setdefault("prompt", identities(asked))
        if self._rank is not None:
            own.setdefault("rank", np.full(count, self._rank))
        ranks = self._ranks if self._rank is not None else 1
        own["episode"] = (self._next_response + np.arange(count)) * ranks + (self._rank or 0)
        self._next_response += count
        self._lengths = np.concatenate([self._lengths, mask.sum(1)])

    def _enter(self, batch: TokenBatch, own: Dict[str, Any], kept: np.ndarray, before: np.ndarray) -> None:
        count = len(kept)
        batch.count += count
        batch.rows_kept = np.concatenate([batch.rows_kept, kept])
        batch.prompt_length = np.concatenate([batch.prompt_length, before])
        batch.episode = np.concatenate([batch.episode, own["episode"]])
        declared = self._manifest["settings"]
        for row in range(count):
            drawn = {
                name: own[name][row]
                if name in own and own[name][row] == own[name][row]
                else declared.get(name, default)
                for name, default in (("temperature", 1.0), ("top_p", 1.0), ("top_k", 0), ("min_p", 0.0))
            }
            numbers = [float(drawn[name] or 0) for name in ("temperature", "top_p", "top_k", "min_p")]
            top_k = max(0, int(numbers[2]))
            batch.supports.append(Support(numbers[0] or 1.0, numbers[1] or 1.0, top_k, numbers[3]))

    def _hold_responses(self, own: Dict[str, Any], count: int) -> None:
        chunk: Chunk = {"iteration": self.iteration}
        for name, value in own.items():
            spec = TABLES["responses"][name]
            if spec.ragged:
                if self.recording:
                    chunk[name] = (cast(spec.kind, value[0], name), value[1])
            else:
                chunk[name] = value if spec.kind == "text" else cast(spec.kind, value, name)
        chunk.setdefault("finish", np.full(count, len(CODES["responses.finish"]) - 1, np.int8))
        self._store.hold("responses", chunk)

    def _clean(self, batch: TokenBatch, rows: np.ndarray, scorer: Callable[[Any], Any], names: Any) -> None:
        """Clean passes over a few responses, spread over those that are kept."""
        whole = [
            row
            for row in rows.tolist()
            if batch.ids[row] is not None and len(batch.ids[row]) > max(1, batch.prompt_length[row])
        ]
        if not whole:
            self._say(
                ("no prompts", "no control pass is made: responses() needs prompts=, the ids that the responses follow")
            )
            return
        few = [
            whole[i] for i in np.unique(np.linspace(0, len(whole) - 1, min(self._control_kept, len(whole))).astype(int))
        ]
        module = scorer if hasattr(scorer, "modules") else getattr(scorer, "__self__", None)
        modules = [*self._actors, *([module] if hasattr(module, "modules") else [])]
        device = next((p.device for m in modules for p in m.parameters()), None)
        self._watching.listen(False)
        with evaluation(modules):
            for row in few:
                ids = batch.ids[row]
                assert ids is not None
                temperature = batch.supports[row].temperature
                first = max(1, int(batch.prompt_length[row]))
                t = np.arange(first, len(ids))
                found: Dict[str, np.ndarray] = {}
                for name, copies in zip(names, (1, COPIES)):
                    # Where the loop shows no logits, only a clean pass can tell what temperature 1 gives.
                    plain = name == "control_logp" and temperature != 1
                    temperatures = (temperature, 1.0) if plain else (temperature,)
                    passes = clean_pass(scorer, ids, first, copies, temperatures, device)
                    found.update(zip((name, "control_plain_logp"), passes))
                batch.set_columns(address(np.full(len(t), row), t), found)
        self._listen()
