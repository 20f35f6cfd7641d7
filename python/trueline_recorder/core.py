"""What the recorder does between the calls: its state, the steps that come to an end, and what happens when something goes wrong."""

from __future__ import annotations

import atexit
import contextlib
import functools
import math
import os
import sys
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Tuple, Union

import numpy as np

from .again import look_after, look_again
from .agents import Agents
from .arrays import Array, to_numpy
from .chunks import Chunk, make_chunk
from .progress import RAW_ROWS, PolicyProgress, Progress, Step
from .rows.episodes import Streams
from .rows.matching import IDENTITY, SECOND, RowIndex, joined_columns
from .rows.oddities import Oddity, odd_axes, odd_shapes
from .rows.rollout import caught_logits
from .store import Store, export_actor
from .tensors import added
from .trouble import Notices, close_at_exit, guarded, warn
from .watching import Watching

__version__ = "0.2.0"


class Core:
    """The recorder without the calls that programs make."""

    def __init__(
        self, path: str, agents: Agents, progress: Progress, manifest: Mapping[str, Any], overwrite: bool, strict: bool
    ) -> None:
        self.path = path
        self.strict = strict
        self.stopped = False
        self.closed = False
        self._inside = False
        self._calls: Dict[str, str] = {}  # where the program first called each method
        self._pid = os.getpid()
        self._agents = agents
        self._progress = progress
        self._watching = Watching(self._before_step, self._after_step)
        self._notices = Notices(self._write_manifest)
        self._listener: Optional[Callable[[Any], None]] = None
        self._streams = Streams()
        self._own_episodes = False
        self._next_episode = 0
        self._counted: Set[str] = set()
        self._sampled: Set[int] = set()  # agents that have rows in this iteration
        self._by_content = True  # rows may have to be found again by what they hold
        self._content: List[Chunk] = []
        self._index: Optional[RowIndex] = None
        writer = {"name": "trueline_recorder", "version": __version__, "python": sys.version.split()[0]}
        self._manifest: Dict[str, Any] = {"format": "trueline/1", **manifest, "writer": writer}
        try:
            self._store = Store(self.path, overwrite, self._complete)
            self._write_manifest()
        except FileExistsError:
            raise
        except OSError as error:
            # Better said before the training than after it; of a write the system does not say where.
            raise OSError(error.errno, f"no recording can be begun: {error.strerror}", self.path) from error
        atexit.register(close_at_exit, weakref.ref(self))

    @property
    def iteration(self) -> int:
        """The present iteration; -1 before the first."""
        return self._progress.iteration

    @property
    def recording(self) -> bool:
        """Whether rows of the present iteration are kept."""
        return self._progress.kept

    @property
    def agents(self) -> List[str]:
        return self._agents.names

    # - where the run is -

    def _policy(self, policy: Union[str, int, None]) -> PolicyProgress:
        known = len(self._progress.policies)
        found = self._progress.find(policy)
        if len(self._progress.policies) > known:
            self._write_manifest()
        return found

    def _at(
        self, own: PolicyProgress, part: Any, epoch: Optional[int], minibatch: Optional[int], rows: Optional[np.ndarray]
    ) -> Step:
        step = self._progress.at(own, part, epoch, minibatch, rows)
        if self._progress.ended_rows > RAW_ROWS and self._progress.ended:
            self._end_steps()
        return step

    def _begin(self, iteration: Optional[int]) -> None:
        self._end_iteration()
        self._progress.begin(iteration)
        self._content, self._index, self._sampled = [], None, set()
        self._listen()
        if self.recording:
            self._watching.refresh()

    def _listen(self) -> None:
        """Last layers are listened to in iterations that are kept, and before them, because their rollout comes first."""
        self._watching.listen(self.recording or self._progress.keeps(self.iteration + 1))

    def _end_steps(self) -> None:
        for policy, step in self._progress.take_ended():
            place = {"iteration": self.iteration, "epoch": step.epoch, "minibatch": step.minibatch}
            for part in step.replays:
                chunk = part() if callable(part) else part
                chunk.update(place)
                self._store.hold("replays", chunk)
            if step.tensors:
                rates = {rate for rate in step.tensors["learning_rate"].tolist() if not math.isnan(rate)}
                if len(rates) == 1:
                    step.report.setdefault("learning_rate", rates.pop())
                step.tensors.update(place)
                self._store.hold("tensors", step.tensors)
            if step.report:
                step.report.update(place, policy=policy)
                self._store.add("steps", step.report)

    def _complete(self) -> None:
        self._end_steps()
        self._watching.settle()

    def _end_iteration(self) -> None:
        if self.iteration < 0:
            return
        self._progress.end()
        self._end_steps()
        for watch in {watch.policy: watch for watch in self._watching.watches}.values():
            own = self._progress.policies[watch.policy]
            if own.updates and "updates.policy" not in self._counted:
                count = own.updates / max(1, len(watch.optimizers))
                for agent, name in enumerate(self.agents):
                    if self._agents.policy(name, self._progress.policies) == watch.policy:
                        row = {"iteration": self.iteration, "agent": agent, "name": "updates.policy", "value": count}
                        self._store.add("counters", row)
            own.updates = 0
        if self.recording:
            self._store.flush_if_due()

    # - around the optimiser's step -

    @guarded
    def _before_step(self, optimizer: Any) -> None:
        if self._listener is not None:
            self._listener(optimizer)
        if self.iteration < 0:
            return
        self._progress.updated = True
        for watch in self._watching.of(optimizer):
            own = self._progress.policies[watch.policy]
            own.updates += 1
            if self.recording:
                self._at(own, id(optimizer), None, None, None)
                watch.start(optimizer, self._watching.optimizers)

    @guarded
    def _after_step(self, optimizer: Any) -> None:
        if not self.recording:
            return
        for watch in self._watching.of(optimizer):
            own = self._progress.policies[watch.policy]
            rows = watch.finish(optimizer)
            if rows is not None and own.step.tensors:
                watch.settle()
                rows = added(own.step.tensors, rows)
            if rows is not None:
                own.step.tensors = rows
            if own.step.again:
                self._watching.listen(False)
                look_after(own.step)
                self._listen()

    # - rows -

    def _lead(self, shape: Tuple[int, ...], known: Dict[str, Array]) -> Tuple[int, ...]:
        """The axes of a rollout's rows, and what is odd about them."""
        if not self.recording:
            return shape
        for oddity in odd_axes(shape, "old_logp", len(self.agents) if self._agents.told else None, False):
            self._say(oddity)
        for oddity in odd_shapes(known, "old_logp", shape):
            self._say(oddity)
        return shape

    def _look_twice(self, agent: np.ndarray) -> None:
        """Rows of the same agents again after an update, where the program says itself when iterations begin, and did not."""
        agents = set(np.unique(agent).tolist())
        if self._progress.told and self._progress.updated and agents & self._sampled:
            self._say(
                (
                    "late samples",
                    f"samples() comes after an update of iteration {self.iteration}, and begin() was called before: call it for every iteration",
                )
            )
        self._sampled |= agents

    def _add_logits(self, known: Dict[str, Array], lead: Tuple[int, ...]) -> None:
        """Logits that the caller left out, from the actors' last layers; once they are handed over nobody listens any more."""
        policies = self._progress.policies
        owners = [self._agents.policy(name, policies) for name in self.agents]
        if "logits" in known or "subset" in known:
            for agent in np.unique(known["agent"]).tolist():
                if owners[agent] is not None:
                    self._watching.untap(owners[agent])
            return
        heard = any(tap.caught.calls for tap in self._watching.taps.values())
        logits = caught_logits(self._watching.taps, known, lead, owners)
        if logits is not None:
            known["logits"] = logits
        elif heard and "action" in known:
            self._say(
                (
                    "logits",
                    "no logits are recorded: no order of what the actor's last layer gave since the last update yields old_logp. Hand over logits=, "
                    "or name the layer with watch(head=...)",
                )
            )

    def _rows_of(
        self, own: PolicyProgress, known: Dict[str, Array], count: int, action: Array, obs: Array
    ) -> Optional[np.ndarray]:
        """The samples that a minibatch is made of: as told, or found by content. None, and said, where they cannot be found."""
        sample = known.get("sample")
        if sample is not None:
            self._by_content, self._content, self._index = False, [], None
            return to_numpy(sample).reshape(-1).astype(np.int64, copy=False)
        given = {"action": action, "obs": obs, **{name: known.get(name) for name in ("old_logp", *SECOND)}}
        wanted = {name: to_numpy(value) for name, value in given.items() if value is not None}
        wanted = {
            name: self._flat(value, count) for name, value in wanted.items() if value.size and value.size % count == 0
        }
        if not any(name in wanted for name in IDENTITY) or not self._content:
            return np.arange(self._progress.rows)
        if self._index is None:
            self._index = RowIndex(joined_columns(self._content))
        match = self._index.find(wanted, own.seen)
        if len(match.rows) == 0:
            self._say(
                (
                    "rows not found",
                    f"{count - match.found} of {count} rows of a minibatch are not among the {self._progress.rows} samples of iteration "
                    f"{self.iteration}, so it is left out; hand over sample=, the index that the minibatch was made with",
                )
            )
            return None
        if match.ambiguous:
            self._say(
                (
                    "rows alike",
                    f"{match.ambiguous} of {count} rows of a minibatch fit several samples ({', '.join(match.by)} are the same); any of them is "
                    f"taken. Hand over sample=, or return_=, to tell them apart",
                )
            )
        return match.rows

    def _hold_minibatch(
        self,
        step: Step,
        known: Dict[str, Array],
        lead: Tuple[int, ...],
        counts: Optional[np.ndarray],
        again: Optional[Callable[[], Any]],
    ) -> None:
        """Rows as they are, to be looked at later with others; with `again` at once, because its figures are added after the step."""
        if again is None and not self.strict and not any(isinstance(value, (list, tuple)) for value in known.values()):
            copies = {name: value if type(value) is int else to_numpy(value) for name, value in known.items()}
            step.replays.append(functools.partial(make_chunk, "replays", copies, lead, counts))
            return
        chunk = make_chunk("replays", known, lead, counts)
        if again is not None:
            self._watching.listen(False)
            logp, logits = look_again(again)
            self._listen()
            if logp is not None:
                chunk["again_logp"] = logp.reshape(-1)
                step.again.append((chunk, again, logits))
        step.replays.append(chunk)

    @staticmethod
    def _flat(value: np.ndarray, count: int) -> np.ndarray:
        return value.reshape(count) if value.size == count else value.reshape(count, -1)

    def _export(self, chunk: Chunk) -> None:
        for policy, actor in list(self._watching.snapshots.items()):
            name = self._progress.policies[policy].name
            self._watching.listen(False)
            try:
                export_actor(self._store, f"{name}-{self.iteration}", actor, chunk)
            except Exception as error:
                self._watching.snapshots.pop(policy, None)
                warn(f"no ONNX snapshots of {name}: {error}")
            self._listen()

    # - files and trouble -

    def _write_manifest(self) -> None:
        self._manifest["agents"] = self._agents.manifest(self._progress.policies)
        names = [policy.name for policy in self._progress.policies] or ["policy"]
        self._manifest["policies"] = [{"name": name} for name in names]
        if self._notices.said:
            self._manifest.setdefault("recorder", {})["warnings"] = self._notices.said
        calls = {name: site for name, site in self._calls.items() if not name.startswith("_")}
        if calls:
            self._manifest.setdefault("recorder", {})["calls"] = calls
        self._store.write_manifest(self._manifest)

    def _say(self, oddity: Oddity) -> None:
        self._notices.say(*oddity, self.iteration)

    def _fail(self, error: Exception) -> None:
        if self.strict:
            raise error
        self.stopped = True
        self._watching.release()
        self._store.rescue()
        reason = f"{type(error).__name__}: {error}"
        self._manifest.setdefault("recorder", {})["stopped"] = {"iteration": max(0, self.iteration), "reason": reason}
        with contextlib.suppress(Exception):
            self._write_manifest()
        warn(f"the recording in {self.path} ends in iteration {max(0, self.iteration)}, training goes on: {reason}")

    def close(self) -> None:
        """Writes the rest and lets go of the optimisers. Safe to call twice; also done when the program ends."""
        if self.closed or os.getpid() != self._pid:
            return
        self._finish()
        self.closed = True
        self.stopped = True
        self._watching.release()

    @guarded
    def _finish(self) -> None:
        self._end_iteration()
        if self._progress.ever_updated:
            for oddity in self._watching.never_stepped(self._manifest["tensors"]):
                self._say(oddity)
        self._store.flush()
        self._write_manifest()
