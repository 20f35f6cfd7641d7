"""Small environments of our own for other people's programs: joints to a place, a cue to remember, pictures of Atari's size."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Reach(gymnasium.Env):
    """Three joints to a place, for actions of several numbers."""

    observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float32)
    action_space = spaces.Box(-1, 1, (3,), np.float32)

    def __init__(self, near=0.3):
        self.near = near

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.uniform(-1, 1, (2, 3))
        return np.concatenate([self.place, self.goal]).astype(np.float32), {}

    def step(self, action):
        self.place = self.place + 0.1 * np.clip(action, -1, 1)
        far = float(np.linalg.norm(self.place - self.goal))
        return np.concatenate([self.place, self.goal]).astype(np.float32), -far, far < self.near, False, {}


class Pictures(gymnasium.Env):
    """A dot to follow on pictures of Atari's size."""

    action_space = spaces.Discrete(4)

    def __init__(self, frames):
        self.observation_space = spaces.Box(0, 255, (frames, 84, 84), np.uint8)

    def picture(self):
        out = np.zeros(self.observation_space.shape, np.uint8)
        x, y = self.place
        out[:, 12 * y : 12 * y + 12, 12 * x : 12 * x + 12] = 255
        return out

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.integers(0, 7, 2)
        return self.picture(), {}

    def step(self, action):
        self.place = np.clip(self.place + [(1, 0), (-1, 0), (0, 1), (0, -1)][int(action)], 0, 6)
        return self.picture(), float(self.place.sum()) / 12, bool(self.np_random.random() < 0.1), False, {}


class Recall(gymnasium.Env):
    """A cue in the first step; every later step pays for the choice that it named."""

    observation_space = spaces.Box(-1, 1, (4,), np.float32)
    action_space = spaces.Discrete(3)

    def seen(self):
        out = self.np_random.normal(0, 0.05, 4).astype(np.float32).clip(-1, 1)
        if self.t == 0:
            out[self.cue] = 1
        return out

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.cue = 0, int(self.np_random.integers(3))
        return self.seen(), {}

    def step(self, action):
        self.t += 1
        return self.seen(), float(int(action) == self.cue), bool(self.np_random.random() < 0.1), False, {}


gymnasium.register("Reach-v0", Reach, max_episode_steps=30)
gymnasium.register("Recall-v0", Recall, max_episode_steps=12)
