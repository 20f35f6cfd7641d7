"""Runs of Stable-Baselines3 and sb3-contrib on continuous actions, with memory, and from replay buffers, as the RL Zoo's tables have them.

The one thing to get wrong: these are small instances (few steps) of healthy settings; they need not learn, only be right.
"""

import gymnasium
import numpy as np
import torch
from control_bugs import BUGS
from environments import Recall, Reach  # noqa: F401 - registered
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from trueline_recorder import sb3_callback

ALGORITHMS = {kind.__name__: kind for kind in (A2C, DDPG, DQN, PPO, SAC, TD3, RecurrentPPO)}
SMALL = dict(buffer_size=5000, learning_starts=100, batch_size=64, policy_kwargs=dict(net_arch=[32, 32]))
#: What each algorithm begins with; what a run sets is laid over it.
USUAL = {
    "PPO": dict(table="Reach-v0", n_envs=4, n_steps=64, batch_size=64, n_epochs=4),
    "A2C": dict(table="Reach-v0", n_envs=4, n_steps=16, steps=2000),
    "RecurrentPPO": dict(table="Recall-v0", n_envs=4, n_steps=64, batch_size=64, n_epochs=4, policy_kwargs=dict(lstm_hidden_size=32), limit=9),
    "DQN": dict(SMALL, table="CartPole-v1", train_freq=2, steps=1500, target_update_interval=200),
    "SAC": dict(SMALL, table="Reach-v0", steps=500),
    "TD3": dict(SMALL, table="Reach-v0", steps=500),
    "DDPG": dict(SMALL, table="Reach-v0", steps=500),
}


def make(algorithm, seed, **change):
    """A model with its environments, ready to learn, and how many steps it should make."""
    own = {**USUAL[algorithm], **change}
    kwargs = {**USUAL[algorithm].get("policy_kwargs", {}), **change.get("policy_kwargs", {})}
    table, limit, count = own.pop("table"), own.pop("limit", 0), own.pop("n_envs", 1)
    normalize, steps, noise = own.pop("normalize", False), own.pop("steps", 0), own.pop("noise", 0.0)
    own["policy_kwargs"] = kwargs

    def begin():
        return Monitor(gymnasium.make(table, **({"max_episode_steps": limit} if limit else {})))

    vector = DummyVecEnv([begin] * count)
    if normalize:
        vector = VecNormalize(vector, gamma=own.get("gamma", 0.99))
    if noise:
        own["action_noise"] = NormalActionNoise(np.zeros(vector.action_space.shape), noise * np.ones(vector.action_space.shape))
    policy = "MlpLstmPolicy" if algorithm == "RecurrentPPO" else "MlpPolicy"
    model = ALGORITHMS[algorithm](policy, vector, seed=seed, device="cpu", **own)
    return model, steps or 6 * own["n_steps"] * count


def execute(options, seed, out, share=1.0):
    options = dict(options)
    bug = BUGS.get(options.pop("bug", None))
    model, steps = make(seed=seed, **options)
    if bug:
        bug.put(model)
    callback = sb3_callback(out, overwrite=True, first=10**6)
    model.learn(int(share * steps), callback=callback)
    callback.reader.recorder.close()


RELU = dict(activation_fn=torch.nn.ReLU)
HEALTHY = {
    "control ppo, Reach": dict(algorithm="PPO"),
    "control ppo, Pendulum with noise of the state": dict(algorithm="PPO", table="Pendulum-v1", use_sde=True, sde_sample_freq=4, gamma=0.9, learning_rate=1e-3),
    "control ppo, normalised": dict(algorithm="PPO", normalize=True, ent_coef=0.01, limit=20),
    "control ppo, squashed": dict(algorithm="PPO", use_sde=True, policy_kwargs=dict(squash_output=True)),
    "control a2c, Reach": dict(algorithm="A2C"),
    "control a2c, Pendulum": dict(algorithm="A2C", table="Pendulum-v1", normalize=True, n_steps=8, gae_lambda=0.9, max_grad_norm=0.5, use_rms_prop=False, normalize_advantage=True),
    "control memory, Recall": dict(algorithm="RecurrentPPO"),
    "control memory, CartPole": dict(algorithm="RecurrentPPO", table="CartPole-v1", limit=25, batch_size=96, policy_kwargs=dict(enable_critic_lstm=False, shared_lstm=True)),
    "control memory, Pendulum": dict(algorithm="RecurrentPPO", table="Pendulum-v1", normalize=True, policy_kwargs=dict(n_lstm_layers=2)),
    "control dqn, CartPole": dict(algorithm="DQN", limit=60),
    "control dqn, copied softly": dict(algorithm="DQN", tau=0.02, target_update_interval=1, table="Acrobot-v1", limit=80),
    "control dqn, two environments": dict(algorithm="DQN", n_envs=2, table="MountainCar-v0", limit=50, policy_kwargs=RELU, gradient_steps=2),
    "control dqn, every step": dict(algorithm="DQN", train_freq=1, steps=700, target_update_interval=10, learning_rate=1e-3, gamma=0.9),
    "control sac, Reach": dict(algorithm="SAC"),
    "control sac, Pendulum with fixed temperature": dict(algorithm="SAC", table="Pendulum-v1", ent_coef=0.1, tau=0.02, learning_rate=1e-3),
    "control sac, noise of the state": dict(algorithm="SAC", use_sde=True, table="MountainCarContinuous-v0", limit=40, gamma=0.9999),
    "control sac, normalised": dict(algorithm="SAC", normalize=True, limit=25, gradient_steps=2, train_freq=2),
    "control td3, Reach": dict(algorithm="TD3", noise=0.1),
    "control td3, Pendulum": dict(algorithm="TD3", table="Pendulum-v1", noise=0.2, policy_delay=1, learning_rate=1e-3),
    "control ddpg, Reach": dict(algorithm="DDPG", noise=0.1, limit=20),
}


def healthy():
    return HEALTHY


def faulty():
    return {f"control {name}": (dict(bug.settings, algorithm=bug.algorithm, bug=name), bug.causes) for name, bug in BUGS.items()}
