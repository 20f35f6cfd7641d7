"""What a program reports beside its rows: episodes, counts and scalars."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import numpy as np

from .arrays import Array, to_numpy
from .chunks import make_chunk, plain_number
from .core import Core
from .tables import known_columns
from .trouble import guarded


class Reports(Core):
    """The recorder's calls that name one thing each."""

    @guarded
    def episodes(self, *, agent: Array = None, episode: Array = None, return_: Array = None, **columns: Array) -> None:
        """Results of episodes, one row per agent and episode. Where `samples` counts episodes itself and knows the rewards this is
        done already, until the first call of this."""
        if not self._own_episodes:
            self._own_episodes = True
            self._store.drop("episodes")
        given = {**columns, **({} if return_ is None else {"return_": return_})}
        known = known_columns("episodes", given)
        if "return" not in known:
            raise ValueError("episodes() needs return_=: the sum of the agent's rewards")
        returns = to_numpy(known["return"])
        lead = returns.shape if returns.ndim > 0 else (1,)
        known["return"] = returns
        known["agent"] = self._agents.column(agent, lead)
        if episode is None:
            episode = self._next_episode + np.arange(returns.size).reshape(lead)
            self._next_episode += returns.size
        known["episode"] = episode
        known.setdefault("iteration", max(0, self.iteration))
        self._store.hold("episodes", make_chunk("episodes", known, lead, None))

    @guarded
    def count(self, name: str, value: Any, agent: Union[str, int, None] = None) -> None:
        """A named count at this iteration, of one agent or of each: updates.policy, buffer.real, early_return.<where> ..."""
        self._counted.add(name)
        values = to_numpy(value).reshape(-1)
        who = range(len(self.agents)) if agent is None else [self._agents.index(agent)]
        for place, index in enumerate(who):
            number = float(values[place if len(values) > 1 else 0])
            row = {"iteration": max(0, self.iteration), "agent": index, "name": name, "value": number}
            self._store.add("counters", row)

    @guarded
    def scalar(
        self, name: str, value: Any, *, step: Optional[float] = None, policy: Any = None, agent: Any = None
    ) -> None:
        """A named number of a module or a log."""
        number = float(plain_number(value))
        row: Dict[str, Any] = {"name": name, "value": number, "iteration": max(0, self.iteration)}
        if step is not None:
            row["step"] = float(step)
        if policy is not None:
            row["policy"] = self._policy(policy).index
        if agent is not None:
            row["agent"] = self._agents.index(agent)
        self._store.add("scalars", row)

    @guarded
    def flush(self) -> None:
        """Writes what is held. Done by itself at the end of iterations, every few seconds, and when much has gathered."""
        self._store.flush()

    def __exit__(self, *_: Any) -> None:
        self.close()
