"""A healthy PPO for one agent or several, which follows the conventions that it is given, and records itself.

Every stage is a method of its own, so that a fault can replace one from outside; nothing here knows of faults. The one thing to get
wrong: columns have the axes (steps, environments, agents) until `flatten`, which alone decides how rows lie.
"""

import numpy as np
import torch
from torch import nn

import credit
import games
import networks


STEPS, ENVS, ITERATIONS = 16, 16, 6
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, NORM, TARGET, N = 0.97, 0.9, 0.2, 0.01, 0.5, 0.5, 0.02, 4
EPOCHS = {"1x1": (1, 1), "1x4": (1, 4), "3x2": (3, 2), "4x4": (4, 4), "6x1": (6, 1)}
FILL = {"mask-inf": -float("inf"), "mask": -1e8}


class Program:
    def __init__(self, conventions, seed, out, drop=()):
        self.c, self.out, self.drop, self.seed = conventions, out, drop, seed
        c = conventions
        self.random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.agents = int(c["agents"])
        self.gaussian = c["actions"] == "gaussian"
        self.epochs, self.parts = EPOCHS[c["epochs"]]
        self.temperature = float(c["temperature"])
        limit = 12 if c["episodes"] == "short" else 5 * STEPS
        self.game = games.make(ENVS, self.agents, limit, self.random, c["deaths"] != "none")
        size = self.game.observe().shape[-1]
        one = c["networks"] == "one"
        self.names = [f"agent{i}" for i in range(self.agents)]
        self.owners = [list(range(self.agents))] if one else [[i] for i in range(self.agents)]
        self.policy_names = ["all"] if one and self.agents > 1 else self.names
        self.extra = self.agents if one else 0
        inputs = size + self.extra
        self.central = c["critic"] == "central"
        critic_inputs = inputs + (size * self.agents if self.central else 0)
        outputs = 2 if self.gaussian else games.CHOICES
        self.policies = [networks.Policy(inputs, critic_inputs, outputs, c["networks"] == "trunk", self.gaussian) for _ in self.owners]
        scale = self.parts / (STEPS * ENVS * len(self.owners[0])) if c["reduction"] == "sum" else 1.0
        self.optimisers = [networks.optimisers(p, c["optimiser"], c["optimisers"] == "two", scale) for p in self.policies]
        self.rates = [[g["lr"] for o in own for g in o.param_groups] for own in self.optimisers]
        self.seen, self.paid, self.worth = networks.Running((size,)), networks.Running(), [networks.Running() for _ in self.policies]
        self.running_return = np.zeros((ENVS, self.agents), np.float32)
        self.iteration = 0

    # - acting -

    def progress(self):
        return self.iteration / ITERATIONS

    def inputs(self, raw):
        """What the policies see of the game's observations."""
        seen = torch.as_tensor(raw)
        if self.c["observations"] == "normalised":
            seen = self.seen.normal(seen).clamp(-10, 10)
        if self.extra:
            seen = torch.cat([seen, torch.eye(self.agents).expand(*seen.shape[:-1], self.agents)], -1)
        return seen

    def states(self, seen):
        if not self.central:
            return seen
        plain = seen[..., : seen.shape[-1] - self.extra]
        return torch.cat([seen, plain.flatten(-2)[..., None, :].expand(*seen.shape[:-1], -1)], -1)

    def scores(self, policy, obs):
        """The forward pass of the update."""
        return policy.score(obs)

    def sampling_scores(self, policy, obs):
        return policy.score(obs)

    def local(self, scores, subset):
        return scores if self.gaussian else scores.gather(-1, subset)

    def distribution(self, policy, local, legal):
        if self.gaussian:
            return torch.distributions.Independent(torch.distributions.Normal(local, policy.log_std.exp().expand_as(local)), 1)
        masked = (local / self.temperature).masked_fill(~legal, FILL.get(self.c["choices"], -1e9))
        return torch.distributions.Categorical(logits=masked)

    def sampling_distribution(self, policy, local, legal):
        return self.distribution(policy, local, legal)

    def stored_logp(self, choice, action):
        return choice.log_prob(action)

    def values(self, policy, states):
        found = self.policies[policy].value(states)
        return found if self.c["values"] == "plain" else self.worth[policy].back(found)

    def all_values(self, seen):
        states = self.states(seen)
        columns = [self.values(p, states[..., agents, :]) for p, agents in enumerate(self.owners)]
        return torch.cat(columns, -1)

    def treat(self, reward):
        """Rewards as the trainer keeps them."""
        reward = reward * float(self.c["scale"])
        if self.c["rewards"] == "clipped":
            return np.clip(reward, -1, 1)
        if self.c["rewards"] == "normalised":
            self.running_return = GAMMA * self.running_return + reward
            self.paid.update(torch.as_tensor(self.running_return.reshape(-1)))
            return np.clip(reward / float(self.paid.std + 1e-8), -10, 10).astype(np.float32)
        return reward

    @torch.no_grad()
    def collect(self):
        keep = {}

        def note(t, **columns):
            for name, value in columns.items():
                value = torch.as_tensor(value)
                keep.setdefault(name, torch.zeros((STEPS, *value.shape), dtype=value.dtype))[t] = value

        for t in range(STEPS):
            raw = self.game.observe()
            if self.c["observations"] == "normalised":
                self.seen.update(torch.as_tensor(raw).flatten(0, 1))
            seen = self.inputs(raw)
            subset, count, legal = (torch.as_tensor(x) for x in self.game.offer(self.c["choices"]))
            note(t, obs=seen, raw=torch.as_tensor(raw), state=self.states(seen), subset=subset, count=count, legal=legal, alive=self.game.alive.copy())
            action, logp, logits = [], [], []
            for policy, agents in zip(self.policies, self.owners):
                local = self.local(self.sampling_scores(policy, seen[:, agents]), subset[:, agents])
                choice = self.sampling_distribution(policy, local, legal[:, agents])
                action.append(choice.sample())
                logp.append(self.stored_logp(choice, action[-1]))
                logits.append(local)
            note(t, action=torch.cat(action, 1), old_logp=torch.cat(logp, 1), logits=torch.cat(logits, 1), value=self.all_values(seen))
            chosen = keep["action"][t] if self.gaussian else subset.gather(-1, keep["action"][t][..., None])[..., 0]
            reward, terminated, truncated, final = self.game.step(chosen.numpy())
            note(t, env_reward=reward * np.float32(self.c["scale"]), reward=self.treat(reward).astype(np.float32), terminated=terminated, truncated=truncated)
            note(t, final_seen=self.inputs(final))
        keep["last_seen"] = self.inputs(self.game.observe())
        keep.update(final=self.all_values(keep["final_seen"]), last=self.all_values(keep["last_seen"]))
        if self.c["limits"] == "done":
            keep["terminated"], keep["truncated"] = keep["terminated"] | keep["truncated"], torch.zeros_like(keep["truncated"])
        if self.c["flag"] == "before":
            for name in ("terminated", "truncated"):
                began, keep[f"last_{name}"] = keep[name][:-1], keep[name][-1]
                keep[name] = torch.cat([torch.zeros_like(keep[name][:1]), began])
        return keep

    # - credit -

    def after(self, rollout, name):
        """Whether an episode ended so after each row's action, wherever the program keeps the flag."""
        if self.c["flag"] == "before":
            return torch.cat([rollout[name][1:], rollout[f"last_{name}"][None]])
        return rollout[name]

    def ends(self, rollout):
        """What the credit pass takes for a termination, and for an end of any kind."""
        terminated = self.after(rollout, "terminated")
        return terminated, terminated | self.after(rollout, "truncated")

    def follows(self, rollout, value):
        """The value of what came after each row's action."""
        after = torch.cat([value[1:], rollout["last"][None]])
        return torch.where(self.after(rollout, "truncated"), rollout["final"], after)

    def advantages(self, rollout, value):
        terminated, ended = self.ends(rollout)
        reward = rollout["reward"]
        if self.c["limits"] == "folded":
            # As some libraries do it: what a cut-off episode was still worth is paid as a reward, and every end is final.
            late = self.after(rollout, "truncated") & ended
            reward = reward + GAMMA * self.follows(rollout, value) * late
            terminated = terminated | late
        return credit.estimate(self.c["credit"], reward, value, self.follows(rollout, value), terminated, ended, GAMMA, LAMBDA, N)

    def returns(self, advantage, value):
        return advantage + value

    # - rows -

    def order(self):
        """Where each row lies: indices into (steps, environments, agents), in storage order."""
        index = torch.arange(STEPS * ENVS * self.agents).reshape(STEPS, ENVS, self.agents)
        axes = {"steps": (0, 1, 2), "flat": (0, 1, 2), "environments": (1, 0, 2), "agents": (2, 0, 1)}[self.c["layout"]]
        return index.permute(axes).reshape(-1)

    def flatten(self, rollout):
        order = self.order()
        if self.c["deaths"] == "dropped":
            order = order[rollout["alive"].flatten()[order]]
        batch = {name: column.flatten(0, 2)[order] for name, column in rollout.items() if not name.startswith("last")}
        batch["env"] = (order // self.agents) % ENVS
        batch["agent"] = order % self.agents
        batch["weight"] = batch["alive"].float()
        return batch

    def rows_of(self, batch, policy):
        mine = torch.zeros(self.agents, dtype=torch.bool)
        mine[self.owners[policy]] = True
        return torch.nonzero(mine[batch["agent"]])[:, 0]

    def spread(self, advantage, weight):
        kept = advantage[weight > 0]
        return kept.mean(), kept.std(unbiased=self.c["deviation"] == "n-1")

    def normalised(self, advantage, weight):
        mean, std = self.spread(advantage, weight)
        if self.c["normalisation"] == "centred":
            return advantage - mean
        return (advantage - mean) / (std + 1e-8)

    def normalise_batch(self, batch, rows):
        """What the whole batch's normalisation makes of a policy's advantages."""
        advantage, weight, agent = batch["advantage"][rows], batch["weight"][rows], batch["agent"][rows]
        if self.c["normalisation"] in ("batch", "centred"):
            return self.normalised(advantage, weight)
        if self.c["normalisation"] == "agent":
            out = torch.zeros_like(advantage)
            for who in agent.unique():
                out[agent == who] = self.normalised(advantage[agent == who], weight[agent == who])
            return out
        return advantage

    def minibatches(self, count):
        if self.c["minibatches"] == "sequential":
            order = np.arange(count)
        elif self.c["minibatches"] == "drawn":
            order = self.random.integers(0, count, count)
        else:
            order = self.random.permutation(count)
        return [torch.as_tensor(part) for part in np.array_split(order, self.parts)]

    def pick(self, batch, rows):
        """A minibatch's columns; one index for all of them."""
        return {name: column[rows] for name, column in batch.items()}

    # - the update -

    def clip(self):
        return CLIP * (1 - 0.8 * self.progress()) if self.c["clip"] == "scheduled" else CLIP

    def entropy_coefficient(self):
        return {"constant": ENTROPY, "none": 0.0, "scheduled": 4 * ENTROPY * (1 - self.progress())}[self.c["entropy"]]

    def average(self, x, weight):
        return (x * weight).sum() if self.c["reduction"] == "sum" else (x * weight).sum() / weight.sum()

    def ratio(self, new, old):
        return (new - old).exp()

    def policy_loss(self, new, old, advantage, weight):
        if self.c["objective"] == "plain":
            return -self.average(new * advantage, weight)
        ratio = self.ratio(new, old)
        return -self.average(torch.min(ratio * advantage, ratio.clamp(1 - self.clip(), 1 + self.clip()) * advantage), weight)

    def value_loss(self, guess, target, before, weight):
        kind = self.c["value loss"]
        error = (guess - target) ** 2
        if kind.startswith("clipped"):
            near = before + (guess - before).clamp(-self.clip(), self.clip())
            error = torch.max(error, (near - target) ** 2)
        if kind == "huber":
            return self.average(nn.functional.huber_loss(guess, target, reduction="none", delta=1.0), weight)
        return self.average(error, weight) * (0.5 if kind in ("half", "clipped half") else 1.0)

    def loss(self, policy_loss, value_loss, entropy):
        return policy_loss + VALUE * value_loss - self.entropy_coefficient() * entropy

    def clear(self, optimisers):
        for optimiser in optimisers:
            optimiser.zero_grad()

    def backward(self, loss):
        loss.backward()

    def limit_gradients(self, policy):
        parameters = list(policy.parameters())
        if self.c["gradients"] == "norm":
            return nn.utils.clip_grad_norm_(parameters, NORM)
        if self.c["gradients"] == "value":
            nn.utils.clip_grad_value_(parameters, 0.1)
        return None

    def apply(self, optimisers):
        for optimiser in optimisers:
            optimiser.step()

    def kl(self, new, old, weight):
        gap = new - old
        each = {"k1": -gap, "k2": 0.5 * gap**2, "k3": gap.exp() - 1 - gap}[self.c["kl"] if self.c["kl"] != "none" else "k3"]
        return (each * weight).sum() / weight.sum()

    def learn_worth(self, policy, target):
        """Follows the returns' mean and spread; with `popart` the critic's last layer is changed so that it says the same as before."""
        worth = self.worth[policy]
        mean, std = worth.mean, worth.std
        worth.update(target)
        if self.c["values"] == "popart":
            head = self.policies[policy].critic[-1]
            with torch.no_grad():
                head.weight *= float(std / worth.std)
                head.bias.copy_((head.bias * std + mean - worth.mean) / worth.std)
