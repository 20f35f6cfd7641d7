"""Records TRL's GRPOTrainer and RLOOTrainer: a subclass that looks at the batch after it was scored and at the log-probabilities that the loss is made of.
Written against TRL 1.16 and run with it; nothing of TRL is imported here."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Type, Union

import numpy as np

from ..recorder import Recorder

#: The key under which a batch carries its responses' numbers through TRL's shuffling and splitting.
NUMBERS = "trueline_response"
#: TRL's loss types by the normaliser that they are. `bnpo` takes the mean of each micro-batch, which none of ours is.
AGGREGATIONS = {"grpo": "sequence-mean", "sapo": "sequence-mean", "dr_grpo": "constant", "luspo": "sequence-sum"}


def trl_trainer(base: Type[Any], path: Union[str, os.PathLike[str]], **options: Any) -> Type[Any]:
    """A trainer like `base` (GRPOTrainer, RLOOTrainer or a subclass) that leaves a recording in `path`. Options are those of `Recorder`.

    trainer = trl_trainer(GRPOTrainer, "runs/mine")(model=model, reward_funcs=reward, args=config, train_dataset=data)
    """

    class Recorded(base):  # type: ignore[misc]
        _trueline: Optional[Recorder] = None
        _trueline_rewards: Any = None
        _trueline_inputs: Any = None
        _trueline_passes: Optional[List[Any]] = None
        _trueline_groups = 0
        _trueline_loss = 0.0

        def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
            found = super()._calculate_rewards(*args, **kwargs)
            weights = self.reward_weights.to(found.device)
            rewards = (found * weights.unsqueeze(0)).nansum(dim=1)
            clip = getattr(self, "reward_clip_range", None)
            self._trueline_rewards = rewards.clamp(min=clip[0], max=clip[1]) if clip else rewards
            return found

        def _generate_and_score_completions(self, *args: Any, **kwargs: Any) -> Any:
            self._trueline_passes = []
            try:
                output = super()._generate_and_score_completions(*args, **kwargs)
            finally:
                passes, self._trueline_passes = self._trueline_passes, None
            if self.model.training:
                if self._trueline is None:
                    self._trueline = trl_recorder(self, path, output, options)
                record_batch(self, self._trueline, output, passes)
            return output

        def _compute_loss(self, model: Any, inputs: Any) -> Any:
            self._trueline_inputs = inputs if NUMBERS in inputs and model.training else None
            try:
                return super()._compute_loss(model, inputs)
            finally:
                self._trueline_inputs = None

        def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
            found = super()._get_per_token_logps_and_entropies(*args, **kwargs)
            if self._trueline_passes is not None:
                self._trueline_passes.append(found[0].detach())
            inputs = self._trueline_inputs
            if inputs is not None and self._trueline is not None:
                record_slice(self._trueline, inputs, found[0], found[1])
            return found

        def training_step(self, *args: Any, **kwargs: Any) -> Any:
            loss = super().training_step(*args, **kwargs)
            self._trueline_loss += float(loss.detach())
            if self._trueline is not None and self.accelerator.sync_gradients:
                self._trueline.step(loss=self._trueline_loss)
                self._trueline_loss = 0.0
            return loss

        def train(self, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().train(*args, **kwargs)
            finally:
                if self._trueline is not None:
                    self._trueline.close()

    Recorded.__name__ = Recorded.__qualname__ = base.__name__
    return Recorded


def trl_recorder(trainer: Any, path: Any, output: Any, options: Dict[str, Any]) -> Recorder:
    """The recorder with what TRL was told; the recording says nothing of what it cannot express."""
    ranks = trainer.accelerator.num_processes
    rank = trainer.accelerator.process_index if ranks > 1 else None
    unwrapped = trainer.accelerator.unwrap_model(trainer.model)
    given = {
        "control": lambda ids: unwrapped(input_ids=ids).logits,
        "algorithm": "rloo" if "RLOO" in type(trainer).__name__ else "grpo",
        "rank": rank,
        "ranks": ranks,
        **options,
        "settings": {**trl_settings(trainer, output), **options.get("settings", {})},
    }
    recorder = Recorder(path, **given)
    recorder._actors.append(unwrapped)
    return recorder


def trl_settings(trainer: Any, output: Any) -> Dict[str, Any]:
    args = trainer.args
    slices, each = args.gradient_accumulation_steps, args.steps_per_generation
    told: Dict[str, Any] = {
        **{name: getattr(args, name) for name in ("temperature", "top_p", "top_k", "min_p")},
        "clip_low": trainer.epsilon_low,
        "clip_high": trainer.epsilon_high,
        "gradient_accumulation": slices,
        "max_response_length": trainer.max_completion_length,
        "epochs": trainer.num_iterations,
        "ranks": trainer.accelerator.num_processes,
        "precision": {"trainer": "bf16" if args.bf16 else "float16" if args.fp16 else "float32"},
        "truncated": "mask" if getattr(trainer, "mask_truncated_completions", False) else "as-is",
    }
    if "RLOO" in type(trainer).__name__:
        told.update(baseline="leave-one-out", aggregation="sequence-sum", old_logp="trainer", ratio="product")
        told["scale"] = "batch-deviation" if getattr(trainer, "normalize_advantages", False) else "none"
        if trainer.beta:
            told["kl"] = {"estimator": "k1", "coefficient": trainer.beta, "place": "reward"}
        return told
    told.update(baseline="group-mean", scale_epsilon=1e-4, ratio=trainer.importance_sampling_level)
    told["scale"] = {"group": "group-deviation", "batch": "batch-deviation"}.get(str(trainer.scale_rewards), "none")
    told["old_logp"] = "trainer" if "old_per_token_logps" in output else "step"
    if trainer.loss_type in AGGREGATIONS:
        told["aggregation"] = AGGREGATIONS[trainer.loss_type]
    elif trainer.loss_type == "dapo" and each <= slices:
        told["aggregation"] = "token-mean"  # with several steps per generation TRL divides by their average
    if trainer.loss_type == "dr_grpo":
        told["aggregation_constant"] = trainer.max_completion_length
    if trainer.beta:
        told["kl"] = {"estimator": "k3", "coefficient": trainer.beta, "place": "loss"}
    return told


def record_batch(trainer: Any, recorder: Recorder, output: Any, passes: List[Any]) -> None:
    """A generation batch, before TRL shuffles it; every response gets its number. `passes`: log-probabilities that scoring it took, the policy's first, then the reference's."""
    ids, present = output["completion_ids"], output["completion_mask"]
    count = len(ids)
    output[NUMBERS] = ids.new_tensor(range(count)).long()
    generations = trainer.num_generations
    place = trainer.accelerator.process_index * count
    rewards = trainer._trueline_rewards
    rewards = None if rewards is None else rewards[place : place + count]
    graded, old, reference = None, output.get("old_per_token_logps"), output.get("ref_per_token_logps")
    if "old_logps" in output and passes:
        # RLOO keeps only sums of them, and takes the penalty off the rewards inside; what comes of it is checked against its advantages.
        old, reference = passes[0], passes[1] if trainer.beta and len(passes) > 1 else None
        if rewards is not None and reference is not None:
            graded, rewards = rewards, rewards - trainer.beta * ((old - reference) * present).sum(1)
    ends = trainer.eos_token_ids if hasattr(trainer, "eos_token_ids") else [trainer.eos_token_id]
    ends = [ends] if isinstance(ends, int) else list(ends)
    # For TRL an answer that ends with padding has ended, too; one that it masks has no token left.
    padding = getattr(getattr(trainer, "_tokenizer", None), "pad_token_id", None)
    lengths = present.sum(1)
    last = ids.gather(1, (lengths - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    ended = [size > 0 and token in (*ends, padding) for token, size in zip(last.tolist(), lengths.tolist())]
    recorder.responses(
        ids,
        prompts=output["prompt_ids"],
        prompt_length=output["prompt_mask"].sum(1),
        present=present,
        generated=output.get("tool_mask"),
        sampler_logp=output.get("sampling_per_token_logps"),
        old_logp=old,
        reference_logp=reference,
        group=trainer._trueline_groups + (place + np.arange(count)) // generations,
        reward=rewards,
        graded=graded,
        advantage=output["advantages"],
        finish=["stop" if own else "length" for own in ended],
        padding=(output["prompt_mask"] == 0).sum(1),
        trainer_version=int(trainer.state.global_step),
    )
    trainer._trueline_groups += count * trainer.accelerator.num_processes // generations


def record_slice(recorder: Recorder, inputs: Any, logps: Any, entropies: Any) -> None:
    """A micro-batch, before its loss is formed."""
    mask = inputs["completion_mask"]
    if inputs.get("tool_mask") is not None:
        mask = mask * inputs["tool_mask"]
    old = inputs.get("old_per_token_logps")
    recorder.replays(
        response=inputs[NUMBERS],
        new_logp=logps,
        old_logp=logps.detach() if old is None and "old_logps" not in inputs else old,
        advantage=inputs["advantages"],
        entropy=entropies,
        weight=mask * inputs["importance_sampling_ratio"] if "importance_sampling_ratio" in inputs else mask,
    )
