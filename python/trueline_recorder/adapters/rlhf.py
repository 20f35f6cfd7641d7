"""Records verl's and OpenRLHF's actors, where their updates run: methods of one object are wrapped. Written against their sources (verl's DataParallelPPOActor,
OpenRLHF's Experience) and tried on doubles, because both need GPUs; nothing of them is imported here."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Mapping, Optional

import numpy as np

from ..arrays import to_numpy
from ..recorder import Recorder


class RowNumbers:
    """Finds responses again by their ids: both programs shuffle and cut batches without a number for each row. Equal rows are given out in turn."""

    def __init__(self, ids: np.ndarray) -> None:
        self.known: Dict[bytes, List[int]] = {}
        for place, row in enumerate(ids):
            self.known.setdefault(row.tobytes(), []).append(place)
        self.given: Dict[bytes, int] = {}

    def find(self, ids: np.ndarray) -> np.ndarray:
        out = np.full(len(ids), -1, np.int64)
        for place, row in enumerate(ids):
            key = row.tobytes()
            same = self.known.get(key)
            if same:
                turn = self.given.get(key, 0)
                self.given[key] = turn + 1
                out[place] = same[turn % len(same)]
        return out


def numbers_of(labels: Any) -> np.ndarray:
    """Labels of any kind (verl's uid is text) as whole numbers, in the order in which they first appear."""
    seen: Dict[Any, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in list(labels)], np.int64)


def optional_key(batch: Mapping[str, Any], name: str) -> Any:
    """What a batch holds, or None. A TensorDict does not take `in` without keys()."""
    return batch[name] if name in batch.keys() else None  # noqa: SIM118


def verl_actor(actor: Any, recorder: Recorder) -> Any:
    """Watches a `DataParallelPPOActor` of verl from now on: `update_policy(data)` gives the responses, `_forward_micro_batch` the log-probabilities that the
    loss is made of, `_optimizer_step` the steps. `data` should still hold token_level_scores, rollout_log_probs and uid, where they are known.

    recorder = Recorder("runs/mine", rank=torch.distributed.get_rank(), ranks=torch.distributed.get_world_size(), settings={...})
    self.actor = verl_actor(self.actor, recorder)     # in the actor's worker, after it is made
    """
    state: Dict[str, Any] = {"numbers": None, "groups": 0}
    update, forward, step = actor.update_policy, actor._forward_micro_batch, actor._optimizer_step

    @functools.wraps(update)
    def update_policy(data: Any, *args: Any, **kwargs: Any) -> Any:
        state["numbers"] = verl_responses(recorder, data, state)
        try:
            return update(data, *args, **kwargs)
        finally:
            state["numbers"] = None

    @functools.wraps(forward)
    def forward_micro_batch(micro_batch: Any, *args: Any, **kwargs: Any) -> Any:
        found = forward(micro_batch, *args, **kwargs)
        if state["numbers"] is not None:
            # Older versions give (entropy, log_probs), newer ones a dictionary.
            named = isinstance(found, dict)
            logp, entropy = (found["log_probs"], found.get("entropys")) if named else (found[1], found[0])
            recorder.replays(
                response=state["numbers"].find(to_numpy(micro_batch["input_ids"])),
                new_logp=logp,
                old_logp=optional_key(micro_batch, "old_log_probs"),
                advantage=optional_key(micro_batch, "advantages"),
                entropy=entropy,
            )
        return found

    @functools.wraps(step)
    def optimizer_step(*args: Any, **kwargs: Any) -> Any:
        norm = step(*args, **kwargs)
        recorder.step(grad_norm=norm)
        return norm

    actor.update_policy, actor._forward_micro_batch, actor._optimizer_step = (
        update_policy,
        forward_micro_batch,
        optimizer_step,
    )
    return actor


def verl_responses(recorder: Recorder, data: Any, state: Optional[Dict[str, Any]] = None) -> RowNumbers:
    """A `DataProto` once advantages exist: at the head of `update_policy`, or in the trainer after `compute_advantage`."""
    batch, extra = data.batch, getattr(data, "non_tensor_batch", {})
    ids, answers = to_numpy(batch["input_ids"]), to_numpy(batch["responses"])
    width = answers.shape[1]
    attention = to_numpy(batch["attention_mask"]).astype(bool)
    mask = optional_key(batch, "response_mask")
    mask = optional_key(batch, "loss_mask") if mask is None else mask
    present = attention[:, -width:]
    positions = to_numpy(batch["position_ids"])
    scores = optional_key(batch, "token_level_rewards")
    graded = optional_key(batch, "token_level_scores")
    group = None
    if "uid" in extra:
        group = numbers_of(extra["uid"])
        if state is not None:
            group, state["groups"] = group + state["groups"], state["groups"] + int(group.max()) + 1
    recorder.responses(
        answers,
        prompts=ids[:, :-width],
        prompt_length=attention[:, :-width].sum(1),
        present=present,
        trained=present if mask is None else to_numpy(mask)[:, -width:],
        generated=None if mask is None else to_numpy(mask)[:, -width:],
        position=positions[:, -width:] if positions.ndim == 2 else None,
        sampler_logp=optional_key(batch, "rollout_log_probs"),
        old_logp=optional_key(batch, "old_log_probs"),
        reference_logp=optional_key(batch, "ref_log_prob"),
        value=optional_key(batch, "values"),
        advantage=optional_key(batch, "advantages"),
        reward=scores,
        graded=None if graded is None else to_numpy(graded).sum(1),
        group=group,
        padding=(~attention).sum(1),
        **({"return": batch["returns"]} if "returns" in batch.keys() else {}),  # noqa: SIM118
    )
    return RowNumbers(ids)


def openrlhf_experience(recorder: Recorder, experience: Any, group: Any = None) -> RowNumbers:
    """An `Experience` of OpenRLHF with its advantages, whole, before the first `training_step`; give all at once, joined as the replay buffer joins them."""
    ids, attention = to_numpy(experience.sequences), to_numpy(experience.attention_mask).astype(bool)
    mask = to_numpy(experience.action_mask).astype(bool)
    width = mask.shape[1]
    first = np.where(mask.any(1), mask.argmax(1), width)
    left = attention.argmax(1)  # padding before the prompt
    start = ids.shape[1] - width
    recorder.responses(
        ids[:, start:],
        start=start - left,
        prompts=[row[pads : start + begin] for row, pads, begin in zip(ids, left, first)],
        present=attention[:, start:],
        trained=mask,
        old_logp=experience.action_log_probs,
        sampler_logp=getattr(experience, "rollout_log_probs", None),
        reference_logp=getattr(experience, "base_action_log_probs", None),
        value=getattr(experience, "values", None),
        advantage=experience.advantages,
        reward=None if "reward" not in experience.info else to_numpy(experience.info["reward"]),
        group=group,
        **({} if experience.returns is None else {"return": experience.returns}),
    )
    return RowNumbers(ids)


def openrlhf_slice(recorder: Recorder, experience: Any, action_log_probs: Any, numbers: RowNumbers) -> None:
    """Inside `training_step`, between the actor's forward pass and the loss: the very tensor that the loss is made of."""
    ids = to_numpy(experience.sequences)
    left = to_numpy(experience.attention_mask).argmax(1)
    recorder.replays(
        response=numbers.find(ids),
        start=ids.shape[1] - action_log_probs.shape[1] - left,
        new_logp=action_log_probs,
        old_logp=experience.action_log_probs,
        advantage=experience.advantages,
    )
