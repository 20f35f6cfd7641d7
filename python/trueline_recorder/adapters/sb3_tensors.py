"""What a policy of Stable-Baselines3 is made of: its parameters, what each is for, and the observations that it sees as they are."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ..arrays import to_numpy
from ..tensors import Tensor


def tensors_of(policy: Any) -> List[Tensor]:
    shared = "shared" if getattr(policy, "share_features_extractor", True) else "trunk"
    roles = {
        "action_net": "head",
        "log_std": "other",
        "value_net": "critic",
        "mlp_extractor.value_net": "critic",
        "vf_features_extractor": "critic",
        "lstm_critic": "critic",
        "mlp_extractor.policy_net": "trunk",
        "pi_features_extractor": "trunk",
        "lstm_actor": "trunk",
        "mlp_extractor.shared_net": "shared",
        "features_extractor": shared,
    }
    found = []
    for name, parameter in policy.named_parameters():
        role = next((role for start, role in roles.items() if name.startswith(f"{start}.")), "other")
        found.append(Tensor(name, role, parameter))
    return found


def plain_inputs(observation: Any) -> Optional[np.ndarray]:
    """Observations that are seen as they are, row by row: a state's number becomes one of many inputs, and pictures are scaled."""
    plain = hasattr(observation, "is_floating_point") and observation.is_floating_point()
    if not plain or observation.dim() < 2 or observation[0].numel() > 1024:
        return None
    return to_numpy(observation).reshape(len(observation), -1)
