"""What a memory (LSTM, GRU) remembers, heard at the layer itself: while acting and in the update, whatever code resets, stores and cuts. The one thing to get wrong: a state
is what the layer was entered with, after a reset, not what the program keeps in its buffer."""

from __future__ import annotations

import sys
from typing import Any, List, Optional

import numpy as np

from ..arrays import to_numpy
from .listening import Listening

#: Numbers of a state that are kept: enough to tell two states apart.
STATE_WIDTH = 16


class MemoryTap:
    """The first recurrent layer of a module: the states that it was entered with since `begin`."""

    def __init__(self, module: Any, listening: Listening) -> None:
        nn = sys.modules["torch"].nn
        layers = [] if module is None else [part for part in module.modules() if isinstance(part, (nn.LSTM, nn.GRU))]
        self.there = bool(layers)
        self.heard: List[Any] = []
        if layers and not layers[0].batch_first:
            listening.undo.append(layers[0].register_forward_hook(self.hear).remove)

    def begin(self) -> None:
        self.heard = []

    def hear(self, layer: Any, inputs: Any, output: Any) -> None:
        torch = sys.modules["torch"]
        states, given = inputs[1] if len(inputs) > 1 else None, output[0]
        if not isinstance(given, torch.Tensor) or given.dim() != 3:
            return
        with torch.no_grad():
            hidden = states[0] if isinstance(states, tuple) else states
            first = given.new_zeros(given.shape[1:]) if hidden is None else hidden[-1]
            # Within one call the layer goes on with what it gave for the step before.
            entered = torch.cat([first.unsqueeze(0), given[:-1]]) if len(given) > 1 else first.unsqueeze(0)
            self.heard.append(entered[..., :STATE_WIDTH].detach().clone())

    def states(self) -> Optional[np.ndarray]:
        """Of every step and sequence since `begin`: (steps, sequences, numbers)."""
        if not self.heard or len({part.shape[1:] for part in self.heard}) > 1:
            return None
        return np.concatenate([to_numpy(part) for part in self.heard])
