"""Faults: rows that are no decisions, or numbers that are filed under another row, agent or list."""

import numpy as np
import torch

from .fault import LISTS, TEAM, fault, stage

PAID = ("samples.reward", "samples.env_reward")


@fault(
    "reset rows trained",
    "phantom-steps",
    tells=("samples.reward", "samples.value", "samples.next_value", "samples.truncated"),
    deaths=("none",),
    episodes=("short",),
    limits=("bootstrap",),
    observations=("raw",),
    rewards=("raw",),
)
def _(program):
    """After an end the environment gives its last observation once more and ignores what is done there, as Gymnasium 1.x resets."""
    game = program.game
    step, observe = game.step, game.observe
    over, last = np.zeros(game.envs, bool), observe()

    def seen():
        now = observe()
        now[over] = last[over]
        return now

    def moved(action):
        nonlocal over, last
        waiting, kept = over, {name: value.copy() for name, value in vars(game).items() if isinstance(value, np.ndarray)}
        game.observe = observe
        reward, terminated, truncated, final = step(action)
        game.observe = seen
        for name, value in kept.items():
            getattr(game, name)[waiting] = value[waiting]
        reward[waiting] = 0
        terminated, truncated = (flags & ~waiting[:, None] for flags in (terminated, truncated))
        over, last = (terminated | truncated).any(1), np.where(waiting[:, None, None], observe(), final)
        return reward, terminated, truncated, last

    game.observe, game.step = seen, moved


@stage(
    "list of another agent, cut to the own length",
    "flatten",
    "subset-borrowed",
    tells=("replays.subset", "samples.subset"),
    **{**LISTS, **TEAM},
)
def _(program, own, rollout):
    return own({**rollout, "subset": rollout["subset"].flip(2)} if "state" in rollout else rollout)


@fault("first choices while acting", "subset-not-replayed", tells=("samples.subset",), **LISTS)
def _(program):
    local, collect = program.local, program.collect
    acting = False

    def first(scores, subset):
        return scores[..., : subset.shape[-1]] if acting else local(scores, subset)

    def collected():
        nonlocal acting
        acting = True
        found = collect()
        acting = False
        return found

    program.local, program.collect = first, collected


@stage("rewards filed under the first agent", "treat", "reward-bookkeeping", tells=PAID, **TEAM, rewards=("raw",))
def _(program, own, reward):
    found = own(reward)
    return np.concatenate([found.sum(-1, keepdims=True), np.zeros_like(found[..., 1:])], -1)
