"""Stable-Baselines3 and sb3-contrib: a callback that records a model while it learns. Nothing in here ends a training run."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

from ..trouble import warn
from .sb3_buffers import BufferReader, has_targets
from .sb3_readers import Reader, RolloutReader


def sb3_callback(path: Union[str, os.PathLike[str]], **options: Any) -> Any:
    """A callback for Stable-Baselines3 and sb3-contrib: `model.learn(steps, callback=sb3_callback("runs/mine"))`.

    PPO, MaskablePPO, RecurrentPPO and A2C are recorded whole: what is recorded is what entered the loss, also in a subclass with a
    `train` of its own. Of DQN, SAC, TD3 and DDPG the targets and target networks are, of TRPO the rollouts, and of the others episodes and their own readings. `options` are the
    Recorder's: first, every, name, seed, overwrite ...
    """
    from stable_baselines3.common.callbacks import BaseCallback  # noqa: PLC0415 - only its users have it

    class TruelineCallback(BaseCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(0)
            self.reader: Optional[Reader] = None
            self.failed = False

        def _on_training_start(self) -> None:
            if self.reader is None and not self.failed:
                self.reader = self.make()
            self.tell("attach")

        def make(self) -> Optional[Reader]:
            try:
                kind = (
                    RolloutReader if has_rollouts(self.model) else BufferReader if has_targets(self.model) else Reader
                )
                return kind(self.model, path, options)
            except FileExistsError:
                raise
            except Exception as error:
                if options.get("strict"):
                    raise
                self.failed = True
                warn(
                    f"{type(self.model).__name__} cannot be recorded, training goes on: {type(error).__name__}: {error}"
                )
                return None

        def tell(self, what: str, *args: Any) -> None:
            reader = self.reader
            if reader is None or reader.recorder.stopped:
                return
            try:
                getattr(reader, what)(*args)
            except Exception as error:
                reader.recorder._fail(error)

        def _on_rollout_start(self) -> None:
            self.tell("rollout_start")

        def _on_step(self) -> bool:
            self.tell("environment_step", self.locals)
            return True

        def _on_rollout_end(self) -> None:
            self.tell("rollout_end", self.locals)

        def _on_training_end(self) -> None:
            self.tell("end")

    return TruelineCallback()


def has_rollouts(model: Any) -> bool:
    return hasattr(getattr(model, "rollout_buffer", None), "log_probs") and hasattr(model.policy, "evaluate_actions")
