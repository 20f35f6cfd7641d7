"""What sb3-contrib's recurrent policies remember, as columns. The reset happens inside of the forward pass, so a state is what its row really entered with only after it is applied."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def memory_columns(buffer: Any) -> Dict[str, np.ndarray]:
    """Episode starts, and the norm of the state of every row, as (steps, environments)."""
    starts = getattr(buffer, "episode_starts", None)
    states = [getattr(buffer, name, None) for name in ("hidden_states_pi", "cell_states_pi")]
    if starts is None or any(state is None or np.ndim(state) != 4 for state in states):
        return {}
    squares = sum((np.asarray(state, np.float64) ** 2).sum((1, 3)) for state in states)
    begun = np.asarray(starts) > 0.5
    return {"starts": begun, "state_norm": np.sqrt(squares) * ~begun}
