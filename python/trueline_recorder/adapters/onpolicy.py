"""MAPPO as the repository on-policy has it, with shared or separated policies: the runner's methods are wrapped, and `ppo_update` is read while it runs. Nothing
of on-policy is imported here, and nothing in here ends a training run."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Mapping, Sequence, Union

import numpy as np

from ..arrays import to_numpy
from ..recorder import Recorder
from .cleanrl import last_matrix
from .listening import LastOutput, Listening, begun, derivative_by, running_method, safely
from .memory import MemoryTap


def onpolicy_runner(runner: Any, path: Union[str, os.PathLike[str]], **options: Any) -> Recorder:
    """Records a runner of on-policy, shared or separated, from now on; one line before `runner.run()`:

    recorder = onpolicy_runner(runner, "runs/mine")

    R_MAPPO is recorded whole. Of other trainers (HAPPO, HATRPO, MAT) rollouts are, and that is said. `options` are the Recorder's.
    """

    def make() -> Recorder:
        reader = RunnerReader(runner, path, options)
        reader.attach()
        return reader.recorder

    return begun("the runner", options, make)


class Learner:
    """One policy with its trainer, its buffer and the agents that it plays for."""

    def __init__(self, name: str, trainer: Any, buffer: Any, agents: Sequence[int], listening: Listening) -> None:
        self.name, self.trainer, self.buffer, self.agents = name, trainer, buffer, agents
        self.policy = trainer.policy
        out = getattr(getattr(self.policy.actor, "act", None), "action_out", None)
        self.whole = hasattr(trainer, "ppo_update") and hasattr(self.policy, "critic")
        # Several choices at once each have a ratio of their own: their scores and their loss are not those of one choice.
        self.single = out is not None
        self.discrete = self.single and getattr(self.policy.actor.act, "action_type", "") == "Discrete"
        self.layer = last_matrix(out) if self.single else last_matrix(self.policy.actor)
        self.head = LastOutput(self.layer if self.discrete else None, listening)
        self.memory = MemoryTap(self.policy.actor, listening)
        self.remembered: Any = None  # the states that the update entered its rows with
        self.coef: Callable[[], Any] = lambda: None  # the derivative of the loss by each log-probability
        self.asked: Any = None
        self.read = False

    def in_rewards(self, values: Any) -> np.ndarray:
        """Values in units of the rewards: what the critic gives is normalised, where there is a normaliser."""
        normaliser = getattr(self.trainer, "value_normalizer", None)
        return np.asarray(
            to_numpy(values) if normaliser is None else normaliser.denormalize(to_numpy(values)), np.float64
        )


class RunnerReader:
    def __init__(self, runner: Any, path: Any, options: Mapping[str, Any]) -> None:
        self.runner, self.listening = runner, Listening()
        count, args = int(runner.num_agents), runner.all_args
        self.separated = isinstance(runner.trainer, (list, tuple))
        names = [f"agent{place}" for place in range(count)]
        own = {"seed": getattr(args, "seed", None), "agents": names, **options}
        own["settings"] = {**settings_of_runner(args), **dict(options.get("settings") or {})}
        # Without GAE the return is the discounted sum up to what follows the rollout.
        lam = args.gae_lambda if args.use_gae else 1.0
        self.recorder = Recorder(path, gamma=args.gamma, lam=lam, **own)
        if self.separated:
            parts = zip(names, runner.trainer, runner.buffer, ([place] for place in range(count)))
        else:
            parts = zip(["policy"], [runner.trainer], [runner.buffer], [list(range(count))])
        self.learners = [Learner(*part, self.listening) for part in parts]
        self.rollout: List[Dict[str, np.ndarray]] = []

    def attach(self) -> None:
        recorder, listening, runner = self.recorder, self.listening, self.runner
        for learner in self.learners:
            if not learner.whole:
                sentence = f"{type(learner.trainer).__name__} has no ppo_update: rollouts are recorded, updates are not"
                recorder._say(("partly", sentence))
                continue
            if not learner.single:
                recorder._say(
                    (
                        "choices",
                        "several choices at once are recorded by the sum of their log-probabilities; their loss is not checked",
                    )
                )
                recorder._manifest["settings"].pop("clip", None)
            policy = learner.policy
            recorder.watch(
                policy=learner.name,
                actor=policy.actor,
                critic=policy.critic,
                head=learner.layer,
                optimizer=[policy.actor_optimizer, policy.critic_optimizer],
                agents=[recorder.agents[place] for place in learner.agents],
            )
            recorder._watching.untap(recorder._policy(learner.name).index)
            self.listen(learner)
        recorder._listener = self.optimizer_step

        def stepping(step: Callable[..., Any]) -> Callable[..., Any]:
            def heard(*args: Any, **kwargs: Any) -> Any:
                acted = [(learner.head.value, learner.memory.heard[-1:]) for learner in self.learners]
                found = step(*args, **kwargs)
                safely(recorder, lambda: self.environment_step(acted, found))
                return found

            return heard

        def computing(compute: Callable[..., Any]) -> Callable[..., Any]:
            def computed(*args: Any, **kwargs: Any) -> Any:
                found = compute(*args, **kwargs)
                safely(recorder, self.samples)
                return found

            return computed

        listening.replace(runner.envs, "step", stepping)
        listening.replace(runner, "compute", computing)
        recorder._watching._undo.append(listening.release)

    def listen(self, learner: Learner) -> None:
        def asking(evaluate: Callable[..., Any]) -> Callable[..., Any]:
            def asked(*args: Any, **kwargs: Any) -> Any:
                learner.asked = (evaluate, args, kwargs)
                learner.memory.begin()
                found = evaluate(*args, **kwargs)
                learner.remembered = learner.memory.states()
                learner.coef = derivative_by(found[1])
                return found

            return asked

        def updating(update: Callable[..., Any]) -> Callable[..., Any]:
            def updated(*args: Any, **kwargs: Any) -> Any:
                learner.read = False
                found = update(*args, **kwargs)
                safely(self.recorder, lambda: self.report(learner, found))
                return found

            return updated

        self.listening.replace(learner.policy, "evaluate_actions", asking)
        self.listening.replace(learner.trainer, "ppo_update", updating)

    def environment_step(self, acted: Sequence[Any], found: Sequence[Any]) -> None:
        """MPE gives (obs, rewards, dones, infos); StarCraft also the state and which actions are allowed, and goes on for agents that have died."""
        rewards, dones, infos = found[-4:-1] if len(found) == 6 else found[1:4]
        reward = np.asarray(rewards, np.float64).reshape(len(rewards), -1)
        done = np.broadcast_to(np.asarray(dones, bool).reshape(len(rewards), -1), reward.shape)
        if len(found) == 6:
            done = np.broadcast_to(done.all(1, keepdims=True), reward.shape)
        late = np.array([[is_late(info, place) for place in range(reward.shape[1])] for info in infos], bool)
        step: Dict[str, np.ndarray] = {"env_reward": reward, "terminated": done & ~late, "truncated": done & late}
        for place, (learner, (logits, states)) in enumerate(zip(self.learners, acted)):
            learner.memory.begin()
            if logits is not None:
                step[f"logits{place}"] = to_numpy(logits).reshape(len(rewards), len(learner.agents), -1)
            if states and states[0].shape[:2] == (1, len(rewards) * len(learner.agents)):
                step[f"state{place}"] = to_numpy(states[0]).reshape(len(rewards), len(learner.agents), -1)
        self.rollout.append(step)

    def samples(self) -> None:
        recorder = self.recorder
        recorder.begin()
        length = len(self.learners[0].buffer.rewards)
        heard, self.rollout = self.rollout[-length:], []
        for place, learner in enumerate(self.learners):
            buffer, values = learner.buffer, learner.in_rewards(learner.buffer.value_preds)
            shape = buffer.rewards.shape[:-1]
            pick = (slice(None), learner.agents[0]) if self.separated else ()

            def column(name: str, pick: Any = pick) -> np.ndarray:
                return np.stack([step[name][pick] for step in heard])

            columns: Dict[str, Any] = {
                "old_logp": buffer.action_log_probs.sum(-1),
                "reward": buffer.rewards.reshape(shape),
                "value": values[:-1].reshape(shape),
                "return_": buffer.returns[:-1].reshape(shape),
                "advantage": (buffer.returns[:-1] - values[:-1]).reshape(shape),
                **{name: column(name) for name in ("env_reward", "terminated", "truncated")},
            }
            # After a time limit the runner sees the first state of the next episode, which is not what followed.
            # Without GAE only the returns hold what follows the rollout.
            last = values[-1] if self.runner.all_args.use_gae else np.asarray(buffer.returns[-1], np.float64)
            columns["next_value"] = np.where(columns["truncated"][-1], np.nan, last.reshape(shape[1:]))
            if self.separated:
                columns["agent"] = recorder.agents[learner.agents[0]]
            if learner.discrete:
                columns["action"] = buffer.actions.reshape(shape)
                if f"logits{place}" in heard[0]:
                    logits = np.stack([step[f"logits{place}"] for step in heard]).reshape(*shape, -1)
                    columns.update(logits=logits, num_actions=logits.shape[-1])
                allowed = getattr(buffer, "available_actions", None)
                if allowed is not None and not np.all(allowed[:-1]):
                    columns["legal"] = allowed[:-1] > 0.5
            if all(f"state{place}" in step for step in heard):
                columns["state_in"] = np.stack([step[f"state{place}"] for step in heard]).reshape(*shape, -1)
            if buffer.obs[0].size // buffer.obs[0][..., 0].size <= 1024:
                columns["obs"] = buffer.obs[:-1].reshape(*shape, -1)
            recorder.samples(**columns)

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step: `ppo_update` is on the stack, with all that entered the loss."""
        for learner in self.learners:
            if optimizer is getattr(learner.policy, "actor_optimizer", None) and not learner.read:
                local = running_method("ppo_update", learner.trainer)
                if local is not None:
                    learner.read = True
                    self.minibatch(learner, local)

    def minibatch(self, learner: Learner, local: Mapping[str, Any]) -> None:
        fresh = local["action_log_probs"]
        rows = len(fresh)

        def column(name: str) -> Any:
            value = local.get(name)
            return value if value is None or len(value) != rows else value.reshape(rows, -1).sum(-1)

        columns = {
            "new_logp": column("action_log_probs"),
            "old_logp": column("old_action_log_probs_batch"),
            "advantage": column("adv_targ"),
            "value": learner.in_rewards(local["values"]).reshape(-1) if "values" in local else None,
            "return_": column("return_batch"),
        }
        coef = learner.coef()
        if coef is not None and coef.numel() == rows:
            columns["coef"] = coef.reshape(-1)
        if getattr(learner.trainer, "_use_policy_active_masks", False):
            columns["weight"] = column("active_masks_batch")
        again = None
        if self.recorder.recording:
            logits = learner.head.of(rows)
            if logits is not None:
                columns["logits"] = logits
            allowed = local.get("available_actions_batch")
            if learner.discrete and allowed is not None and not np.all(to_numpy(allowed)):
                columns["legal"] = to_numpy(allowed) > 0.5
            columns.update(obs=local.get("obs_batch"), action=column("actions_batch") if learner.discrete else None)
            states = learner.remembered
            if states is not None and states[..., 0].size == rows:
                # Step by step over all sequences, as on-policy lays its minibatches out.
                columns.update(
                    state_in=states.reshape(rows, -1), sequence=np.tile(np.arange(states.shape[1]), len(states))
                )
            again = self.again(learner)
        columns = {name: value for name, value in columns.items() if value is not None}
        self.recorder.replays(policy=learner.name, again=again, **columns)

    def again(self, learner: Learner) -> Any:
        if learner.asked is None:
            return None
        evaluate, args, kwargs = learner.asked

        def ask() -> Any:
            found = evaluate(*args, **kwargs)[1]
            return found.reshape(len(found), -1).sum(-1)

        return lambda: learner.head.look(ask)

    def report(self, learner: Learner, found: Any) -> None:
        value_loss, _, policy_loss, entropy = found[:4]
        told = {
            "value_loss": value_loss,
            "entropy": entropy,
            **({"policy_loss": policy_loss} if learner.single else {}),
        }
        self.recorder.step(policy=learner.name, **told)


def is_late(info: Any, place: int) -> bool:
    """StarCraft says of every agent whether the time limit ended the battle."""
    own = info[place] if isinstance(info, (list, tuple, np.ndarray)) and place < len(info) else info
    return bool(own.get("bad_transition", False)) if isinstance(own, Mapping) else False


def settings_of_runner(args: Any) -> Dict[str, Any]:
    """on-policy's settings as a recording has them. An end is an end to it, whatever ended the episode, and declared so: a remark, no fault."""
    names = {
        "clip": "clip_param",
        "epochs": "ppo_epoch",
        "minibatches": "num_mini_batch",
        "entropy_coefficient": "entropy_coef",
    }
    found = {name: getattr(args, own) for name, own in names.items() if hasattr(args, own)}
    if getattr(args, "use_max_grad_norm", False):
        found["max_grad_norm"] = args.max_grad_norm
    if getattr(args, "use_popart", False) or getattr(args, "use_valuenorm", False):
        found["value_normalisation"] = "popart" if getattr(args, "use_popart", False) else "running"
    return {"truncation_bootstraps": False, "advantage_normalisation": "batch", **found}
