"""CleanRL's scripts with a replay buffer (dqn, sac, td3, ddpg and what is written like them): networks and the buffer are found by CleanRL's names where the recorder is made, and
the targets are read while the loop runs. What is not there is said once, and nothing in here ends a training run."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ..recorder import Recorder
from ..trouble import warn
from .critics import Critics, Storage
from .listening import Listening, own_lines, running, safely

#: What CleanRL calls the target, the prediction, and the value that the target is made of.
TARGETS = ("td_target", "next_q_value")
PREDICTIONS = ("old_val", "qf1_a_values")
BOOTSTRAPS = ("target_max", "min_qf_next_target", "qf1_next_target")


def is_buffer(thing: Any) -> bool:
    return (
        hasattr(thing, "add") and hasattr(thing, "sample") and isinstance(getattr(thing, "rewards", None), np.ndarray)
    )


def pairs_of(local: Mapping[str, Any]) -> List[Tuple[str, Any, Any]]:
    """Networks and their targets, by name: q_network and target_network, qf1 and qf1_target, actor and target_actor."""
    found = []
    for name, module in local.items():
        if not hasattr(module, "named_parameters") or "target" in name:
            continue
        names = (f"{name}_target", f"target_{name}", "target_network" if name == "q_network" else "")
        target = next((local[own] for own in names if hasattr(local.get(own), "named_parameters")), None)
        if target is not None:
            found.append((name, module, target))
    return found


class BufferLoop:
    """One script with a replay buffer. `local` are the script's variables where it begins to be recorded."""

    def __init__(
        self, path: Any, envs: Any, optimizer: Any, args: Any, local: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        self.envs, self.args, self.local, self.listening = envs, args, local, Listening()
        self.pairs = pairs_of(local)
        critics = [pair for pair in self.pairs if "actor" not in pair[0]]
        self.single = any(name == "q_network" for name, _, _ in critics)
        own = {"seed": getattr(args, "seed", None), "algorithm": "dqn" if self.single else "actor-critic", **options}
        own["settings"] = {**self.settings(), **dict(options.get("settings") or {})}
        self.recorder = Recorder(path, gamma=getattr(args, "gamma", None), **own)
        self.optimizer = optimizer
        actor = local.get("actor") if hasattr(local.get("actor"), "named_parameters") else None
        online = [module for _, module, _ in critics]
        others = [local.get(name) for name in ("actor_optimizer",)]
        self.actor_optimizer = others[0] if hasattr(others[0], "param_groups") else None
        optimizers = [optimizer] + ([self.actor_optimizer] if self.actor_optimizer is not None else [])
        self.recorder.watch(
            policy="policy",
            actor=actor if actor is not None else online[0],
            critic=online if actor is not None else None,
            optimizer=optimizers,
        )
        for name, module, target in self.pairs:
            self.recorder.follow(target=target, online=module, name=f"{name}.")
        self.critics = Critics(
            self.recorder, self.listening, online, [target for _, _, target in critics], self.single, online
        )
        buffer = next((thing for thing in local.values() if is_buffer(thing)), None)
        self.storage: Optional[Storage] = None
        if buffer is not None and hasattr(buffer, "_get_samples") and hasattr(buffer, "buffer_size"):
            self.storage = Storage(self.recorder, self.listening, buffer)

    def settings(self) -> Dict[str, Any]:
        """CleanRL stores only terminations as ends. Its target networks are updated every so many steps of the environment, not of the optimiser."""
        args = self.args
        found: Dict[str, Any] = {
            "bootstrap": "max" if self.single else "min",
            "environments": int(getattr(self.envs, "num_envs", 1)),
        }
        tau, every = getattr(args, "tau", None), getattr(args, "target_network_frequency", None)
        if tau is not None and tau < 1:
            found["tau"] = tau
        elif every:
            found["target_update_interval"] = max(1, every // max(1, getattr(args, "train_frequency", 1)))
        entropy = self.local.get("target_entropy")
        if isinstance(entropy, (int, float)):
            found["target_entropy"] = float(entropy)
        return found

    def attach(self) -> None:
        self.recorder._listener = self.optimizer_step

        def stepping(step: Callable[..., Any]) -> Callable[..., Any]:
            def heard(*args: Any, **kwargs: Any) -> Any:
                found = step(*args, **kwargs)
                safely(self.recorder, lambda: self.environment_step(found))
                return found

            return heard

        try:
            self.listening.replace(self.envs, "step", stepping)
        except (AttributeError, TypeError):
            warn("the environments' step cannot be listened to: ends are taken from the buffer")
        self.recorder._watching._undo.append(self.listening.release)

    def environment_step(self, found: Any) -> None:
        if self.storage is None or not isinstance(found, tuple) or len(found) != 5:
            return
        ended = np.asarray(found[2], bool)
        self.storage.stepped(found[1], ended, np.asarray(found[3], bool) & ~ended)

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before a step: the loop is on the stack, with all that entered the loss."""
        if optimizer is not self.optimizer:
            push = self.critics.push() if optimizer is self.actor_optimizer else None
            if push is not None:
                self.recorder.step(policy="policy", push=push)
            return
        local = running(lambda frame: own_lines(frame) and any(name in frame.f_locals for name in TARGETS)) or {}
        target, prediction, bootstrap = (first_of(local, names) for names in (TARGETS, PREDICTIONS, BOOTSTRAPS))
        data = local.get("data")
        if target is None or prediction is None or data is None:
            raise ValueError(
                "the loop has no variables data, td_target and old_val (or next_q_value and qf1_a_values), by which a script of CleanRL's kind is read; use "
                "Recorder in its place"
            )
        columns: Dict[str, Any] = {
            "rewards": data.rewards,
            "terminated": data.dones > 0.5,
            "target": target,
            "prediction": prediction,
        }
        logp, alpha = local.get("next_state_log_pi"), local.get("alpha")
        if bootstrap is not None:
            bootstrap = bootstrap.reshape(-1)
            if logp is not None and alpha is not None:
                logp = logp.reshape(-1)
                columns.update(next_logp=logp, temperature=np.full(len(logp), float(alpha)))
                bootstrap = bootstrap + alpha * logp
            columns["bootstrap"] = bootstrap
        # The first minibatch of all begins the first iteration.
        if self.recorder.recording or self.recorder.iteration < 0:
            next_actions = local.get("next_state_actions")
            safely(self.recorder, lambda: columns.update(self.critics.columns(data, next_actions, prediction)))
            actor: Any = self.local.get("actor")
            if logp is not None and hasattr(actor, "action_scale") and hasattr(actor, "action_bias"):
                squashed = (next_actions - actor.action_bias) / actor.action_scale
                mean = lambda actor: actor(data.next_observations)[0]
                safely(self.recorder, lambda: columns.update(self.critics.drawn(squashed, actor, mean)))
            if self.storage is not None:
                columns.update(self.storage.columns(len(data.rewards), True))
        self.recorder.targets(policy="policy", **columns)
        self.recorder.step(policy="policy", loss=first_of(local, ("qf_loss", "qf1_loss", "loss")))


def first_of(local: Mapping[str, Any], names: Any) -> Any:
    return next((local[name] for name in names if local.get(name) is not None), None)
