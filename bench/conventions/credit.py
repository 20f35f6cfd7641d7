"""Advantages in the ways in which programs estimate them: time-major (steps, environments, agents), ends *after* the row's action.

The one thing to get wrong: a time limit bootstraps from the value of the state that it cut off, a termination from nothing.
"""

import torch


def one_step(reward, value, follows, terminated, gamma):
    return reward + gamma * follows * (~terminated) - value


def gae(reward, value, follows, terminated, ended, gamma, lam):
    """`follows` is the value of the state after each row's action, of the old episode where one ended."""
    delta = one_step(reward, value, follows, terminated, gamma)
    advantage, running = torch.zeros_like(reward), torch.zeros_like(reward[0])
    for t in reversed(range(len(reward))):
        running = delta[t] + gamma * lam * running * (~ended[t])
        advantage[t] = running
    return advantage


def n_step(reward, value, follows, terminated, ended, gamma, n):
    """The sum of up to n rewards and the value of what follows them, less the row's own value."""
    steps = len(reward)
    out = torch.zeros_like(reward)
    for t in range(steps):
        total, factor, open_ = torch.zeros_like(reward[0]), 1.0, torch.ones_like(ended[0])
        for k in range(t, min(t + n, steps)):
            total = total + factor * reward[k] * open_
            last = open_ & (ended[k] | (k == min(t + n, steps) - 1))
            total = total + factor * gamma * follows[k] * (~terminated[k]) * last
            open_, factor = open_ & ~ended[k], factor * gamma
        out[t] = total - value[t]
    return out


def estimate(kind, reward, value, follows, terminated, ended, gamma, lam, n):
    if kind == "n-step":
        return n_step(reward, value, follows, terminated, ended, gamma, n)
    return gae(reward, value, follows, terminated, ended, gamma, {"gae": lam, "monte-carlo": 1.0, "one-step": 0.0}[kind])
