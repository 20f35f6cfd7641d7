"""Where a training run is: its iteration, and the epoch and minibatch of each policy. What the program says counts; only what it leaves out is counted here."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from .chunks import Chunk

#: Rows of minibatches that are held as they came, and looked at together.
RAW_ROWS = 8192


class Step:
    """One optimiser step of one policy while its parts come in: rows, measurements and reports, in any order."""

    __slots__ = ("again", "epoch", "micro", "minibatch", "parts", "replays", "report", "tensors")

    def __init__(self, epoch: int, minibatch: int) -> None:
        self.epoch, self.minibatch = epoch, minibatch
        self.micro = 0  # the present slice of the step, where gradients are gathered
        self.parts: Tuple[Any, ...] = ()
        self.replays: List[Union[Chunk, Callable[[], Chunk]]] = []
        self.again: List[Tuple[Chunk, Callable[[], Any], Any]] = []
        self.report: Dict[str, Any] = {}
        self.tensors: Dict[str, Any] = {}


class PolicyProgress:
    """One policy's place in the update."""

    def __init__(self, name: str, index: int) -> None:
        self.name, self.index = name, index
        self.begin()
        self.plan: List[Tuple[int, int]] = []  # epoch and minibatch of each call in the last iteration that was kept

    def begin(self) -> None:
        self.step = Step(0, 0)
        self.opened = 0  # steps that came before the present one in this iteration
        self.rows_first = False  # every minibatch begins with its rows
        self.replay: Optional[Step] = None  # the step of the latest rows
        self.told: Tuple[Optional[int], Optional[int]] = (None, None)
        self.seen = np.zeros(0, bool)  # by sample: used in this epoch
        self.updates = 0
        self.replayed = 0

    def epoch_of(self, rows: np.ndarray, known: int) -> bool:
        """Whether these rows begin an epoch, because one of them has been used in this one."""
        again = bool(self.seen[rows[rows < len(self.seen)]].any())
        if again:
            self.seen[:] = False
        self.mark(rows, known)
        return again

    def awaits(self, step: Step) -> bool:
        """Whether this is the step of the latest rows, and its report is still to come."""
        return self.rows_first and step is self.replay and "step" not in step.parts

    def mark(self, rows: np.ndarray, known: int) -> None:
        """These rows have been used in this epoch."""
        most = int(rows.max(initial=-1)) + 1
        if most > len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros(max(most, known) - len(self.seen), bool)])
        self.seen[rows] = True


class Progress:
    """The whole state: `iteration`, whether its rows are `kept`, whether it was `updated`, and the place of every policy.

    `begin` and `say` are the program's own word. Without them an iteration begins with the first rows after an update, a minibatch with
    the first part that the present one has already, and an epoch with the first row that comes again. Where a program hands over rows
    before it steps and reports, every call with rows begins a minibatch, and the next report is that minibatch's, however often
    optimisers have stepped in between.
    """

    def __init__(self, first: int, every: int) -> None:
        self.first, self.every = first, every
        self.iteration = -1
        self.kept = False
        self.updated = False
        self.ever_updated = False  # in any iteration that is over
        self.told = False  # the program says itself when an iteration begins
        self.rows = 0
        self.policies: List[PolicyProgress] = []
        self.ended: List[Tuple[int, Step]] = []  # steps that are over, by policy, and how many rows they have
        self.ended_rows = 0

    def keeps(self, iteration: int) -> bool:
        return iteration < self.first or iteration % self.every == 0

    def begin(self, iteration: Optional[int]) -> None:
        number = self.iteration + 1 if iteration is None else int(iteration)
        if number <= self.iteration:
            raise ValueError(f"iteration {number} begins after iteration {self.iteration}; iterations only rise")
        self.iteration, self.kept, self.updated, self.rows = number, self.keeps(number), False, 0
        for policy in self.policies:
            policy.begin()

    def end(self) -> None:
        """The iteration is over: no report of its steps comes any more."""
        self.ever_updated = self.ever_updated or self.updated
        for policy in self.policies:
            self.next_step(policy, 0, 0)
            policy.replay = None

    def find(self, policy: Union[str, int, None]) -> PolicyProgress:
        """The policy of this name or number, which may be left out where there is one. A new name is a new policy."""
        if policy is None and len(self.policies) == 1:
            return self.policies[0]
        names = [known.name for known in self.policies]
        if isinstance(policy, (int, np.integer)) and not isinstance(policy, bool):
            if 0 <= int(policy) < len(names):
                return self.policies[int(policy)]
            raise ValueError(f"there is no policy {policy}; watch() has named {', '.join(names) or 'none'}")
        if policy is None:
            if len(names) > 1:
                raise ValueError(f"say which policy: there are {', '.join(names)}")
            policy = "policy"
        if policy not in names:
            self.policies.append(PolicyProgress(str(policy), len(names)))
            return self.policies[-1]
        return self.policies[names.index(policy)]

    def say(self, own: PolicyProgress, epoch: Optional[int], minibatch: Optional[int]) -> None:
        own.told = (epoch, minibatch)

    def at(
        self,
        own: PolicyProgress,
        part: Any,
        epoch: Optional[int] = None,
        minibatch: Optional[int] = None,
        rows: Optional[np.ndarray] = None,
    ) -> Step:
        """The step that a part belongs to: the one that was said, else the present one, or the next where the present one has that part."""
        now, last = own.step, own.replay
        if part == "replays" and last is None:
            own.rows_first = not now.parts or own.opened > 0
        # An optimiser that steps once more is a step of its own, which rows never join.
        apart = part == "replays" and own.rows_first and bool(now.parts) and part not in now.parts
        late = last if part == "step" and last is not None and own.awaits(last) else None
        if epoch is None and minibatch is None:
            epoch, minibatch = own.told
        if epoch is None and minibatch is None:
            if late is not None:
                now = late
            elif apart or part in now.parts:
                now = self.next_step(own, now.epoch, now.minibatch + 1)
            if rows is not None and len(rows) and own.epoch_of(rows, self.rows):
                now.epoch, now.minibatch = now.epoch + 1, 0
        else:
            wanted_epoch = now.epoch if epoch is None else int(epoch)
            if minibatch is not None:
                wanted = int(minibatch)
            else:
                wanted = 0 if wanted_epoch != now.epoch else now.minibatch + (apart or part in now.parts)
            if late is not None and late.epoch == wanted_epoch and minibatch in (None, late.minibatch):
                now = late
            elif apart or wanted_epoch != now.epoch or wanted != now.minibatch:
                now = self.next_step(own, wanted_epoch, wanted)
        now.parts += (part,)
        if part == "replays":
            own.replay = now
        return now

    def next_step(self, own: PolicyProgress, epoch: int, minibatch: int) -> Step:
        own.opened += 1
        if not self.kept:
            # Nothing is gathered, and what was reported is a row already: only the place moves on.
            step = own.step
            step.epoch, step.minibatch, step.parts, step.report = epoch, minibatch, (), {}
            return step
        if own.step.parts:
            self.ended.append((own.index, own.step))
        own.step = Step(epoch, minibatch)
        return own.step

    def take_ended(self) -> List[Tuple[int, Step]]:
        """Steps that are over, in their order, as far as none of them awaits its report."""
        waits = (at for at, (policy, step) in enumerate(self.ended) if self.policies[policy].awaits(step))
        count = next(waits, len(self.ended))
        ended, self.ended, self.ended_rows = self.ended[:count], self.ended[count:], 0
        return ended
