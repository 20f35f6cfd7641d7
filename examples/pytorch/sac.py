"""Soft actor-critic in one file, recorded for `trueline diagnose`: a point is pushed to a place in the plane.

python3 examples/pytorch/sac.py --out runs/sac
trueline diagnose runs/sac

Every stage is a method of its own, so that a mistake can be put in from outside by replacing one. The one thing to get wrong: the log-probability of a squashed
action has tanh's derivative taken off, and the entropy is added to what follows, not taken off.
"""

import argparse
import copy
import math
import pathlib
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from trueline_recorder import Recorder

GAMMA, DIMENSIONS, TARGET_ENTROPY = 0.9, 2, -2.0


class Push:
    """A point in the plane that has to come near a goal. It ends there, and is cut off at the limit."""

    def __init__(self, envs, limit, random):
        self.envs, self.limit, self.random = envs, limit, random
        self.place, self.goal = self.start(envs), self.start(envs)
        self.age = random.integers(0, limit, envs)

    def start(self, count):
        return self.random.uniform(-1, 1, (count, DIMENSIONS))

    def observe(self):
        return np.concatenate([self.place, self.goal], 1)

    def step(self, action):
        self.place = np.clip(self.place + 0.3 * action, -1.5, 1.5)
        self.age += 1
        distance = np.linalg.norm(self.place - self.goal, axis=1)
        terminated = distance < 0.2
        truncated = (self.age >= self.limit) & ~terminated
        reward = np.where(terminated, 1.0, -0.3 * distance)
        final = self.observe()
        over = terminated | truncated
        self.place[over], self.goal[over] = self.start(int(over.sum())), self.start(int(over.sum()))
        self.age[over] = 0
        return reward, terminated, truncated, final


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, outputs))


class Program:
    def __init__(self, options, recorder_class=Recorder):
        self.options = options
        self.type = torch.float64 if options.double else torch.float32
        torch.set_default_dtype(self.type)
        torch.manual_seed(options.seed)
        self.random = np.random.default_rng(options.seed)
        self.game = Push(options.envs, options.limit, self.random)
        self.actor = mlp(2 * DIMENSIONS, 2 * DIMENSIONS)
        self.critics = nn.ModuleList([mlp(3 * DIMENSIONS, 1) for _ in range(2)])
        self.target_critics = copy.deepcopy(self.critics)
        self.log_alpha = torch.tensor(math.log(options.alpha), requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=options.rate)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=options.rate)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=options.rate)
        self.rows = {name: [] for name in ("obs", "action", "reward", "terminated", "truncated", "after")}
        settings = {"tau": options.tau, "target_entropy": TARGET_ENTROPY}
        self.recorder = recorder_class(
            options.out,
            algorithm="sac",
            gamma=GAMMA,
            seed=options.seed,
            overwrite=True,
            first=options.kept,
            settings=settings,
        )
        self.recorder.watch(
            actor=self.actor, critic=self.critics, optimizer=[self.actor_optimizer, self.critic_optimizer], head="4"
        )
        self.recorder.follow(target=self.target_critics, online=self.critics)

    # - the policy -

    def distribution(self, obs):
        mean, log_std = self.actor(obs).chunk(2, -1)
        return mean, log_std.clamp(-5, 2)

    def logp(self, raw, mean, log_std):
        parts = torch.distributions.Normal(mean, log_std.exp()).log_prob(raw)
        return (parts - torch.log(1 - raw.tanh() ** 2 + 1e-6)).sum(-1)

    def act(self, obs):
        mean, log_std = self.distribution(obs)
        raw = mean + log_std.exp() * torch.randn_like(mean)
        return raw.tanh(), self.logp(raw, mean, log_std)

    def values(self, critics, obs, action):
        both = torch.cat([obs, action], -1)
        return torch.stack([critic(both)[:, 0] for critic in critics])

    # - targets -

    def follows(self, terminated, truncated):
        return 1 - terminated

    def soft(self, bootstrap, logp):
        return bootstrap - self.log_alpha.exp().detach() * logp

    def alpha_loss(self, logp):
        wanted = (logp + TARGET_ENTROPY).detach()
        return -((self.log_alpha.exp() if self.options.plain_alpha else self.log_alpha) * wanted).mean()

    def sync(self):
        for target, own in zip(self.target_critics.parameters(), self.critics.parameters()):
            target.data.lerp_(own.data, self.options.tau)

    def update(self):
        options = self.options
        index = self.random.integers(0, len(self.rows["obs"]) * options.envs, options.batch)
        pick = lambda name: torch.as_tensor(self.stored[name][index], dtype=self.type)
        obs, action, reward, after = pick("obs"), pick("action"), pick("reward"), pick("after")
        terminated, truncated = pick("terminated"), pick("truncated")
        with torch.no_grad():
            next_action, next_logp = self.act(after)
            bootstrap = self.values(self.target_critics, after, next_action).min(0).values
            target = reward + GAMMA * self.follows(terminated, truncated) * self.soft(bootstrap, next_logp)
        predictions = self.values(self.critics, obs, action)
        loss = ((predictions - target) ** 2).mean(1).sum()
        self.recorder.targets(
            sample=index,
            rewards=reward,
            terminated=terminated > 0.5,
            truncated=truncated > 0.5,
            bootstrap=bootstrap,
            next_logp=next_logp,
            temperature=self.log_alpha.exp().detach().expand(options.batch),
            target=target,
            prediction=predictions[0],
        )
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        fresh, logp = self.act(obs)
        policy_loss = (
            self.log_alpha.exp().detach() * logp - self.values(self.critics, obs, fresh).min(0).values
        ).mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        self.actor_optimizer.step()
        self.recorder.step(loss=loss, policy_loss=policy_loss, entropy=-logp.mean())
        if not options.fixed_alpha:
            self.alpha_optimizer.zero_grad()
            self.alpha_loss(logp).backward()
            self.alpha_optimizer.step()
        self.sync()

    # - an iteration -

    def collect(self, steps, explore):
        total = 0.0
        for _ in range(steps):
            obs = self.game.observe()
            with torch.no_grad():
                action = self.act(torch.as_tensor(obs, dtype=self.type))[0].numpy()
            action = self.random.uniform(-1, 1, action.shape) if explore else action
            reward, terminated, truncated, after = self.game.step(action)
            for name, value in zip(self.rows, (obs, action, reward, terminated, truncated, after)):
                self.rows[name].append(value)
            total += float(reward.mean())
        self.stored = {name: np.concatenate(column) for name, column in self.rows.items()}
        return total / steps

    def iterate(self):
        if not self.rows["obs"]:
            self.collect(self.options.warm, True)
        self.recorder.begin()
        paid = self.collect(self.options.steps, False)
        for _ in range(self.options.steps):
            self.update()
        return paid


def parser():
    parser = argparse.ArgumentParser(description="Soft actor-critic, recorded for `trueline diagnose`.")
    parser.add_argument("--out", default="runs/sac", help="folder of the recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--kept", type=int, default=3, help="iterations at the beginning whose rows are all kept")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument(
        "--steps", type=int, default=32, help="steps of every environment, and updates, in one iteration"
    )
    parser.add_argument(
        "--warm", type=int, default=32, help="steps of every environment before the first update, at random"
    )
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument(
        "--tau", type=float, default=0.02, help="share that the target critics take over in every update"
    )
    parser.add_argument("--alpha", type=float, default=0.3, help="first temperature")
    parser.add_argument("--fixed-alpha", action="store_true", help="the temperature stays")
    parser.add_argument(
        "--plain-alpha", action="store_true", help="the loss of the temperature is of alpha, not of its logarithm"
    )
    parser.add_argument("--limit", type=int, default=20, help="steps after which an episode is cut off")
    parser.add_argument("--double", action="store_true", help="double precision")
    return parser


if __name__ == "__main__":
    arguments = parser().parse_args()
    torch.set_num_threads(1)
    program = Program(arguments)
    paid = [program.iterate() for _ in range(arguments.iterations)]
    program.recorder.close()
    print(
        f"reward per step: {np.mean(paid[:3]):.2f} at first, {np.mean(paid[-3:]):.2f} at the end; recorded in {arguments.out}"
    )
