"""Reads models of Stable-Baselines3 and sb3-contrib while they learn. What an algorithm has not got (a rollout buffer, a ratio, a step of the
optimiser) is said once and left out. Rows are in the order in which the buffer hands them out: environment by environment."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from ..arrays import to_numpy
from ..recorder import Recorder
from .listening import LastOutput, Listening, derivative_by, described, halves, keeps_statistics, running_method
from .memory import MemoryTap
from .sb3_tensors import plain_inputs, tensors_of


class Reader:
    """What every algorithm has: episodes, and the figures that it logs itself."""

    #: What is said of an algorithm that is recorded in part.
    sentence = "{} does not learn from rollouts: episodes and its own readings are recorded, rows and updates are not"

    def __init__(self, model: Any, path: Any, options: Mapping[str, Any]) -> None:
        self.model = model
        own = {"algorithm": type(model).__name__.lower(), "seed": getattr(model, "seed", None), **options}
        own["settings"] = {**self.settings(), **dict(options.get("settings") or {})}
        self.recorder = Recorder(
            path, gamma=getattr(model, "gamma", None), lam=getattr(model, "gae_lambda", None), **own
        )
        self.listening = Listening()
        self.logged: Dict[str, Any] = {}

    def settings(self) -> Dict[str, Any]:
        return {}

    def attach(self) -> None:
        self.recorder._say(("partly", self.sentence.format(type(self.model).__name__)))

    def rollout_start(self) -> None:
        self.readings()
        self.recorder.begin()

    def environment_step(self, local: Mapping[str, Any]) -> None:
        for info in local.get("infos") or ():
            if "episode" in info:
                self.recorder.episodes(return_=float(info["episode"]["r"]), length=int(info["episode"]["l"]))

    def rollout_end(self, local: Mapping[str, Any]) -> None:
        pass

    def readings(self) -> None:
        """The figures that `train` has logged since they were last looked at."""
        if not self.recorder.recording:
            return
        values = dict(getattr(getattr(self.model, "logger", None), "name_to_value", {}))
        for name, value in values.items():
            if (
                name.startswith("train/")
                and isinstance(value, (int, float, np.number))
                and self.logged.get(name) is not value
            ):
                self.recorder.scalar(name, value, step=float(self.model.num_timesteps))
        self.logged = values

    def end(self) -> None:
        self.readings()
        self.listening.release()
        self.recorder._end_iteration()
        self.recorder.flush()
        self.recorder._write_manifest()


class RolloutReader(Reader):
    """Algorithms with a rollout buffer, which `train` turns into minibatches."""

    sentence = "{} changes its policy outside its optimiser: rollouts are recorded, updates are not"

    def __init__(self, model: Any, path: Any, options: Mapping[str, Any]) -> None:
        self.discrete = type(model.action_space).__name__ == "Discrete"
        self.continuous = type(model.action_space).__name__ == "Box"
        # Of a MultiDiscrete space; masks of several choices are not recorded, and without them nor are the scores.
        several = None if "Maskable" in type(model).__name__ else getattr(model.action_space, "nvec", None)
        self.choices = None if several is None else np.array(several).reshape(-1)
        super().__init__(model, path, options)
        # A trust region is searched by line, and the optimiser only moves the critic.
        self.updates = not hasattr(model, "line_search_max_iter")
        if self.updates:
            self.recorder.watch(
                policy="policy", tensors=lambda: tensors_of(model.policy), optimizer=model.policy.optimizer
            )
            self.recorder._listener = self.optimizer_step
        self.evaluate: Callable[..., Any] = model.policy.evaluate_actions
        self.head: Optional[LastOutput] = None
        self.acted: Any = None  # what the last layer gave for the actions of this step
        self.rows: Any = None
        self.evaluated: Any = None
        self.rollout: List[Dict[str, np.ndarray]] = []
        self.last_values: Any = None
        self.memory = MemoryTap(None, self.listening)
        # The states that acting entered this step with, or the update its rows.
        self.remembered: Optional[np.ndarray] = None
        self.coef: Callable[[], Any] = lambda: None  # the derivative of the loss by each log-probability
        self.saw: Optional[np.ndarray] = None  # the observations that acting had in this step
        self.seen: Optional[np.ndarray] = None  # and in all of the rollout

    def settings(self) -> Dict[str, Any]:
        model = self.model
        rows = int(model.n_steps) * int(model.n_envs)
        size = getattr(model, "batch_size", None)
        known = {
            "clip": now(getattr(model, "clip_range", None), model),
            "epochs": getattr(model, "n_epochs", 1),
            "minibatches": -(-rows // int(size)) if size else 1,
            "entropy_coefficient": getattr(model, "ent_coef", None),
            "value_coefficient": getattr(model, "vf_coef", None),
            "max_grad_norm": getattr(model, "max_grad_norm", None),
            "target_kl": getattr(model, "target_kl", None),
            "advantage_normalisation": "minibatch" if getattr(model, "normalize_advantage", True) else "none",
            "value_clip": now(getattr(model, "clip_range_vf", None), model),
        }
        optional = ("clip", "entropy_coefficient", "value_coefficient", "max_grad_norm")
        return {name: value for name, value in known.items() if value is not None or name not in optional}

    def attach(self) -> None:
        if not self.updates:
            super().attach()
        policy, buffer = self.model.policy, self.model.rollout_buffer
        self.evaluate = policy.evaluate_actions
        scored = (self.discrete or self.choices is not None) and hasattr(policy, "action_net")
        self.head = LastOutput(policy.action_net if scored else None, self.listening)
        if self.continuous:
            self.head.hear_gaussians(self.listening)
        self.memory = MemoryTap(getattr(policy, "lstm_actor", None), self.listening)

        def evaluating(evaluate: Callable[..., Any]) -> Callable[..., Any]:
            def evaluate_actions(*args: Any, **kwargs: Any) -> Any:
                self.memory.begin()
                result = evaluate(*args, **kwargs)
                self.remembered = self.memory.states()
                self.evaluated = (args, kwargs, result, self.heard)
                self.coef = derivative_by(result[1])
                return result

            return evaluate_actions

        def acting(forward: Callable[..., Any]) -> Callable[..., Any]:
            def act(*args: Any, **kwargs: Any) -> Any:
                # Evaluation runs of other callbacks do not come this way.
                self.memory.begin()
                result = forward(*args, **kwargs)
                self.acted, self.remembered, self.saw = self.heard, self.memory.states(), plain_inputs(args[0])
                return result

            return act

        def taking(taken: Callable[..., Any]) -> Callable[..., Any]:
            def get_samples(batch_inds: Any, *args: Any, **kwargs: Any) -> Any:
                self.rows = np.array(batch_inds)
                return taken(batch_inds, *args, **kwargs)

            return get_samples

        self.listening.replace(policy, "evaluate_actions", evaluating)
        self.listening.replace(policy, "forward", acting)
        self.listening.replace(buffer, "_get_samples", taking)
        self.listening.hear_norms()

    @property
    def heard(self) -> Any:
        return None if self.head is None else self.head.value

    def rollout_start(self) -> None:
        self.ended_early()
        if not self.updates:
            self.readings()
        self.recorder.begin()
        self.rollout = []

    def environment_step(self, local: Mapping[str, Any]) -> None:
        done = np.array(local["dones"], bool)
        infos = local["infos"]
        late = np.array([bool(info.get("TimeLimit.truncated", False)) for info in infos]) & done
        step = {"reward": np.array(local["rewards"], np.float64), "terminated": done & ~late, "truncated": late}
        if self.recorder.recording:
            if self.acted is not None:
                step["logits"] = to_numpy(self.acted)
            if self.continuous and local.get("clipped_actions") is not None:
                step["env_action"] = np.array(local["clipped_actions"])
            if self.remembered is not None and self.remembered.shape[:2] == (1, len(infos)):
                step["state_in"] = self.remembered[0]
            if self.saw is not None and len(self.saw) == len(infos):
                step["obs"] = self.saw
            step["next_value"] = self.beyond(infos, late, local.get("lstm_states"))
            if self.discrete and local.get("action_masks") is not None:
                step["legal"] = np.asarray(local["action_masks"]).reshape(len(infos), -1) > 0.5
        self.rollout.append(step)
        self.last_values = local.get("values")
        super().environment_step(local)

    def beyond(self, infos: Sequence[Mapping[str, Any]], late: np.ndarray, states: Any) -> np.ndarray:
        """What the critic expects after a time limit, asked here: what the model made of it is what shall be checked."""
        follows = np.full(len(infos), np.nan)
        torch, policy = sys.modules["torch"], self.model.policy
        for place in np.flatnonzero(late).tolist():
            final = infos[place].get("terminal_observation")
            if final is None:
                continue
            more = []
            if states is not None:
                memory = tuple(state[:, place : place + 1].contiguous() for state in states.vf)
                more = [memory, torch.zeros(1, device=memory[0].device)]
            with torch.no_grad():
                follows[place] = float(policy.predict_values(policy.obs_to_tensor(final)[0], *more))
        return follows

    def rollout_end(self, local: Mapping[str, Any]) -> None:
        buffer, model = self.model.rollout_buffer, self.model
        taken = {name: np.stack([step[name] for step in self.rollout]) for name in self.rollout[0]}
        self.rollout = []

        def rows(array: np.ndarray) -> np.ndarray:
            """The buffer's own flattening: all steps of the first environment, then of the next."""
            return np.swapaxes(array, 0, 1).reshape((-1, *array.shape[2:]))

        steps, envs = buffer.log_probs.shape[:2]
        columns: Dict[str, Any] = {
            "old_logp": rows(buffer.log_probs),
            "env": np.repeat(np.arange(envs), steps),
            "reward": rows(taken["reward"]),
            "terminated": rows(taken["terminated"]),
            "truncated": rows(taken["truncated"]),
        }
        if self.recorder.recording:
            follows, late = taken["next_value"], taken["truncated"]
            final = local.get("values")
            if final is not None and final is not self.last_values:
                follows[-1] = np.where(late[-1], follows[-1], to_numpy(final).reshape(-1))
            columns.update(
                value=rows(buffer.values),
                advantage=rows(buffer.advantages),
                return_=rows(buffer.returns),
                next_value=rows(follows),
            )
            if "state_in" in taken:
                columns["state_in"] = rows(taken["state_in"])
                columns["starts"] = rows(np.asarray(buffer.episode_starts)) > 0.5
            if self.discrete:
                count = int(model.action_space.n)
                columns.update(action=rows(buffer.actions).reshape(-1), num_actions=count)
                if "legal" in taken:
                    columns["legal"] = rows(taken["legal"])
            if not self.continuous and "logits" in taken:
                columns.update(described(rows(taken["logits"]), self.choices))
            if self.choices is not None:
                columns.update(action_values=rows(buffer.actions), distribution="categoricals")
            if self.continuous and "logits" in taken:
                squashed = bool(getattr(model.policy, "squash_output", False))
                drawn = rows(buffer.actions).reshape(steps * envs, -1)
                # What is stored went through tanh already.
                drawn = np.arctanh(np.clip(drawn.astype(np.float64), -1 + 1e-7, 1 - 1e-7)) if squashed else drawn
                columns.update(halves(rows(taken["logits"])), action_values=drawn)
                columns["distribution"] = "squashed-gaussian" if squashed else "gaussian"
                if "env_action" in taken:
                    columns["env_action"] = rows(taken["env_action"]).reshape(steps * envs, -1)
            self.seen = rows(taken["obs"]) if "obs" in taken else None
            if self.seen is not None:
                columns["obs"] = self.seen
        self.recorder.samples(**columns)

    def end(self) -> None:
        self.ended_early()
        super().end()

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step: `train` is on the stack, with all that entered the loss."""
        local = running_method("train", self.model)
        if local is None or self.evaluated is None:
            return
        self.minibatch(local)
        report: Dict[str, Any] = {
            name: local.get(name) for name in ("loss", "policy_loss", "value_loss", "clip_fraction")
        }
        report["approx_kl"] = local.get("approx_kl_div")
        report["clip"] = local.get("clip_range")
        report["grad_norm"] = self.listening.norm
        if local.get("entropy_loss") is not None:
            report["entropy"] = -local["entropy_loss"]
        self.recorder.step(policy="policy", stopped=False, **report)
        self.evaluated = None

    def minibatch(self, local: Mapping[str, Any]) -> None:
        args, kwargs, (values, log_prob, entropy), logits = self.evaluated
        data = local.get("rollout_data")
        masks = kwargs.get("action_masks")
        columns = {
            "new_logp": local.get("log_prob", log_prob),
            "value": values.flatten(),
            "entropy": entropy,
            "advantage": local.get("advantages"),
            "return_": getattr(data, "returns", None),
            "coef": self.coef(),
        }
        seen = plain_inputs(args[0])
        if hasattr(self.model, "clip_range"):
            columns["old_logp"] = getattr(data, "old_log_prob", None)
        used = getattr(data, "mask", None)
        if not self.recorder.recording:
            columns = {"new_logp": 0.0}
        elif not self.continuous and logits is not None:
            columns.update(described(logits, self.choices))
            if masks is not None:
                columns["legal"] = to_numpy(masks).reshape(tuple(logits.shape)) > 0.5
        elif self.continuous and logits is not None:
            columns.update(halves(logits))
        if self.recorder.recording and self.remembered is not None and len(values) == self.remembered[..., 0].size:
            # Sequence by sequence, each from its first step to its last.
            steps, sequences, width = self.remembered.shape
            columns["state_in"] = np.swapaxes(self.remembered, 0, 1).reshape(-1, width)
            columns["sequence"] = np.repeat(np.arange(sequences), steps)
        if used is not None and self.recorder.recording:
            real = to_numpy(used) > 0.5  # sequences are padded to one length; rows that only pad were in no loss
            columns = {name: None if value is None else to_numpy(value)[real] for name, value in columns.items()}
        if self.recorder.recording and seen is not None:
            seen = seen if used is None else seen[to_numpy(used) > 0.5]
            # What acting saw is recorded already.
            own = None if self.seen is None or len(seen) != len(self.rows) else self.seen[self.rows]
            if own is not None and own.shape == seen.shape and not np.array_equal(own, seen):
                columns["obs"] = seen
        again = None
        heard = self.head
        if self.recorder.recording and used is None and heard and not keeps_statistics(self.model.policy):

            def again() -> Any:
                found = heard.look(lambda: self.evaluate(*args, **kwargs)[1])
                return found if self.discrete or not isinstance(found, tuple) else found[0]

        self.recorder.replays(policy="policy", epoch=local.get("epoch"), sample=self.rows, again=again, **columns)

    def ended_early(self) -> None:
        """A minibatch that was looked at and not used is where the KL limit ended the update: at the step before it."""
        if self.updates and self.evaluated is not None:
            report = self.recorder._progress.policies[0].step.report
            if report:
                report["stopped"] = True
        self.evaluated = None


def now(schedule: Any, model: Any) -> Any:
    return schedule(getattr(model, "_current_progress_remaining", 1.0)) if callable(schedule) else schedule
