"""Recurrent PPO in one file, recorded for `trueline diagnose`: a cue is shown once, and has to be recalled some steps later.

python3 examples/pytorch/recurrent.py --out runs/recurrent
trueline diagnose runs/recurrent

Every stage is a method of its own, so that a mistake can be put in from outside by replacing one. The one thing to get wrong: the update has to run the
memory over the rows in the order in which they were lived, from the state that acting had there, and to forget where acting forgot.
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

GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, NORM = 0.9, 0.9, 0.2, 0.01, 0.5, 0.5
CUES, SIZE = 3, 16


class Recall:
    """A cue in the first step of an episode, noise in all others. It pays to name the cue in every step; an episode ends by a draw, or is cut off at the limit."""

    def __init__(self, envs, limit, random):
        self.envs, self.limit, self.random = envs, limit, random
        self.cue, self.age = random.integers(0, CUES, envs), np.zeros(envs, int)

    def observe(self):
        shown = np.eye(CUES)[self.cue] * (self.age == 0)[:, None]
        noise = 0.3 * self.random.normal(size=(self.envs, 2))
        return np.concatenate([shown, noise], 1)

    def step(self, action):
        reward = (action == self.cue).astype(float)
        self.age += 1
        terminated = self.random.random(self.envs) < 0.08
        truncated = (self.age >= self.limit) & ~terminated
        over = terminated | truncated
        final = self.observe()
        self.cue[over] = self.random.integers(0, CUES, int(over.sum()))
        self.age[over] = 0
        return reward, terminated, truncated, final


class Policy(nn.Module):
    """A memory, and two layers that read it: scores of the cues, and the value."""

    def __init__(self, inputs):
        super().__init__()
        self.memory = nn.GRUCell(inputs, SIZE)
        self.actor, self.critic = nn.Linear(SIZE, CUES), nn.Linear(SIZE, 1)

    def forward(self, obs, state):
        state = self.memory(obs, state)
        return self.actor(state), self.critic(state)[:, 0], state


class Program:
    def __init__(self, options, recorder_class=Recorder):
        self.options = options
        self.type = torch.float64 if options.double else torch.float32
        torch.set_default_dtype(self.type)
        torch.manual_seed(options.seed)
        self.random = np.random.default_rng(options.seed)
        self.game = Recall(options.envs, options.limit, self.random)
        self.obs = self.game.observe()
        self.policy = Policy(CUES + 2)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=options.rate, eps=1e-5)
        self.state, self.fresh = torch.zeros(options.envs, SIZE), torch.ones(options.envs, dtype=torch.bool)
        settings = {
            "clip": CLIP,
            "epochs": options.epochs,
            "minibatches": options.minibatches,
            "max_grad_norm": NORM,
            "entropy_coefficient": ENTROPY,
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
        policy = self.policy
        self.recorder.watch(
            actor=[policy.actor],
            critic=[policy.critic],
            shared=[policy.memory],
            head=policy.actor,
            optimizer=self.optimizer,
        )

    # - memory -

    def forgotten(self, state, over, terminated, truncated):
        """The state that acting goes on with after a step."""
        return torch.where(over[:, None], torch.zeros_like(state), state)

    def kept_state(self, before, after):
        """Of the states before and after a step, the one that is stored with its row."""
        return before

    def first_state(self, stored):
        """What a sequence of the update starts from, given the states stored with its first rows."""
        return stored

    def resumed(self, state, starts):
        """The state that the update goes on with at a row, where an episode may start."""
        return torch.where(starts[:, None], torch.zeros_like(state), state)

    def seen(self, obs):
        """What the update gives the policy of the observations that acting saw."""
        return obs

    # - an iteration -

    @torch.no_grad()
    def collect(self):
        options, keep = self.options, {}

        def note(t, **columns):
            for name, value in columns.items():
                value = torch.as_tensor(value)
                value = value.to(self.type) if value.is_floating_point() else value
                keep.setdefault(name, torch.zeros((options.steps, *value.shape), dtype=value.dtype))[t] = value

        if options.zero:
            self.state = torch.zeros_like(self.state)
        for t in range(options.steps):
            obs, before = torch.as_tensor(self.obs, dtype=self.type), self.state
            logits, value, after = self.policy(obs, before)
            choice = torch.distributions.Categorical(logits=logits)
            action = choice.sample()
            note(
                t,
                obs=obs,
                logits=logits,
                action=action,
                old_logp=choice.log_prob(action),
                value=value,
                starts=self.fresh,
            )
            note(t, acted=before, state_in=self.kept_state(before, after))
            reward, terminated, truncated, final = self.game.step(action.numpy())
            follows = self.policy(torch.as_tensor(final, dtype=self.type), after)[1]
            note(t, reward=reward, terminated=terminated, truncated=truncated, final=follows)
            self.fresh = torch.as_tensor(terminated | truncated)
            self.state = self.forgotten(after, self.fresh, torch.as_tensor(terminated), torch.as_tensor(truncated))
            # The last observation of a rollout was drawn already, with its noise.
            self.obs = np.where(self.fresh.numpy()[:, None], self.game.observe(), final)
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
        cut = rollout["truncated"] | torch.zeros_like(rollout["truncated"])
        cut[-1] = True
        more = {"state_in": rollout["acted"], "starts": rollout["starts"]} if self.options.columns != "none" else {}
        self.recorder.samples(
            num_actions=CUES,
            next_value=torch.where(cut, rollout["final"], math.nan),
            return_=rollout["advantage"] + rollout["value"],
            **{
                name: rollout[name]
                for name in ("obs", "logits", "action", "old_logp", "reward", "terminated", "truncated")
            },
            **{name: rollout[name] for name in ("value", "advantage")},
            **more,
        )

    def sequences(self, steps, envs):
        """Rows of every sequence, one column each, in the order of time: rows are counted by step and then environment."""
        rows = torch.arange(steps * envs).reshape(steps, envs)
        return torch.cat(list(rows.split(self.options.length)), 1)

    def forward(self, batch, rows):
        """The memory run over sequences (length, count), after a few rows before them that only warm it up."""
        warm = min(self.options.burn_in, int(rows[0].min()) // self.options.envs)
        before = [rows[0] - self.options.envs * back for back in range(warm, 0, -1)]
        state = self.first_state(batch["state_in"][before[0] if before else rows[0]])
        found = []
        for at, row in enumerate([*before, *rows]):
            state = self.resumed(state, batch["starts"][row])
            entered = state
            with torch.set_grad_enabled(at >= warm and torch.is_grad_enabled()):
                logits, value, state = self.policy(self.seen(batch["obs"][row]), state)
            if at >= warm:
                found.append((logits, value, entered))
        logits, value, entered = (torch.stack(column).flatten(0, 1) for column in zip(*found))
        choice = torch.distributions.Categorical(logits=logits)
        return choice, choice.log_prob(batch["action"][rows.flatten()]), value, entered

    def minibatch(self, batch, rows, which):
        choice, new, guess, entered = self.forward(batch, rows)
        index = rows.flatten()
        old, advantage, target = batch["old_logp"][index], batch["normal"][index], batch["target"][index]
        ratio = (new - old).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        value_loss = (guess - target).pow(2).mean()
        entropy = choice.entropy()
        loss = policy_loss + VALUE * value_loss - ENTROPY * entropy.mean()
        more = {}
        if self.options.columns == "all":
            more = {"state_in": entered, "sequence": which.expand(len(rows), -1).flatten()}
            more["obs"] = self.seen(batch["obs"][index])
        self.recorder.replays(
            sample=index,
            new_logp=new,
            old_logp=old,
            advantage=advantage,
            entropy=entropy,
            value=guess,
            return_=target,
            logits=choice.logits,
            again=lambda: self.forward(batch, rows)[1],
            **more,
        )
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.policy.parameters(), NORM)
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
        sequences = self.sequences(options.steps, options.envs)
        for _ in range(options.epochs):
            order = torch.as_tensor(self.random.permutation(sequences.shape[1]))
            for part in order.chunk(options.minibatches):
                self.minibatch(batch, sequences[:, part], part)
        return float(rollout["reward"].mean())


def parser():
    parser = argparse.ArgumentParser(description="Recurrent PPO, recorded for `trueline diagnose`.")
    parser.add_argument("--out", default="runs/recurrent", help="folder of the recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--kept", type=int, default=3, help="iterations at the beginning whose rows are all kept")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=32, help="steps of every environment in one iteration")
    parser.add_argument(
        "--length", type=int, default=16, help="steps of a sequence in the update; it divides the steps"
    )
    parser.add_argument("--burn-in", type=int, default=0, help="rows before a sequence that only warm its memory up")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    parser.add_argument("--limit", type=int, default=12, help="steps after which an episode is cut off")
    parser.add_argument("--zero", action="store_true", help="acting begins every rollout without a memory")
    parser.add_argument("--double", action="store_true", help="double precision")
    parser.add_argument(
        "--columns", choices=("all", "samples", "none"), default="all", help="what is recorded of the memory"
    )
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
