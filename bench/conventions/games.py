"""Two small worlds, many at once, in numpy: one player with a time limit, and a team whose members may die.

The one thing to get wrong: `step` begins a new episode by itself, and what the old one ended with is in `final`.
"""

import numpy as np

CHOICES = 6  # actions that the actor scores; a list offers some of them
LISTED = 4  # the longest list


class World:
    """What both have in common: ends, lists and masks."""

    def __init__(self, envs, agents, limit, random, deaths):
        self.envs, self.agents, self.limit, self.random, self.deaths = envs, agents, limit, random, deaths
        self.age = np.zeros(envs, int)
        self.alive = np.ones((envs, agents), bool)
        self.begin(np.ones(envs, bool))

    def offer(self, kind):
        """For every agent the candidates (padded with 0), how many they are, and which of them are legal."""
        shape = (self.envs, self.agents)
        if not kind.startswith("lists"):
            subset, count = np.broadcast_to(np.arange(CHOICES), (*shape, CHOICES)).copy(), np.full(shape, CHOICES)
        else:
            subset = self.random.random((*shape, CHOICES)).argsort(-1)[..., :LISTED]
            count = self.random.integers(2, LISTED + 1, shape)
        offered = np.arange(subset.shape[-1]) < count[..., None]
        legal = offered.copy()
        if kind in ("mask", "mask-inf", "lists-mask"):
            legal &= self.random.random(legal.shape) < 0.75
            legal[..., 0] |= ~legal.any(-1)
        return np.where(offered, subset, 0), count, legal

    def step(self, action):
        """Rewards and ends by agent, and what the ended episodes' last observations were."""
        reward, over, died = self.move(action)
        died &= self.alive & self.deaths
        reward = np.where(self.alive, reward, 0)
        self.age += 1
        self.alive &= ~died
        over |= ~self.alive.any(1)
        late = (self.age >= self.limit) & ~over
        final = self.observe()
        gone = over | late
        terminated = died | over[:, None]
        truncated = np.broadcast_to(late[:, None], terminated.shape) & ~terminated
        self.alive[gone], self.age[gone] = True, 0
        if gone.any():
            self.begin(gone)
        return reward.astype(np.float32), terminated, truncated, final


class Slope(World):
    """One player holds a ball near a wandering mark by pushing it; it is over when the ball is too far away."""

    def begin(self, which):
        if not hasattr(self, "state"):
            self.state = np.zeros((self.envs, 3))
        self.state[which] = self.random.normal(size=(which.sum(), 3)) * (0.5, 0.2, 0.5)

    def observe(self):
        place, speed, mark = self.state.T
        return np.stack([place, speed, mark, place - mark, self.age / self.limit], 1)[:, None].astype(np.float32)

    def move(self, action):
        force = np.clip(action[:, 0, 0], -1, 1) if action.ndim == 3 else np.linspace(-1, 1, CHOICES)[action[:, 0]]
        self.state[:, 1] += 0.3 * force - 0.1 * self.state[:, 1]
        self.state[:, 0] += 0.3 * self.state[:, 1] + 0.05 * self.random.normal(size=self.envs)
        self.state[:, 2] += 0.1 * self.random.normal(size=self.envs)
        gap = np.abs(self.state[:, 0] - self.state[:, 2])
        return (1 - gap)[:, None], gap > 1.8, np.zeros((self.envs, 1), bool)


class Team(World):
    """Foragers choose what to gather; what one takes is worth less for the others, and poor food may kill."""

    def begin(self, which):
        if not hasattr(self, "worth"):
            self.worth = np.zeros((self.envs, self.agents, CHOICES))
        self.worth[which] = self.random.normal(size=(which.sum(), self.agents, CHOICES))

    def observe(self):
        shared = self.worth.mean(1, keepdims=True).repeat(self.agents, 1)
        old = np.broadcast_to((self.age / self.limit)[:, None, None], (self.envs, self.agents, 1))
        return np.concatenate([self.worth, shared, self.alive[..., None], old], 2).astype(np.float32)

    def move(self, action):
        if action.ndim == 3:
            taken = np.tanh(self.worth[..., 0] * np.clip(action[..., 0], -2, 2) + 0.3 * self.worth[..., 1] * np.clip(action[..., 1], -2, 2))
            self.worth = 0.9 * self.worth + 0.3 * self.random.normal(size=self.worth.shape)
        else:
            taken = np.take_along_axis(self.worth, action[..., None], 2)[..., 0]
            for who in range(self.agents):
                self.worth[np.arange(self.envs), :, action[:, who]] *= 0.8
            self.worth += 0.1 * self.random.normal(size=self.worth.shape)
        taken = np.where(self.alive, taken, 0)
        others = (taken.sum(1, keepdims=True) - taken) / max(1, self.agents - 1)
        over = self.random.random(self.envs) < 0.03
        return 0.7 * taken + 0.3 * others, over, (taken < -0.5) & (self.random.random(taken.shape) < 0.4)


def make(envs, agents, limit, random, deaths):
    return (Slope if agents == 1 else Team)(envs, agents, limit, random, deaths)
