"""DQN in one file, recorded for `trueline diagnose`: a walk along a corridor that pays at its end. Targets of n steps, prioritised replay, hard or soft target updates.

python3 examples/pytorch/dqn.py --out runs/dqn
python3 examples/pytorch/dqn.py --out runs/dqn3 --n 3 --prioritised --tau 0.01
trueline diagnose runs/dqn

Every stage is a method of its own, so that a mistake can be put in from outside by replacing one. The one thing to get wrong: a window of n steps stops at the
first end in it, and what follows a time limit is the last state of the old episode, not the first of the next.
"""

import argparse
import copy
import pathlib
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from trueline_recorder import Recorder

GAMMA, PLACES, ALPHA, BETA = 0.9, 8, 0.6, 0.4


class Corridor:
    """Places in a row. A step costs a little; the last place pays and ends the episode; the limit cuts it off."""

    def __init__(self, envs, limit, random):
        self.envs, self.limit, self.random = envs, limit, random
        self.place, self.age = random.integers(0, PLACES - 1, envs), random.integers(0, limit, envs)

    def observe(self):
        return np.eye(PLACES)[self.place]

    def step(self, action):
        slips = self.random.random(self.envs) < 0.1
        self.place = np.clip(self.place + np.where((action == 1) ^ slips, 1, -1), 0, PLACES - 1)
        self.age += 1
        terminated = self.place == PLACES - 1
        truncated = (self.age >= self.limit) & ~terminated
        reward = np.where(terminated, 1.0, -0.05) + 0.02 * self.random.normal(size=self.envs)
        final = self.observe()
        over = terminated | truncated
        self.place[over] = self.random.integers(0, PLACES - 1, int(over.sum()))
        self.age[over] = 0
        return reward, terminated, truncated, final


class Memory:
    """Steps of all environments, (steps, environments); a stored step is numbered by step and then environment."""

    def __init__(self, steps, envs):
        self.envs, self.count = envs, 0
        self.obs, self.after = np.zeros((steps, envs, PLACES)), np.zeros((steps, envs, PLACES))
        self.action, self.reward = np.zeros((steps, envs), int), np.zeros((steps, envs))
        self.terminated, self.truncated = np.zeros((steps, envs), bool), np.zeros((steps, envs), bool)
        self.priority = np.ones((steps, envs))

    def add(self, obs, action, reward, terminated, truncated, after):
        t = self.count
        self.obs[t], self.action[t], self.reward[t], self.after[t] = obs, action, reward, after
        self.terminated[t], self.truncated[t] = terminated, truncated
        self.priority[t] = self.priority[: t + 1].max()
        self.count += 1


class Program:
    def __init__(self, options, recorder_class=Recorder):
        self.options = options
        self.type = torch.float64 if options.double else torch.float32
        torch.set_default_dtype(self.type)
        torch.manual_seed(options.seed)
        self.random = np.random.default_rng(options.seed)
        self.game = Corridor(options.envs, options.limit, self.random)
        self.memory = Memory(options.iterations * options.steps + options.warm, options.envs)
        self.net = nn.Sequential(nn.Linear(PLACES, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target_net = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=options.rate)
        self.updates = 0
        settings = {"n": options.n, "priority_beta": BETA if options.prioritised else 0.0}
        settings["tau" if options.tau else "target_update_interval"] = options.tau or options.interval
        self.recorder = recorder_class(
            options.out,
            algorithm="dqn",
            gamma=GAMMA,
            seed=options.seed,
            overwrite=True,
            first=options.kept,
            settings=settings,
        )
        self.recorder.watch(actor=self.net, optimizer=self.optimizer, head="2")
        self.recorder.follow(target=self.target_net, online=self.net)

    # - acting -

    def act(self, explore):
        with torch.no_grad():
            best = self.net(torch.as_tensor(self.game.observe(), dtype=self.type)).argmax(1).numpy()
        return np.where(self.random.random(len(best)) < explore, self.random.integers(0, 2, len(best)), best)

    def collect(self, steps, explore):
        total = 0.0
        for _ in range(steps):
            obs, action = self.game.observe(), self.act(explore)
            reward, terminated, truncated, final = self.game.step(action)
            self.memory.add(obs, action, reward, terminated, truncated, final)
            total += float(reward.mean())
        return total / steps

    # - targets -

    def draw(self):
        """Stored steps with a whole window after them, and the probability of each."""
        last = self.memory.count - self.options.n - 1
        chance = self.memory.priority[:last].flatten() ** ALPHA
        chance = chance / chance.sum() if self.options.prioritised else np.full(chance.size, 1 / chance.size)
        return self.random.choice(chance.size, self.options.batch, p=chance), chance

    def weights(self, probability):
        weight = (self.memory.count * self.options.envs * probability) ** -BETA
        return weight / weight.max()

    def window(self, rows):
        """Rewards and ends of n steps and one more, as they are stored."""
        t, env = rows // self.options.envs, rows % self.options.envs
        at = t[:, None] + np.arange(self.options.n + 1)
        memory = self.memory
        return [
            column[at, env[:, None]] for column in (memory.reward, memory.terminated, memory.truncated, memory.after)
        ]

    def stops(self, terminated, truncated):
        """What ends a window, and what leaves nothing behind it."""
        return terminated | truncated, terminated

    def returns(self, reward, terminated, truncated):
        """Sum of the rewards up to the first end, the steps that it took, and whether something follows them."""
        ended, final = self.stops(terminated, truncated)
        total, alive, taken = np.zeros(len(reward)), np.ones(len(reward), bool), np.zeros(len(reward), int)
        follows = np.ones(len(reward), bool)
        for k in range(self.options.n):
            total += alive * GAMMA**k * reward[:, k]
            taken += alive
            follows &= ~(alive & final[:, k])
            alive &= ~ended[:, k]
        return total, taken, follows

    def bootstrap(self, after):
        state = torch.as_tensor(after, dtype=self.type)
        with torch.no_grad():
            found = self.target_net(state)
            if self.options.twofold:
                return found.gather(1, self.net(state).argmax(1, keepdim=True))[:, 0]
            return found.max(1).values

    def target(self, total, taken, follows, bootstrap):
        tensor = lambda array: torch.as_tensor(array, dtype=self.type)
        return tensor(total) + tensor(GAMMA**taken) * bootstrap * tensor(follows)

    def update(self):
        options = self.options
        rows, chance = self.draw()
        probability = chance[rows]
        reward, terminated, truncated, after = self.window(rows)
        total, taken, follows = self.returns(reward, terminated, truncated)
        bootstrap = self.bootstrap(after[np.arange(len(rows)), taken - 1])
        target = self.target(total, taken, follows, bootstrap)
        obs = torch.as_tensor(self.memory.obs.reshape(-1, PLACES)[rows], dtype=self.type)
        action = torch.as_tensor(self.memory.action.reshape(-1)[rows])
        prediction = self.net(obs).gather(1, action[:, None])[:, 0]
        weight = self.weights(probability) if options.prioritised else np.ones(len(rows))
        loss = (torch.as_tensor(weight, dtype=self.type) * (prediction - target) ** 2).mean()
        more = {"probability": probability, "priority": self.memory.priority.reshape(-1)[rows], "weight": weight}
        self.recorder.targets(
            sample=rows,
            rewards=reward,
            terminated=terminated,
            truncated=truncated,
            n=np.full(len(rows), options.n),
            bootstrap=bootstrap,
            target=target,
            prediction=prediction,
            **(more if options.prioritised else {}),
        )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.recorder.step(loss=loss)
        self.memory.priority.reshape(-1)[rows] = (prediction - target).detach().abs().numpy() + 1e-3
        self.updates += 1
        self.sync()

    def sync(self):
        """The target network follows: a little in every step, or wholly now and then."""
        if self.options.tau:
            for target, own in zip(self.target_net.parameters(), self.net.parameters()):
                target.data.lerp_(own.data, self.options.tau)
        elif self.updates % self.options.interval == 0:
            self.target_net.load_state_dict(self.net.state_dict())

    def iterate(self):
        options = self.options
        if self.memory.count == 0:
            self.collect(options.warm, 1.0)
        self.recorder.begin()
        paid = self.collect(options.steps, max(0.05, 0.5 - 0.02 * self.updates / options.steps))
        for _ in range(options.steps):
            self.update()
        return paid


def parser():
    parser = argparse.ArgumentParser(description="DQN, recorded for `trueline diagnose`.")
    parser.add_argument("--out", default="runs/dqn", help="folder of the recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--kept", type=int, default=3, help="iterations at the beginning whose rows are all kept")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument(
        "--steps", type=int, default=32, help="steps of every environment, and updates, in one iteration"
    )
    parser.add_argument("--warm", type=int, default=64, help="steps of every environment before the first update")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--n", type=int, default=1, help="steps of a target")
    parser.add_argument("--prioritised", action="store_true", help="draws rows by their last error")
    parser.add_argument("--twofold", action="store_true", help="the online network chooses, the target network values")
    parser.add_argument("--interval", type=int, default=32, help="updates after which the target network is copied")
    parser.add_argument(
        "--tau",
        type=float,
        default=0.0,
        help="share that the target network takes over in every update, in place of copies",
    )
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    parser.add_argument("--limit", type=int, default=25, help="steps after which an episode is cut off")
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
