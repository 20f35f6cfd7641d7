"""Stable-Baselines3's algorithms with a replay buffer: the targets of DQN, SAC, TD3 and DDPG, read from `train` while it runs. What another algorithm calls otherwise is
said once and left out. Time limits are taken out of `dones` by the buffer already, so what is recorded as terminated is a termination."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from .listening import running_method
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
        found: Dict[str, Any] = {}
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
        return found

    def attach(self) -> None:
        """Nothing is said: targets, episodes and readings are all recorded."""

    def rollout_start(self) -> None:
        self.readings()

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step of the critic: `train` is on the stack, with all that entered the loss."""
        if optimizer is not self.optimizer or self.missing:
            return
        local = running_method("train", self.model)
        if local is None or any(local.get(name) is None for name in NEEDED):
            self.missing = True
            self.recorder._say(("partly", self.sentence.format(type(self.model).__name__)))
            return
        data, bootstrap, predictions = local["replay_data"], local["next_q_values"], local["current_q_values"]
        columns: Dict[str, Any] = {
            "rewards": data.rewards,
            "terminated": data.dones > 0.5,
            "target": local["target_q_values"],
            "prediction": predictions[0] if isinstance(predictions, (list, tuple)) else predictions,
        }
        if getattr(data, "discounts", None) is not None:
            columns["discount"] = data.discounts
        logp, temperature = local.get("next_log_prob"), local.get("ent_coef")
        if logp is not None and temperature is not None:
            logp = logp.reshape(bootstrap.shape)
            bootstrap = bootstrap + temperature * logp
            columns.update(next_logp=logp, temperature=temperature.reshape(-1)[:1].expand(logp.numel()))
        self.recorder.targets(policy="policy", bootstrap=bootstrap, **columns)
        self.recorder.step(policy="policy", loss=local.get("loss", local.get("critic_loss")))


def has_targets(model: Any) -> bool:
    names = {kind.__name__ for kind in type(model).__mro__}
    return bool(names & {"DQN", "SAC", "TD3"}) and hasattr(model, "replay_buffer")
