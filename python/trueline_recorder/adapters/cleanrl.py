"""Loops in the manner of CleanRL: one script, whose variables have CleanRL's names. They are read while the loop runs; what is not there is said once, and
nothing in here ends a training run."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ..arrays import to_numpy
from ..logits import AGREEING, agreement
from ..recorder import Recorder
from ..trouble import warn
from .cleanrl_buffers import BufferLoop, is_buffer, pairs_of
from .listening import LastOutput, Listening, begun, derivative_by, halves, keeps_statistics, own_lines, running, safely
from .memory import MemoryTap

#: Variables of the loop without which no row can be recorded.
ROLLOUT = ("logprobs", "rewards", "values", "advantages", "returns", "dones", "next_done")
MINIBATCH = ("mb_inds", "newlogprob", "logratio")
#: What CleanRL calls the settings of a recording.
SETTINGS = {
    "clip": "clip_coef",
    "epochs": "update_epochs",
    "minibatches": "num_minibatches",
    "entropy_coefficient": "ent_coef",
    "value_coefficient": "vf_coef",
    "max_grad_norm": "max_grad_norm",
    "target_kl": "target_kl",
}


def cleanrl_loop(
    path: Union[str, os.PathLike[str]], envs: Any, agent: Any, optimizer: Any, args: Any = None, **options: Any
) -> Recorder:
    """Records a loop of CleanRL's kind from now on; one line before `for iteration in ...` of PPO, or `for global_step in ...` where there is a replay buffer:

    recorder = cleanrl_loop("runs/mine", envs, agent, optimizer, args)
    recorder = cleanrl_loop("runs/mine", envs, q_network, optimizer, args)
    recorder = cleanrl_loop("runs/mine", envs, actor, q_optimizer, args)

    The loop must use CleanRL's names (logprobs, advantages, mb_inds, newlogprob, logratio ...; rb, data, td_target, old_val, next_q_value, qf1_a_values ...).
    `options` are the Recorder's.
    """
    local = running(own_lines) or {}
    buffered = any(is_buffer(thing) for thing in local.values()) and pairs_of(local)

    def make() -> Recorder:
        reader = (
            BufferLoop(path, envs, optimizer, args, local, options)
            if buffered
            else LoopReader(path, envs, agent, optimizer, args, options)
        )
        reader.attach()
        return reader.recorder

    return begun("the loop", options, make)


class LoopReader:
    def __init__(self, path: Any, envs: Any, agent: Any, optimizer: Any, args: Any, options: Mapping[str, Any]) -> None:
        self.envs, self.agent, self.args = envs, agent, args
        own = {"seed": getattr(args, "seed", None), **options}
        own["settings"] = {**settings_of(args), **dict(options.get("settings") or {})}
        self.recorder = Recorder(path, gamma=getattr(args, "gamma", None), lam=getattr(args, "gae_lambda", None), **own)
        self.listening = Listening()
        actor = getattr(agent, "actor", None)
        self.discrete = actor is not None
        actor = getattr(agent, "actor_mean", agent) if actor is None else actor
        head = last_matrix(actor)
        spread = getattr(agent, "actor_logstd", None)
        known = [actor, spread, getattr(agent, "critic", None)]
        self.recorder.watch(
            actor=actor if spread is None else [actor, spread],
            critic=getattr(agent, "critic", None),
            shared=[part for part in agent.children() if not any(part is other for other in known)]
            if actor is not agent
            else None,
            head=head,
            optimizer=optimizer,
        )
        self.recorder._watching.untap(0)  # what the head gave is heard here, at the steps that used it
        # What the last layer gave, or, where something follows it, what actions were drawn from.
        self.heard = [LastOutput(head if self.discrete else None, self.listening), LastOutput(None, self.listening)]
        if self.discrete:
            self.heard[1].hear_choices(self.listening)
        else:
            self.heard[1].hear_gaussians(self.listening)
        self.head: Optional[LastOutput] = None  # the one of them that gives the log-probabilities, once that is known
        self.called: Any = None  # how the update last asked the policy
        self.memory = MemoryTap(agent, self.listening)
        self.acting: Any = None  # the states that acting entered this step with
        self.coef: Callable[[], Any] = lambda: None  # the derivative of the loss by each log-probability
        self.rollout: List[Dict[str, Any]] = []
        self.updating = False

    def attach(self) -> None:
        recorder, listening = self.recorder, self.listening
        recorder._listener = self.optimizer_step
        listening.hear_norms()

        def stepping(step: Callable[..., Any]) -> Callable[..., Any]:
            def heard(*args: Any, **kwargs: Any) -> Any:
                acted = [heard.value for heard in self.heard]
                found = step(*args, **kwargs)
                safely(self.recorder, lambda: self.environment_step(acted, found))
                return found

            return heard

        def asking(ask: Callable[..., Any]) -> Callable[..., Any]:
            def asked(*args: Any, **kwargs: Any) -> Any:
                self.called = (ask, args, kwargs)
                self.memory.begin()
                found = ask(*args, **kwargs)
                self.acting = self.memory.states()
                safely(self.recorder, lambda: self.hear(found))
                return found

            return asked

        try:
            listening.replace(self.envs, "step", stepping)
        except (AttributeError, TypeError):
            warn("the environments' step cannot be listened to: rewards and ends are taken from the loop's own storage")
        if hasattr(self.agent, "get_action_and_value"):
            listening.replace(self.agent, "get_action_and_value", asking)
        recorder._watching._undo.append(listening.release)
        close = recorder.close

        def closing() -> None:
            safely(recorder, self.ended_early)
            close()

        recorder.close = closing  # type: ignore[method-assign]

    def hear(self, found: Any) -> None:
        """An answer of the policy: action, log-probability, entropy, value."""
        if isinstance(found, tuple) and len(found) > 1:
            self.coef = derivative_by(found[1])

    def environment_step(self, acted: Sequence[Any], found: Any) -> None:
        if self.updating:
            self.rollout, self.updating = [], False
            self.ended_early()
        if isinstance(found, tuple) and len(found) in (4, 5):
            reward, terminated = np.asarray(found[1], np.float64), np.asarray(found[2], bool)
            step = {"env_reward": reward.reshape(-1), "terminated": terminated.reshape(-1)}
            if len(found) == 5:
                step["truncated"] = np.asarray(found[3], bool).reshape(-1) & ~step["terminated"]
            if self.acting is not None and self.acting.shape[:2] == (1, len(step["terminated"])):
                step["state_in"] = self.acting[0]
            for place, scores in enumerate(acted):
                if scores is not None and scores.dim() == 2 and len(scores) == len(step["terminated"]):
                    step[f"logits{place}"] = to_numpy(scores)
            self.rollout.append(step)

    def ended_early(self) -> None:
        """The loop went back to its environments before all epochs were over: the KL limit."""
        report = self.recorder._progress.policies[0].step.report if self.recorder._progress.policies else {}
        epochs = getattr(self.args, "update_epochs", None)
        if getattr(self.args, "target_kl", None) is not None and epochs and report.get("stopped") is False:
            report["stopped"] = self.recorder._progress.policies[0].step.epoch < epochs - 1

    def optimizer_step(self, optimizer: Any) -> None:
        """Called by the recorder before the step: the loop is on the stack, with all that entered the loss."""
        local = running(lambda frame: own_lines(frame) and all(name in frame.f_locals for name in MINIBATCH))
        if local is None:
            raise self.missing(MINIBATCH, running(own_lines) or {})
        if not self.updating:
            self.updating = True
            self.samples(local)
        self.minibatch(local)

    def missing(self, names: Sequence[str], local: Mapping[str, Any]) -> ValueError:
        absent = ", ".join(name for name in names if name not in local)
        return ValueError(
            f"the loop has no variable {absent}, by which a loop of CleanRL's kind is read; use Recorder in its place"
        )

    def samples(self, local: Mapping[str, Any]) -> None:
        if any(name not in local for name in ROLLOUT):
            raise self.missing(ROLLOUT, local)
        recorder = self.recorder
        recorder.begin()
        logp = to_numpy(local["logprobs"])
        heard = {name: np.stack([step[name] for step in self.rollout]) for name in (self.rollout or [{}])[0]}
        heard = {name: column for name, column in heard.items() if column.shape[:2] == logp.shape}
        acted = {name: heard.pop(name) for name in [*heard] if name.startswith("logits")}
        dones = to_numpy(local["dones"])
        columns = {
            "terminated": np.concatenate([dones[1:], to_numpy(local["next_done"]).reshape(1, -1)]) > 0.5,
            **heard,
            "old_logp": logp,
            "reward": local["rewards"],
            "value": local["values"],
            "advantage": local["advantages"],
            "return_": local["returns"],
        }
        if local.get("next_value") is not None:
            # After a time limit the loop sees the first state of the next episode, which is not what followed.
            follows = to_numpy(local["next_value"]).reshape(-1).astype(np.float64)
            late = heard["truncated"][-1] if "truncated" in heard else np.zeros(len(follows), bool)
            columns["next_value"] = np.where(late, np.nan, follows)
        if self.discrete and "actions" in local:
            columns["action"] = local["actions"]
            rows, fresh = local["mb_inds"], local["newlogprob"]
            for place, output in enumerate(self.heard):
                scores = acted.get(f"logits{place}")
                chosen = local["actions"].reshape(-1)[rows]
                if self.head is None and (
                    self.gives(scores, logp, local["actions"]) or self.gives(output.of(len(rows)), fresh, chosen)
                ):
                    self.head = output
                if scores is not None and self.head is output:
                    columns.update(logits=scores, num_actions=scores.shape[-1])
        elif "logits1" in acted and to_numpy(local["actions"]).shape[2:] == (acted["logits1"].shape[-1] // 2,):
            columns.update(halves(acted["logits1"]), action_values=local["actions"], distribution="gaussian")
        obs = local.get("obs")
        if (
            obs is not None
            and hasattr(obs, "is_floating_point")
            and obs.is_floating_point()
            and obs[0, 0].numel() <= 1024
        ):
            columns["obs"] = obs.reshape(*logp.shape, -1)
        recorder.samples(**{name: value for name, value in columns.items() if value is not None})

    def gives(self, logits: Any, logp: Any, action: Any) -> bool:
        """Whether the scores of the last layer give the log-probabilities of one of the two passes: a layer may follow that no hook sees."""
        chosen = to_numpy(action).reshape(-1).astype(np.int64)
        if logits is None or len(chosen) == 0:
            return False
        scores = to_numpy(logits).reshape(len(chosen), -1)
        if chosen.min() < 0 or chosen.max() >= scores.shape[1]:
            return False
        return agreement(scores, to_numpy(logp).reshape(-1).astype(np.float64), chosen, None) >= AGREEING

    def minibatch(self, local: Mapping[str, Any]) -> None:
        rows, fresh = local["mb_inds"], local["newlogprob"]
        columns = {
            "new_logp": fresh,
            "old_logp": (fresh - local["logratio"]).detach(),
            "advantage": local.get("mb_advantages"),
            "value": local.get("newvalue"),
            "entropy": local.get("entropy"),
            "coef": self.coef(),
        }
        if "b_returns" in local:
            columns["return_"] = local["b_returns"][rows]
        again = None
        if self.recorder.recording:
            logits = None if self.head is None else self.head.of(len(rows))
            if logits is not None:
                columns["logits"] = logits
            if self.acting is not None and self.acting[..., 0].size == len(rows):
                # Step by step over all sequences, as CleanRL lays its minibatches out.
                columns["state_in"] = self.acting.reshape(len(rows), -1)
                columns["sequence"] = np.tile(np.arange(self.acting.shape[1]), len(self.acting))
            gaussians = None if self.discrete else self.heard[1].of(len(rows))
            if gaussians is not None:
                columns.update(halves(gaussians))
            again = self.again()
        columns = {name: value for name, value in columns.items() if value is not None}
        self.recorder.replays(sample=rows, epoch=local.get("epoch"), again=again, **columns)
        names = {
            "loss": "loss",
            "policy_loss": "pg_loss",
            "value_loss": "v_loss",
            "entropy": "entropy_loss",
            "approx_kl": "approx_kl",
        }
        report = {name: local[own] for name, own in names.items() if own in local}
        if local.get("clipfracs"):
            report["clip_fraction"] = local["clipfracs"][-1]
        clip = getattr(self.args, "clip_coef", None)
        self.recorder.step(grad_norm=self.norm(), stopped=False, **({} if clip is None else {"clip": clip}), **report)

    def norm(self) -> Any:
        norm, self.listening.norm = self.listening.norm, None
        return norm

    def again(self) -> Optional[Callable[[], Any]]:
        if self.called is None or keeps_statistics(self.agent):
            return None
        ask, args, kwargs = self.called
        head = self.head or (LastOutput(None, self.listening) if self.discrete else self.heard[1])

        def look() -> Any:
            found = head.look(lambda: ask(*args, **kwargs)[1])
            return found if self.discrete or not isinstance(found, tuple) else found[0]

        return look


def settings_of(args: Any) -> Dict[str, Any]:
    """CleanRL's settings as a recording has them. A time limit is an end to CleanRL, and declared so: a remark, no fault."""
    found = {name: getattr(args, own) for name, own in SETTINGS.items() if getattr(args, own, None) is not None}
    if hasattr(args, "norm_adv"):
        found["advantage_normalisation"] = "minibatch" if args.norm_adv else "none"
    if getattr(args, "clip_vloss", False):
        found["value_clip"] = getattr(args, "clip_coef", None)
    return {"truncation_bootstraps": False, **found}


def last_matrix(module: Any) -> Any:
    """The last layer that holds a matrix."""
    layers = [part for part in module.modules() if any(p.dim() > 1 for p in part.parameters(recurse=False))]
    return layers[-1] if layers else None
