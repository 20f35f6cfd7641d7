"""Who acts: the agents of a run, which policy plays for each, and the `agent` column in whatever form it comes."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from .arrays import Array, to_numpy
from .progress import PolicyProgress


class Agents:
    """Names of agents in the order of the `agent` column; one unnamed agent where none were given."""

    def __init__(self, names: Optional[Sequence[str]]) -> None:
        self.told = names is not None
        self.names: List[str] = list(names) if names is not None else ["agent"]
        self.policies: Dict[str, int] = {}  # where `watch` was told which agents a policy plays for

    def index(self, agent: Union[str, int]) -> int:
        if isinstance(agent, str):
            if agent not in self.names:
                raise ValueError(f"there is no agent {agent!r}; the recorder was told of {', '.join(self.names)}")
            return self.names.index(agent)
        return int(agent)

    def column(self, agent: Array, lead: Tuple[int, ...]) -> np.ndarray:
        """The `agent` column, to be spread over the rows."""
        names = self.names
        if agent is None:
            if len(lead) == 3 and lead[2] == len(names):
                return np.arange(lead[2])
            if len(names) == 1:
                return np.zeros(1, np.int64)
            raise ValueError(f"say which agent: there are {len(names)}, {', '.join(names)}")
        if isinstance(agent, str):
            return np.array(self.index(agent))
        array = to_numpy(agent)
        if array.dtype.kind in "US":
            array = np.array([self.index(str(item)) for item in array.reshape(-1)]).reshape(array.shape)
        if array.size and (array.min() < 0 or array.max() >= len(names)):
            raise ValueError(
                f"agent {int(array.max())} is beyond the {len(names)} agents that the recorder was told of"
            )
        return array

    def policy(self, agent: str, policies: Sequence[PolicyProgress]) -> Optional[int]:
        if agent in self.policies:
            return self.policies[agent]
        names = [policy.name for policy in policies]
        if agent in names:
            return names.index(agent)
        return 0 if len(names) == 1 else None

    def manifest(self, policies: Sequence[PolicyProgress]) -> List[Dict[str, object]]:
        known = [(name, self.policy(name, policies)) for name in self.names]
        return [{"name": name} if policy is None else {"name": name, "policy": policy} for name, policy in known]
