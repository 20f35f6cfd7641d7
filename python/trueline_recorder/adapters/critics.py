"""What the critics of a program with a replay buffer give, asked and heard beside the program: the values of the next state by the target networks and by the online ones, the
prediction once more, and the derivative of the loss by every prediction. The one thing to get wrong: a pass of our own must leave no trace, and none is made where it would."""

from __future__ import annotations

import sys
import zlib
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from ..arrays import to_numpy
from .listening import LastOutput, Listening, halves, keeps_statistics, safely


class Critics:
    """Online networks and their targets. With `choices` a network gives one number per choice, otherwise one for the state and the action that it is given.
    `heard` are the modules whose outputs enter losses, the first of them that of `prediction`."""

    def __init__(
        self,
        recorder: Any,
        listening: Listening,
        online: Sequence[Any],
        targets: Sequence[Any],
        choices: bool,
        heard: Sequence[Any],
    ) -> None:
        self.recorder, self.online, self.targets = recorder, list(online), list(targets)
        self.choices, self.heard = choices, list(heard)
        self.quiet = False
        self.gaussians = LastOutput(None, listening)
        if not choices:
            self.gaussians.hear_gaussians(listening)
        self.passes: List[Dict[str, Any]] = []
        for module in self.heard:
            listening.undo.append(module.register_forward_hook(self.hear).remove)

    def hear(self, module: Any, inputs: Any, output: Any) -> None:
        """Every output that will be differentiated, with its derivative once it is known."""
        kept = self.recorder.recording or self.recorder.iteration < 0
        if self.quiet or not kept or not getattr(output, "requires_grad", False):
            return
        one: Dict[str, Any] = {"value": output.detach(), "coef": None, "module": module}

        def differentiated(gradient: Any) -> None:
            one["coef"] = gradient.detach()

        safely(self.recorder, lambda: output.register_hook(differentiated))
        self.passes = [*self.passes[-7:], one]

    def quietly(self, modules: Sequence[Any], ask: Callable[[Any], Any]) -> Optional[np.ndarray]:
        """What each of the networks answers, side by side; None where asking would leave a trace."""
        torch = sys.modules["torch"]
        if any(keeps_statistics(module) or draws(module) for module in modules):
            return None
        self.quiet = True
        try:
            with torch.no_grad(), torch.random.fork_rng():
                found: List[Any] = []
                for module in modules:
                    given = ask(module)
                    found += list(given) if isinstance(given, (list, tuple)) else [given]
                return to_numpy(torch.cat([part.reshape(len(part), -1) for part in found], 1))
        finally:
            self.quiet = False

    def asked(self, modules: Sequence[Any], *inputs: Any) -> Optional[np.ndarray]:
        return self.quietly(modules, lambda module: module(*inputs))

    def columns(self, data: Any, next_actions: Any, prediction: Any) -> Dict[str, np.ndarray]:
        """Of one minibatch: next_values, next_online, prediction_again and coef, as far as they can be had."""
        wanted = to_numpy(prediction).reshape(-1)
        found: Dict[str, Optional[np.ndarray]] = {"coef": self.coef(wanted)}
        self.passes = []
        if self.choices or next_actions is not None:
            given = [data.next_observations] if self.choices else [data.next_observations, next_actions]
            found["next_values"] = self.asked(self.targets, *given)
            found["next_online"] = self.asked(self.online, *given)
        own = [data.observations] if self.choices else [data.observations, data.actions]
        again = self.asked(self.online[:1], *own)
        if again is not None and len(again) == len(wanted):
            taken = to_numpy(data.actions).reshape(len(wanted), -1)[:, :1].astype(np.int64)
            found["prediction_again"] = np.take_along_axis(again, taken, 1)[:, 0] if self.choices else again[:, 0]
        return {name: column for name, column in found.items() if column is not None}

    def drawn(self, action: Any, actor: Any, mean: Callable[[Any], Any]) -> Dict[str, np.ndarray]:
        """What the next action was drawn from, and the action between -1 and 1, where it is a squashed Gaussian's; and `mean` of the actor for the stored next observation."""
        rows = len(action)
        gaussians = self.gaussians.of(rows)
        if gaussians is None or gaussians.shape[-1] != 2 * action.reshape(rows, -1).shape[-1]:
            return {}
        found, again = halves(gaussians), self.quietly([actor], mean)
        return {
            "next_mean": found["mean"],
            "next_log_std": found["log_std"],
            "next_action": to_numpy(action).reshape(rows, -1),
            **({} if again is None else {"next_mean_again": again}),
        }

    def coef(self, wanted: np.ndarray) -> Optional[np.ndarray]:
        """The derivative of the loss by each of these predictions; of several choices only the one that was taken has one."""
        for one in reversed(self.passes):
            if one["coef"] is None or one["module"] is not self.heard[0] or len(one["value"]) != len(wanted):
                continue
            if self.choices or np.array_equal(to_numpy(one["value"]).reshape(-1), wanted):
                return to_numpy(one["coef"]).reshape(len(wanted), -1).sum(1)
        return None

    def push(self) -> Optional[float]:
        """The derivative of the actor's loss by the values of its own actions, added up: -1 where their mean is to rise."""
        found = [to_numpy(one["coef"]) for one in self.passes if one["coef"] is not None]
        self.passes = []
        return float(sum(part.sum() for part in found)) if found else None


def draws(module: Any) -> bool:
    """Whether two passes would differ, as with dropout."""
    return any(type(part).__name__.endswith("Dropout") and part.training for part in module.modules())


class Storage:
    """What the environment gave, by the place where the buffer keeps it, and which places a minibatch was drawn from."""

    def __init__(self, recorder: Any, listening: Listening, buffer: Any) -> None:
        self.buffer = buffer
        self.envs = int(getattr(buffer, "n_envs", 1))
        self.given = np.full((int(buffer.buffer_size), self.envs, 3), np.nan, np.float32)
        self.places: Optional[np.ndarray] = None
        self.latest: Optional[np.ndarray] = None

        def adding(add: Callable[..., Any]) -> Callable[..., Any]:
            def added(*args: Any, **kwargs: Any) -> Any:
                if self.latest is not None:
                    self.given[int(buffer.pos)] = self.latest
                return add(*args, **kwargs)

            return added

        def drawing(draw: Callable[..., Any]) -> Callable[..., Any]:
            def drawn(batch_inds: Any, *args: Any, **kwargs: Any) -> Any:
                state = np.random.get_state() if self.envs > 1 else None
                safely(recorder, lambda: self.drawn(np.array(batch_inds), state))
                return draw(batch_inds, *args, **kwargs)

            return drawn

        listening.replace(buffer, "add", adding)
        listening.replace(buffer, "_get_samples", drawing)

    def drawn(self, steps: np.ndarray, state: Any) -> None:
        """Steps, and environments: the buffer draws the environment next, from the same stream."""
        env = np.zeros_like(steps)
        if state is not None:
            own = np.random.RandomState()
            own.set_state(state)
            env = own.randint(0, high=self.envs, size=len(steps))
        self.places = np.stack([steps, env])

    def stepped(self, reward: Any, terminated: Any, truncated: Any) -> None:
        """What one step of the environments gave, before it is stored."""
        given = np.stack([np.asarray(part, np.float32).reshape(-1) for part in (reward, terminated, truncated)], 1)
        self.latest = given if len(given) == self.envs else None

    def columns(self, rows: int, rewarded: bool) -> Dict[str, np.ndarray]:
        """Of the minibatch that was drawn last: where it lies, what the environment gave there (its rewards with `rewarded`), and what tells observations apart."""
        places, self.places = self.places, None
        if places is None or places.shape[1] != rows:
            return {}
        found: Dict[str, np.ndarray] = {"sample": places[0] * self.envs + places[1]}
        known = self.given[places[0], places[1]]
        if not np.isnan(known).any():
            found.update(terminated=known[:, 1] > 0.5, truncated=known[:, 2] > 0.5)
            if rewarded:
                found["env_reward"] = known[:, 0]
        for name, own in (("obs_hash", "observations"), ("next_hash", "next_observations")):
            stored = getattr(self.buffer, own, None)
            if isinstance(stored, np.ndarray) and not getattr(self.buffer, "optimize_memory_usage", False):
                found[name] = np.array([zlib.crc32(stored[step, env].tobytes()) for step, env in places.T])
        return found
