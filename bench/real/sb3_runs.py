"""Runs of Stable-Baselines3 and sb3-contrib: tuned settings as the RL Zoo's tables have them, and what people vary about them.

The one thing to get wrong: these are small instances (few steps) of healthy settings; they need not learn, only be right.
"""

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from sb3_bugs import BUGS
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
from trueline_recorder import sb3_callback


def falling(start):
    return lambda left: left * start


#: By name, as the tables have them; steps per rollout are cut to what takes about a second.
TUNED = {
    "CartPole-v1": dict(n_envs=8, n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0, learning_rate=falling(1e-3), clip_range=falling(0.2)),
    "Acrobot-v1": dict(normalize=True, n_envs=8, n_steps=64, gae_lambda=0.94, gamma=0.99, n_epochs=4, ent_coef=0.0),
    "MountainCar-v0": dict(normalize=True, n_envs=8, n_steps=16, gae_lambda=0.98, gamma=0.99, n_epochs=4, ent_coef=0.0),
    "Pendulum-v1": dict(n_envs=4, n_steps=128, gae_lambda=0.95, gamma=0.9, n_epochs=10, ent_coef=0.0, learning_rate=1e-3, clip_range=0.2, use_sde=True, sde_sample_freq=4),
    "MountainCarContinuous-v0": dict(normalize=True, n_envs=4, n_steps=8, batch_size=256, ent_coef=0.00429, learning_rate=7.77e-05, n_epochs=10, gamma=0.9999, gae_lambda=0.9, max_grad_norm=5, vf_coef=0.19, use_sde=True, policy_kwargs=dict(log_std_init=-3.29, ortho_init=False)),
    "FrozenLake-v1": dict(n_envs=8, n_steps=32, batch_size=64, ent_coef=0.01),
    "Taxi-v3": dict(n_envs=8, n_steps=32, batch_size=128, ent_coef=0.01),
    "atari-like": dict(env="CartPole-v1", n_envs=8, n_steps=128, n_epochs=4, batch_size=256, learning_rate=falling(2.5e-4), clip_range=falling(0.1), vf_coef=0.5, ent_coef=0.01),
    "lander-like": dict(env="Acrobot-v1", n_envs=4, n_steps=256, batch_size=64, gae_lambda=0.98, gamma=0.999, n_epochs=4, ent_coef=0.01),
    "walker-like": dict(env="Pendulum-v1", normalize=True, n_envs=4, n_steps=128, batch_size=64, gae_lambda=0.95, gamma=0.999, n_epochs=10, ent_coef=0.0, learning_rate=3e-4, clip_range=0.18),
    "hopper-like": dict(env="Pendulum-v1", normalize=True, n_envs=1, n_steps=512, batch_size=32, gamma=0.999, learning_rate=9.80828e-05, ent_coef=0.00229519, clip_range=0.2, n_epochs=5, gae_lambda=0.99, max_grad_norm=0.7, vf_coef=0.835671, policy_kwargs=dict(log_std_init=-2, ortho_init=False, activation_fn=torch.nn.ReLU)),
    "cheetah-like": dict(env="Pendulum-v1", normalize=True, n_envs=1, n_steps=512, batch_size=64, gamma=0.98, learning_rate=2.0633e-05, ent_coef=0.000401762, clip_range=0.1, n_epochs=20, gae_lambda=0.92, max_grad_norm=0.8, vf_coef=0.58096, policy_kwargs=dict(log_std_init=-2, ortho_init=False, activation_fn=torch.nn.ReLU)),
    "bullet-like": dict(env="Pendulum-v1", normalize=True, n_envs=4, n_steps=128, batch_size=128, gae_lambda=0.9, gamma=0.99, n_epochs=20, ent_coef=0.0, max_grad_norm=0.5, vf_coef=0.5, learning_rate=3e-5, use_sde=True, clip_range=0.4, policy_kwargs=dict(log_std_init=-2, ortho_init=False)),
}

Optimiser = torch.optim
#: What people change about a tuned table; each is a function of the settings.
VARIATIONS = {
    "as tuned": {},
    "adamw": dict(optimizer=(Optimiser.AdamW, dict(weight_decay=0.01))),
    "rmsprop": dict(optimizer=(Optimiser.RMSprop, dict(alpha=0.99, eps=1e-5))),
    "rmsprop as tensorflow": dict(optimizer=(RMSpropTFLike, dict(alpha=0.99, eps=1e-5))),
    "sgd with momentum": dict(optimizer=(Optimiser.SGD, dict(momentum=0.9)), learning_rate=0.01),
    "nadam": dict(optimizer=(Optimiser.NAdam, {})),
    "adamax": dict(optimizer=(Optimiser.Adamax, {})),
    "radam": dict(optimizer=(Optimiser.RAdam, {})),
    "clip schedule": dict(clip_range=falling(0.3)),
    "value clip": dict(clip_range_vf=0.2),
    "value clip schedule": dict(clip_range_vf=falling(0.4)),
    "target kl": dict(target_kl=0.02),
    "no normalisation": dict(normalize_advantage=False),
    "one update": dict(n_epochs=1, batch_size=None),
    "rewards by 1000": dict(scale=1000.0),
    "rewards by 0.001": dict(scale=0.001),
    "normalised": dict(normalize=True),
    "rewards alone normalised": dict(normalize_kwargs=dict(norm_obs=False)),
    "stacked frames": dict(stack=3),
    "short time limit": dict(limit=20),
    "lambda 1": dict(gae_lambda=1.0),
    "own extractors": dict(policy_kwargs=dict(share_features_extractor=False)),
    "wide and relu": dict(policy_kwargs=dict(net_arch=dict(pi=[32], vf=[64, 64]), activation_fn=torch.nn.ReLU)),
    "no hidden layer": dict(policy_kwargs=dict(net_arch=[])),
    "strong entropy": dict(ent_coef=0.05),
    "odd batch": dict(batch_size=96),
}


class Scaled(gymnasium.RewardWrapper):
    def __init__(self, env, scale):
        super().__init__(env)
        self.scale = scale

    def reward(self, reward):
        return self.scale * reward


class Grid(gymnasium.Env):
    """Five moves of which some are not allowed; for masks. Or several choices at once, with `kind`."""

    def __init__(self, kind="masked"):
        self.kind = kind
        self.observation_space = spaces.Box(-1, 1, (6,), np.float32)
        self.action_space = {"masked": spaces.Discrete(5), "several": spaces.MultiDiscrete([3, 4]), "bits": spaces.MultiBinary(3)}[kind]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.place = self.np_random.uniform(-1, 1, 6).astype(np.float32)
        return self.place.copy(), {}

    def masks(self):
        allowed = np.append(self.place[:4] < 0.6, True)
        return allowed

    def step(self, action):
        which = int(np.sum(action)) % 5
        reward = float(self.place[which])
        self.place = np.clip(self.place + self.np_random.normal(0, 0.2, 6), -1, 1).astype(np.float32)
        self.place[which] *= 0.5
        self.t += 1
        return self.place.copy(), reward, bool(self.place[5] > 0.95), self.t >= 40, {}


def environment(name, scale, limit):
    def make():
        if name.startswith("grid"):
            env = gymnasium.wrappers.TimeLimit(Grid(name.split("-")[1]), limit or 40)
            env = ActionMasker(env, lambda inner: inner.unwrapped.masks()) if name == "grid-masked" else env
        else:
            env = gymnasium.make(name, **({"max_episode_steps": limit} if limit else {}))
        if scale != 1:
            env = Scaled(env, scale)
        return Monitor(env)

    return make


def make(table, variation, seed, algorithm="PPO"):
    """A model with its environments, ready to learn, and how many steps it should make."""
    own = dict(TUNED.get(table, {}))
    change = dict(VARIATIONS[variation]) if isinstance(variation, str) else dict(variation)
    kwargs = {**own.pop("policy_kwargs", {}), **change.pop("policy_kwargs", {})}
    own.update(change)
    name = own.pop("env", table)
    normalize, scale, stack = own.pop("normalize", False), own.pop("scale", 1.0), own.pop("stack", 0)
    normalize_kwargs = own.pop("normalize_kwargs", None)
    envs, limit = own.pop("n_envs", 4), own.pop("limit", 0)
    if "optimizer" in own:
        kind, more = own.pop("optimizer")
        kwargs.update(optimizer_class=kind, optimizer_kwargs=more)
        if kind is Optimiser.SGD:
            # The gradient of a mean grows with one over its variance, and plain gradients follow it: a rate for a spread of 1 overshoots with one of e^-2.
            own["learning_rate"] *= float(np.exp(2 * kwargs.get("log_std_init", 0.0)))
    vector = DummyVecEnv([environment(name, scale, limit)] * envs)
    if normalize or normalize_kwargs:
        vector = VecNormalize(vector, gamma=own.get("gamma", 0.99), **(normalize_kwargs or {}))
    if stack and isinstance(vector.observation_space, spaces.Box):
        vector = VecFrameStack(vector, stack)
    own.setdefault("n_steps", 64)
    rows = own["n_steps"] * envs
    cls = {"PPO": PPO, "MaskablePPO": MaskablePPO, "A2C": A2C, "RecurrentPPO": RecurrentPPO}[algorithm]
    if algorithm == "A2C":
        own = {key: value for key, value in own.items() if key in ("gamma", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm", "learning_rate", "n_steps", "use_sde", "sde_sample_freq", "normalize_advantage")}
    else:
        batch = own.get("batch_size", 64)
        own["batch_size"] = rows if batch is None else min(batch, rows)
    if not isinstance(vector.action_space, spaces.Box):
        own.pop("use_sde", None), own.pop("sde_sample_freq", None), kwargs.pop("log_std_init", None)
    policy = "MlpLstmPolicy" if algorithm == "RecurrentPPO" else "MlpPolicy"
    model = cls(policy, vector, seed=seed, policy_kwargs=kwargs, device="cpu", **own)
    return model, 6 * rows


def execute(options, seed, out, share=1.0):
    options = dict(options)
    bug = BUGS.get(options.pop("bug", None))
    model, steps = make(seed=seed, **options)
    if bug:
        bug.put(model)
    callback = sb3_callback(out, overwrite=True, first=10**6)
    try:
        model.learn(int(share * steps), callback=callback)
    except ValueError:
        # Stable-Baselines3 itself ends a run whose scores are not finite; what was recorded until then counts.
        if not bug or "non-finite" not in bug.causes:
            raise
    callback.reader.recorder.close()


def healthy():
    """Every healthy run by its name, and how it is made."""
    runs = {}
    names, variations = list(TUNED), list(VARIATIONS)
    for i, table in enumerate(names):
        for j, variation in enumerate(variations):
            # Each table with a quarter of the variations, so that each variation meets several tables.
            if j == 0 or (j + 3 * i) % 4 == 0:
                runs[f"sb3 {table}, {variation}"] = dict(table=table, variation=variation)
    for variation in ("as tuned", "rmsprop", "clip schedule", "target kl", "no normalisation", "one update"):
        runs[f"sb3 masked grid, {variation}"] = dict(table="grid-masked", variation=variation, algorithm="MaskablePPO")
        runs[f"sb3 several choices, {variation}"] = dict(table="grid-several", variation=variation)
    runs["sb3 bits"] = dict(table="grid-bits", variation="as tuned")
    return runs


#: Where bugs are put in, in turn.
GROUND = ("CartPole-v1", "Acrobot-v1", "FrozenLake-v1", "lander-like")
CONTINUOUS = ("Pendulum-v1", "walker-like")


def faulty():
    """Every run with a bug by its name: how it is made, and the causes that are right."""
    runs = {}
    for i, (name, bug) in enumerate(BUGS.items()):
        tables = {"any": GROUND, "continuous": CONTINUOUS, "masked": ("grid-masked",), "several": ("grid-several",), "cut": ("lander-like",)}[bug.where]
        table = tables[i % len(tables)]
        change = {**({"limit": 15} if bug.where == "cut" or table in ("Acrobot-v1", "lander-like") else {}), **bug.settings}
        options = dict(table=table, variation=change, bug=name, **({"algorithm": "MaskablePPO"} if bug.where == "masked" else {}))
        runs[f"sb3 {name}"] = (options, bug.causes)
    return runs
