"""Stable-Baselines3's algorithms with a replay buffer: the targets of DQN, SAC, TD3 and DDPG, read from `train` while it runs, beside what the networks themselves give. What
another algorithm calls otherwise is said once and left out."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import numpy as np

from .critics import Critics, Storage
from .listening import running_method, safely
from .sb3_readers import Reader

#: Variables of `train` without which no target can be recorded.
NEEDED = ("replay_data", "target_q_values", "next_q_values", "current_q_values")


class BufferReader(Reader):
    """DQN, SAC, TD3 and their subclasses."""

    def __init__(self, model: Any, path: Any, options: Mapping[str, Any]) -> None:
        super().__init__(model, path, options)
        self.single = hasattr(model, "q_net")
        self.optimizer = model.policy.optimizer if self.single else model.critic.optimizer
        self.missing = False
        self.critics: Optional[Critics] = None
        self.storage: Optional[Storage] = None
        if self.single:
            self.recorder.watch(policy="policy", actor=model.q_net, optimizer=self.optimizer)
            self.recorder.follow(target=model.q_net_target, online=model.q_net)
        else:
            optimizers = [model.actor.optimizer, model.critic.optimizer]
            self.recorder.watch(policy="policy", actor=model.actor, critic=model.critic, optimizer=optimizers)
            self.recorder.follow(target=model.critic_target, online=model.critic)
            if hasattr(model, "actor_target"):
                self.recorder.follow(target=model.actor_target, online=model.actor, name="actor.")
        self.recorder._listener = self.optimizer_step

    def settings(self) -> Dict[str, Any]:
        model = self.model
        found: Dict[str, Any] = {
            "bootstrap": "max" if hasattr(model, "q_net") else "min",
            "environments": int(model.n_envs),
        }
        tau = getattr(model, "tau", None)
        if tau is not None and tau < 1:
            found["tau"] = tau
        entropy = getattr(model, "target_entropy", None)
        if isinstance(entropy, (int, float)):
            found["target_entropy"] = float(entropy)
        every, steps = getattr(model.train_freq, "frequency", None), model.gradient_steps
        if hasattr(model, "q_net") and "tau" not in found and every and steps > 0:
            calls = max(1, model.target_update_interval // model.n_envs)
            found["target_update_interval"] = max(1, round(calls * steps / every))
        if getattr(model.replay_buffer, "handle_timeout_termination", True) is False:
            found["truncation_bootstraps"] = False
        return found

    def attach(self) -> None:
        """Nothing is said: targets, episodes and readings are all recorded."""
        model, listening = self.model, self.listening
        online, target = (model.q_net, model.q_net_target) if self.single else (model.critic, model.critic_target)
        heard = [online] if self.single else list(online.q_networks)
        self.critics = Critics(self.recorder, listening, [online], [target], self.single, heard)
        # Buffers that make up rows (goals seen afterwards, several steps in one) hold what no step of the environment gave.
        if type(model.replay_buffer).__name__ == "ReplayBuffer":
            self.storage = Storage(self.recorder, listening, model.replay_buffer)

    def rollout_start(self) -> None:
        self.readings()

    def environment_step(self, local: Mapping[str, Any]) -> None:
        super().environment_step(local)
        if self.storage is not None and local.get("dones") is not None:
            done = np.array(local["dones"], bool)
            late = np.array([bool(info.get("TimeLimit.truncated", False)) for info in local["infos"]]) & done
            self.storage.stepped(local["rewards"], done & ~late, late)

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step of the critic: `train` is on the stack, with all that entered the loss."""
        if self.missing:
            return
        if optimizer is not self.optimizer:
            push = self.critics.push() if self.critics and optimizer is self.model.actor.optimizer else None
            if push is not None:
                self.recorder.step(policy="policy", push=push)
            return
        local = running_method("train", self.model)
        if local is None or any(local.get(name) is None for name in NEEDED):
            self.missing = True
            self.recorder._say(("partly", self.sentence.format(type(self.model).__name__)))
            return
        data, bootstrap, predictions = local["replay_data"], local["next_q_values"], local["current_q_values"]
        prediction = predictions[0] if isinstance(predictions, (list, tuple)) else predictions
        columns: Dict[str, Any] = {
            "rewards": data.rewards,
            "terminated": data.dones > 0.5,
            "target": local["target_q_values"],
            "prediction": prediction,
        }
        if getattr(data, "discounts", None) is not None:
            columns["discount"] = data.discounts
        logp, temperature = local.get("next_log_prob"), local.get("ent_coef")
        if logp is not None and temperature is not None:
            logp = logp.reshape(-1)
            bootstrap = bootstrap.reshape(-1) + temperature * logp
            columns.update(next_logp=logp, temperature=temperature.reshape(-1)[:1].expand(logp.numel()))
        # The first minibatch of all begins the first iteration.
        if self.recorder.recording or self.recorder.iteration < 0:
            safely(self.recorder, lambda: columns.update(self.beside(local, data, prediction)))
        self.recorder.targets(policy="policy", bootstrap=bootstrap, **columns)
        self.recorder.step(policy="policy", loss=local.get("loss", local.get("critic_loss")))

    def beside(self, local: Mapping[str, Any], data: Any, prediction: Any) -> Dict[str, Any]:
        """What the networks and the environment themselves say about the rows of a minibatch."""
        found: Dict[str, Any] = {}
        if self.critics is not None:
            found.update(self.critics.columns(data, local.get("next_actions"), prediction))
            if local.get("next_log_prob") is not None and local.get("next_actions") is not None:
                follows = data.next_observations
                mean = lambda actor: actor.get_action_dist_params(follows)[0]
                found.update(self.critics.drawn(local["next_actions"], self.model.actor, mean))
        if self.storage is not None:
            plain = getattr(self.model, "_vec_normalize_env", None) is None
            found.update(self.storage.columns(len(data.rewards), plain))
        return found


def has_targets(model: Any) -> bool:
    names = {kind.__name__ for kind in type(model).__mro__}
    return bool(names & {"DQN", "SAC", "TD3"}) and hasattr(model, "replay_buffer")
