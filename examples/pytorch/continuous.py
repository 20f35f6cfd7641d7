"""PPO for continuous actions in one file, recorded for `trueline diagnose`: three torques hold three pendulums upright.

python3 examples/pytorch/continuous.py --out runs/continuous
python3 examples/pytorch/continuous.py --out runs/squashed --squash
trueline diagnose runs/continuous

Every stage is a method of its own, so that a mistake can be put in from outside by replacing one. The one thing to get wrong: what is stored and scored
is the action as it was drawn; what the environment is given is made from it, and never scored.
"""

import argparse
import math
import pathlib
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from trueline_recorder import Recorder

GAMMA, LAMBDA, CLIP, VALUE, NORM = 0.95, 0.9, 0.2, 0.5, 0.5
DIMENSIONS, TORQUE = 3, 2.0
LOG_TAU = math.log(2 * math.pi)


class Pendulums:
    """Three pendulums with a torque each, in every environment. An episode ends where one of them hangs down, and is cut off at the limit."""

    def __init__(self, envs, limit, random):
        self.envs, self.limit, self.random = envs, limit, random
        self.angle, self.speed = self.start(envs)
        self.age = random.integers(0, limit, envs)

    def start(self, count):
        return self.random.uniform(-0.8, 0.8, (count, DIMENSIONS)), self.random.uniform(-0.5, 0.5, (count, DIMENSIONS))

    def observe(self):
        return np.concatenate([np.sin(self.angle), np.cos(self.angle), self.speed / 4], 1)

    def step(self, torque):
        self.speed = np.clip(self.speed + 0.1 * (5 * np.sin(self.angle) + 3 * torque), -8, 8)
        self.angle = self.angle + 0.1 * self.speed
        self.age += 1
        reward = 1 - (self.angle**2 + 0.05 * self.speed**2 + 0.02 * torque**2).mean(1)
        terminated = (np.abs(self.angle) > 2.5).any(1)
        truncated = (self.age >= self.limit) & ~terminated
        final = self.observe()
        over = terminated | truncated
        self.angle[over], self.speed[over] = self.start(int(over.sum()))
        self.age[over] = 0
        return reward, terminated, truncated, final


def mlp(inputs, outputs, gain):
    layers = [nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, outputs)]
    for layer, size in ((layers[0], 2**0.5), (layers[2], 2**0.5), (layers[4], gain)):
        nn.init.orthogonal_(layer.weight, size)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


class Actor(nn.Module):
    """Means, and logarithms of deviations: one per dimension for all states, or a second output of the network."""

    def __init__(self, inputs, depends, begin):
        super().__init__()
        self.depends, self.head = depends, "body.4"
        self.body = mlp(inputs, DIMENSIONS * (2 if depends else 1), 0.01)
        self.begin = begin
        self.log_std = None if depends else nn.Parameter(torch.tensor(begin) * torch.ones(DIMENSIONS))

    def forward(self, obs):
        found = self.body(obs)
        if not self.depends:
            return found, self.log_std.expand_as(found)
        mean, more = found.chunk(2, -1)
        return mean, (more + torch.tensor(self.begin)).clamp(-5, 2)


class Program:
    def __init__(self, options, recorder_class=Recorder):
        self.options, self.kind = options, "squashed-gaussian" if options.squash else "gaussian"
        self.type = torch.float64 if options.double else torch.float32
        torch.set_default_dtype(self.type)
        torch.manual_seed(options.seed)
        torch.distributions.Distribution.set_default_validate_args(False)
        self.random = np.random.default_rng(options.seed)
        self.game = Pendulums(options.envs, options.limit, self.random)
        inputs = 3 * DIMENSIONS
        self.actor, self.critic = self.make_actor(inputs), mlp(inputs, 1, 1.0)
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=1e-3, eps=1e-5)
        settings = {
            "clip": CLIP,
            "epochs": options.epochs,
            "minibatches": options.minibatches,
            "max_grad_norm": NORM,
            "entropy_coefficient": options.bonus,
            "value_coefficient": VALUE,
            "advantage_normalisation": "batch",
        }
        self.recorder = recorder_class(
            options.out,
            gamma=GAMMA,
            lam=LAMBDA,
            seed=options.seed,
            overwrite=True,
            first=options.kept,
            settings=settings,
        )
        self.recorder.watch(actor=self.actor, critic=self.critic, optimizer=self.optimizer, head=self.actor.head)

    # - the distribution -

    def make_actor(self, inputs):
        return Actor(inputs, self.options.depends, (-0.8, -0.6, -0.4))

    def deviation(self, log_std):
        return log_std.exp()

    def drawn(self, mean, log_std):
        return mean + self.deviation(log_std) * torch.randn_like(mean)

    def parts(self, action, mean, log_std):
        """The log-probability of every dimension."""
        deviation = self.deviation(log_std)
        return -0.5 * ((action - mean) / deviation) ** 2 - deviation.log() - 0.5 * LOG_TAU

    def correction(self, action):
        """What squashing adds to the density of every dimension."""
        scale = TORQUE if self.options.scale else 1.0
        return torch.log(scale * (1 - action.tanh() ** 2) + self.options.epsilon)

    def reduced(self, parts):
        return parts.sum(-1)

    def logp(self, action, mean, log_std):
        parts = self.parts(action, mean, log_std)
        if self.options.squash and self.options.corrected:
            parts = parts - self.correction(action)
        return self.reduced(parts)

    def acting_logp(self, action, mean, log_std):
        return self.logp(action, mean, log_std)

    def update_logp(self, action, mean, log_std):
        return self.logp(action, mean, log_std)

    def entropy(self, mean, log_std):
        found = 0.5 + 0.5 * LOG_TAU + self.deviation(log_std).log()
        return found.mean(-1) if self.options.mean_entropy else found.sum(-1)

    def described(self, mean, log_std):
        """The columns that say what actions are drawn from."""
        return {"mean": mean, "log_std": log_std}

    def given(self, action):
        """What the environment is given."""
        if self.options.squash:
            return TORQUE * action.tanh()
        if self.options.scale:
            return TORQUE * action
        return action.clamp(-1, 1) if self.options.clipped else action

    def stored(self, action):
        """The action that the update scores."""
        if self.options.squash and self.options.inverted:
            return torch.atanh(action.tanh().clamp(-0.999999, 0.999999))
        return action

    # - an iteration -

    @torch.no_grad()
    def collect(self):
        options, keep = self.options, {}

        def note(t, **columns):
            for name, value in columns.items():
                value = torch.as_tensor(value)
                value = value.to(self.type) if value.is_floating_point() else value
                keep.setdefault(name, torch.zeros((options.steps, *value.shape), dtype=value.dtype))[t] = value

        for t in range(options.steps):
            obs = torch.as_tensor(self.game.observe(), dtype=self.type)
            mean, log_std = self.actor(obs)
            action = self.drawn(mean, log_std)
            logp = self.acting_logp(action, mean, log_std)
            given = self.given(action)
            note(t, obs=obs, mean=mean, log_std=log_std, drawn=action, action=self.stored(action), env_action=given)
            reward, terminated, truncated, final = self.game.step(given.numpy())
            follows = self.critic(torch.as_tensor(final, dtype=self.type))[:, 0]
            note(
                t,
                old_logp=logp,
                value=self.critic(obs)[:, 0],
                reward=reward,
                terminated=terminated,
                truncated=truncated,
                final=follows,
            )
        return keep

    def advantages(self, rollout):
        """A termination leaves nothing; a time limit, and the rollout's end, leave the critic's guess."""
        steps, advantage, running = len(rollout["reward"]), torch.zeros_like(rollout["reward"]), 0.0
        for t in reversed(range(steps)):
            terminated, ended = rollout["terminated"][t], rollout["terminated"][t] | rollout["truncated"][t]
            cut = rollout["truncated"][t] | (t == steps - 1)
            follows = torch.where(cut, rollout["final"][t], rollout["value"][min(t + 1, steps - 1)])
            delta = rollout["reward"][t] + GAMMA * follows * ~terminated - rollout["value"][t]
            running = delta + GAMMA * LAMBDA * running * ~ended
            advantage[t] = running
        return advantage

    def record(self, rollout):
        cut = rollout["truncated"].clone()
        cut[-1] = True
        options = self.options
        more = {}
        if options.columns != "none":
            more["action_values"] = rollout["action"]
        if options.columns in ("samples", "all"):
            more.update(self.described(rollout["mean"], rollout["log_std"]), env_action=rollout["env_action"])
            more["distribution"] = self.kind
        self.recorder.samples(
            obs=rollout["obs"],
            next_value=torch.where(cut, rollout["final"], math.nan),
            return_=rollout["advantage"] + rollout["value"],
            **{name: rollout[name] for name in ("old_logp", "reward", "terminated", "truncated", "value", "advantage")},
            **more,
        )

    def pick(self, batch, index):
        """A minibatch's columns; one index for all of them."""
        return {name: column[index] for name, column in batch.items()}

    def policy_loss(self, new, old, advantage):
        ratio = (new - old).exp()
        return -torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()

    def loss(self, policy_loss, value_loss, entropy):
        return policy_loss + VALUE * value_loss - self.options.bonus * entropy.mean()

    def minibatch(self, batch, index):
        options, rows = self.options, self.pick(batch, index)

        def forward():
            mean, log_std = self.actor(rows["obs"])
            return mean, log_std, self.update_logp(rows["action"], mean, log_std)

        mean, log_std, new = forward()
        old, advantage = rows["old_logp"], rows["normal"]
        policy_loss = self.policy_loss(new, old, advantage)
        guess = self.critic(rows["obs"])[:, 0]
        value_loss = (guess - rows["target"]).pow(2).mean()
        entropy = self.entropy(mean, log_std)
        loss = self.loss(policy_loss, value_loss, entropy)
        more = {"action_values": rows["action"]} if options.columns == "all" else {}
        more.update(self.described(mean, log_std) if more else {})
        self.recorder.replays(
            sample=index,
            new_logp=new,
            old_logp=old,
            advantage=advantage,
            entropy=entropy,
            value=guess,
            return_=rows["target"],
            again=lambda: forward()[2],
            **more,
        )
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], NORM)
        self.optimizer.step()
        gap = (new - old).detach()
        self.recorder.step(
            loss=loss,
            policy_loss=policy_loss,
            value_loss=value_loss,
            entropy=entropy.mean(),
            approx_kl=(gap.exp() - 1 - gap).mean(),
            clip_fraction=((gap.exp() - 1).abs() > CLIP).double().mean(),
            grad_norm=norm,
        )

    def iterate(self):
        options = self.options
        rollout = self.collect()
        rollout["advantage"] = self.advantages(rollout)
        self.record(rollout)
        batch = {name: column.flatten(0, 1) for name, column in rollout.items()}
        batch["target"] = batch["advantage"] + batch["value"]
        batch["normal"] = (batch["advantage"] - batch["advantage"].mean()) / (batch["advantage"].std() + 1e-8)
        rows = options.steps * options.envs
        for _ in range(options.epochs):
            for index in np.array_split(self.random.permutation(rows), options.minibatches):
                self.minibatch(batch, torch.as_tensor(index))
        return float(rollout["reward"].mean())


def parser():
    parser = argparse.ArgumentParser(description="PPO for continuous actions, recorded for `trueline diagnose`.")
    parser.add_argument("--out", default="runs/continuous", help="folder of the recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--kept", type=int, default=3, help="iterations at the beginning whose rows are all kept")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=64, help="steps of every environment in one iteration")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--bonus", type=float, default=0.001, help="weight of the entropy in the loss")
    parser.add_argument("--limit", type=int, default=60, help="steps after which an episode is cut off")
    parser.add_argument("--double", action="store_true", help="double precision")
    parser.add_argument("--depends", action="store_true", help="the deviation depends on the state")
    parser.add_argument("--squash", action="store_true", help="the action goes through tanh")
    parser.add_argument(
        "--no-correction", dest="corrected", action="store_false", help="scores squashed actions before tanh"
    )
    parser.add_argument(
        "--inverted", action="store_true", help="keeps the squashed action, and the update inverts tanh"
    )
    parser.add_argument("--epsilon", type=float, default=1e-6, help="added to the derivative of tanh")
    parser.add_argument("--scale", action="store_true", help="the action is multiplied by the largest torque")
    parser.add_argument("--unclipped", dest="clipped", action="store_false", help="the environment takes any torque")
    parser.add_argument("--mean-entropy", action="store_true", help="the mean over dimensions, not their sum")
    parser.add_argument(
        "--columns",
        choices=("all", "samples", "actions", "none"),
        default="all",
        help="what is recorded of the distribution",
    )
    return parser


def train(options, recorder_class=Recorder):
    program = Program(options, recorder_class)
    try:
        return [program.iterate() for _ in range(options.iterations)]
    finally:
        program.recorder.close()


if __name__ == "__main__":
    arguments = parser().parse_args()
    torch.set_num_threads(1)
    paid = train(arguments)
    print(
        f"reward per step: {np.mean(paid[:3]):.2f} at first, {np.mean(paid[-3:]):.2f} at the end; recorded in {arguments.out}"
    )
