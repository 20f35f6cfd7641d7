"""The recorder itself: what a training program calls. It only reads, and a mistake in a call ends the recording, never the training."""

from __future__ import annotations

import math
import os
import sys
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

import numpy as np

from .again import TWICE
from .agents import Agents
from .arrays import Array, is_continuous, is_several, on_cpu, per_row, to_numpy
from .buffers import Buffers
from .chunks import make_chunk
from .progress import Progress
from .rows.oddities import odd_axes, odd_rows, odd_shapes
from .rows.rollout import PLACING, last_step, place_rows
from .tables import known_columns
from .tensors import Supply, Tensor, roles_of
from .trouble import guarded
from .watching import as_optimizers, describe_optimizer


class Recorder(Buffers):
    """Writes a recording of a training run into the folder `path`.

    gamma, lam      discount and GAE's lambda, as the trainer uses them
    agents          names of the agents, in the order of the `agent` column; one unnamed agent without it
    settings        what else the trainer was told: clip, epochs, minibatches, entropy_coefficient, value_coefficient,
                    max_grad_norm, target_kl, advantage_normalisation ("batch", "minibatch", "centred", "none"), and customs such as
                    advantage_estimator "n-step" with n_steps, advantages_recomputed "epoch", value_normalisation "popart",
                    loss_reduction "sum" ... What is not declared is not compared. Learning rate and optimiser are read from the optimiser.
    first, every    rows and tensors are kept for the first iterations and then for every so-many-th; `recording` tells which
    overwrite       replaces a recording that is already there; otherwise the constructor refuses
    strict          raises errors instead of warning, for tests of your own

    For language models:
    responses_kept  responses of an iteration whose tokens are kept, in whole groups
    control         a function that scores ids (rows, places) without padding, and gives logits or log-probabilities: the model itself, often.
                    It is called in evaluation mode for `control_kept` of them, which tells a fault from the noise of half precision
    rank, ranks     of distributed training: every rank records a part of its own, and all are read together

    Mistakes in the constructor and in `watch` are raised at once, before any training time is spent.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
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
        responses_kept: int = 64,
        control: Optional[Callable[[Any], Any]] = None,
        control_kept: int = 4,
        rank: Optional[int] = None,
        ranks: int = 1,
    ) -> None:
        declared = dict(settings or {})
        for key, value in (("gamma", gamma), ("lambda", lam)):
            if value is not None:
                declared[key] = float(value)
        # The first rank's part holds those of the others.
        folder = os.path.join(path, f"rank-{rank}") if rank else os.fspath(path)
        self._responses_kept, self._control, self._control_kept = int(responses_kept), control, int(control_kept)
        self._rank, self._ranks, self._actors = rank, int(ranks), []
        manifest: Dict[str, Any] = {
            "name": name or os.path.basename(os.path.normpath(path)),
            "algorithm": algorithm,
            **({} if seed is None else {"seed": int(seed)}),
            "agents": [],
            "policies": [],
            "tensors": [],
            "settings": declared,
            **({} if agent_settings is None else {"agent_settings": [dict(own) for own in agent_settings]}),
            **({} if environment is None else {"environment": dict(environment)}),
        }
        super().__init__(folder, Agents(agents), Progress(int(first), max(1, int(every))), manifest, overwrite, strict)

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
        """Finds a policy's tensors, their roles and who holds them, and measures them around `optimizer.step()` from now on. Logits are
        read from the actor's last layer, where they give the recorded log-probabilities and `samples` and `replays` have none.

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
        optimizers = as_optimizers(optimizer)
        known = self._policy(policy).index
        given = tensors
        supply: Supply = (
            (lambda: roles_of(actor, critic, shared, head))
            if given is None
            else (lambda: [Tensor(*item) for item in given()])
        )
        watch = self._watching.add(known, supply, optimizers, len(self._manifest["tensors"]))
        for tensor in watch.tensors:
            about = {"name": tensor.name, "policy": known, "role": tensor.role, "size": tensor.parameter.numel()}
            if getattr(tensor.parameter, "requires_grad", None) is False:
                about["frozen"] = True
            self._manifest["tensors"].append(about)
        if hasattr(actor, "modules"):
            self._actors.append(actor)
        if given is None and self._batch is None:
            self._watching.tap(known, actor, head)
            self._listen()
        for agent in agents or ():
            self._agents.policies[self.agents[self._agents.index(agent)]] = known
        if snapshots and actor is not None:
            self._watching.snapshots[known] = actor
        for key, value in describe_optimizer(optimizers[0]).items():
            self._manifest["settings"].setdefault(key, value)
        self._write_manifest()

    # - what happened -

    @guarded
    def begin(self, iteration: Optional[int] = None) -> None:
        """Starts an iteration: before its rollout, or before its `samples`. From then on the program says itself when one starts; as long as
        this is never called, an iteration starts with the first `samples` after an update."""
        self._progress.told = True
        self._begin(iteration)

    @guarded
    def at(
        self, *, epoch: Optional[int] = None, minibatch: Optional[int] = None, policy: Union[str, int, None] = None
    ) -> None:
        """Says where the update is: calls and optimiser steps from now on belong there, until this is called again or the iteration ends."""
        self._progress.say(self._policy(policy), epoch, minibatch)

    @guarded
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
                self._begin(int(iteration))
        elif self.iteration < 0 or (self._progress.updated and not self._progress.told):
            self._begin(None)
        known = known_columns("samples", columns)
        if "action" in known and "action_values" not in known and is_continuous(known["action"]):
            drawn = to_numpy(known.pop("action"))
            known["action_values"] = drawn[..., None] if drawn.shape == np.shape(known.get("old_logp", 0)) else drawn
        elif "action" in known and is_several(known["action"], known.get("old_logp", 0)):
            known["action_values"] = to_numpy(known.pop("action"))
            known.setdefault("distribution", "categoricals")
        if not self.recording:
            known = {name: value for name, value in known.items() if name in PLACING}
        if "old_logp" not in known:
            raise ValueError("samples() needs old_logp: the log-probability stored when the action was sampled")
        old = to_numpy(known["old_logp"])
        lead = self._lead(old.shape if old.ndim > 0 else (1,), known)
        known["old_logp"] = old.reshape(lead)
        known["agent"] = self._agents.column(known.get("agent"), lead)
        self._look_twice(known["agent"])
        if len(lead) > 1 and "env" not in known:
            known["env"] = np.arange(lead[1]).reshape((-1,) + (1,) * (len(lead) - 2))
            if len(lead) == 3 and lead[2] > 1 and known["agent"].size == 1:
                known["env"] = np.arange(lead[1] * lead[2]).reshape(lead[1:])
        if "next_value" in known:
            known["next_value"] = last_step(to_numpy(known["next_value"]), lead)
        done = place_rows(known, lead, self._streams, self.recording)
        if done is not None and not self._own_episodes:
            self._store.hold("episodes", {**done, "iteration": self.iteration})
        if not self.recording:
            self._progress.rows += math.prod(lead)
            return
        if self._watching.taps:
            self._add_logits(known, lead)
        cut = lengths if lengths is not None else known.get("num_actions")
        counts = None if cut is None else per_row(cut, lead, "lengths", "old_logp").astype(np.int64)
        chunk = make_chunk("samples", {**known, "iteration": self.iteration}, lead, counts)
        self._store.hold("samples", chunk)
        self._progress.rows += math.prod(lead)
        if self._by_content:
            self._content.append(chunk)
            self._index = None
        if "obs" in chunk:
            self._export(chunk)

    @guarded
    def replays(
        self,
        *,
        policy: Union[str, int, None] = None,
        epoch: Optional[int] = None,
        minibatch: Optional[int] = None,
        lengths: Array = None,
        again: Optional[Callable[[], Any]] = None,
        action: Array = None,
        obs: Array = None,
        **columns: Array,
    ) -> None:
        """Rows of one minibatch as they entered the loss, before `optimizer.step()`.

        sample          the index of each row within this iteration's samples. Without it rows are found again by their content:
                        old_logp, and `action` and `obs` where they are given here too; with it, `obs` is what the update saw
        epoch, minibatch  which step; counted without them: a call is a minibatch, and a row that comes again begins an epoch.
                        With gradients gathered over several calls, give both, the same for each.
        again           a function that gives the same rows' log-probabilities once more, or (log-probabilities, logits): it is
                        called at once and again after the step, without gradients and with the random state put back, for the
                        first few minibatches of an iteration that is kept
        new_neglogp, old_neglogp  minus the log-probabilities, where the trainer keeps those

        Tokens of a language model: `response` instead of `sample`, counted in this iteration's responses, one per row of new_logp
        (responses, places), the first place that of `responses(token=...)` or `start`; or, packed, `response` and `t` for every entry. All
        calls until `optimizer.step()` are micro-batches of one step. new_logp is the tensor that the loss is made of, before backward();
        `logits` (before temperature) are looked at and let go.
        """
        if self.iteration < 0:
            self._begin(None)
        self._progress.updated = True
        own = self._policy(policy)
        if "response" in columns:
            self._replay_tokens(own, epoch, minibatch, columns, again)
            return
        if not self.recording:
            # Epochs are told apart by their rows in the iterations that are kept; the others follow the same plan.
            if (epoch, minibatch) == own.told == (None, None) and 0 < own.replayed < len(own.plan):
                epoch, minibatch = own.plan[own.replayed]
            own.replayed += 1
            self._at(own, "replays", epoch, minibatch, None)
            return
        known = known_columns("replays", columns)
        if obs is not None and "sample" in known:
            known["obs"] = obs
        if "new_logp" not in known:
            raise ValueError("replays() needs new_logp: the log-probability in this step's forward pass")
        fresh = to_numpy(known["new_logp"])
        known["new_logp"] = fresh
        lead = fresh.shape if fresh.ndim > 0 else (1,)
        for oddity in (*odd_axes(lead, "new_logp", None, True), *odd_shapes(known, "new_logp", lead)):
            self._say(oddity)
        rows = self._rows_of(own, known, math.prod(lead), action, obs)
        if rows is None:
            self._at(own, "replays", epoch, minibatch, None)
            return
        if math.prod(lead) != len(rows):
            raise ValueError(f"replays() has {math.prod(lead)} log-probabilities for {len(rows)} samples")
        for oddity in odd_rows(rows, fresh, known.get("old_logp")):
            self._say(oddity)
        step = self._at(own, "replays", epoch, minibatch, rows)
        if own.replayed == 0:
            own.plan = []
        own.plan.append((step.epoch, step.minibatch))
        known["sample"] = rows
        counts = None if lengths is None else per_row(lengths, lead, "lengths", "new_logp").astype(np.int64)
        known["policy"] = own.index
        self._watching.add_logits(own.index, known, rows)
        own.replayed += 1
        self._progress.ended_rows += len(rows)
        if own.replayed > TWICE[self.iteration >= self._progress.first]:
            again = None
        self._hold_minibatch(step, known, lead, counts, again)

    @guarded
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
        known = known_columns("steps", columns)
        if self.iteration < 0:
            self._begin(None)
        self._progress.updated = True
        own = self._policy(policy)
        step = self._at(own, "step", epoch, minibatch, None)
        report = step.report
        for name, value in known.items():
            if hasattr(value, "detach"):
                # Reading a number from a device waits for it; that can wait until the rows are written.
                value = value.item() if on_cpu(value) else value.detach().clone()
            report[name] = value
        if not self.recording and "iteration" not in report:
            report.update(iteration=self.iteration, epoch=step.epoch, minibatch=step.minibatch, policy=own.index)
            self._store.add("steps", report)

    def __enter__(self) -> Recorder:
        return self
