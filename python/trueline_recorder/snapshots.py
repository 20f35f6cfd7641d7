"""Keeps actors as ONNX files beside their rows, so that the doctor can run them again. Where torch cannot export one it is left out, and said."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, Dict

from .chunks import Chunk
from .store import Store


def export_actor(store: Store, name: str, actor: Any, chunk: Chunk) -> None:
    """Writes policies/<name>.onnx unless it is there. Raises where the actor cannot be exported; its mode is as it was."""
    path = os.path.join(store.path, "policies", f"{name}.onnx")
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch = sys.modules["torch"]
    training = actor.training
    try:
        obs = chunk["obs"]
        if isinstance(obs, (int, tuple)):
            raise ValueError("observations have different lengths")
        parameter = next(actor.parameters())
        example = torch.as_tensor(obs[:1], dtype=parameter.dtype, device=parameter.device)
        options: Dict[str, Any] = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
        axes = {"obs": {0: "rows"}, "logits": {0: "rows"}}
        actor.eval()
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            store.replace(
                path,
                lambda file: torch.onnx.export(
                    actor, example, file, input_names=["obs"], output_names=["logits"], dynamic_axes=axes, **options
                ),
            )
    finally:
        actor.train(training)
