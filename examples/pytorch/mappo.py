"""MAPPO for two agents with action subsets, in one file, recorded for `trueline diagnose`. `--fault` puts one classic mistake in.

Two smiths, IND and EDU, see what each of twelve tools is worth now. Every step each is offered a few tools, in any order and not all of
them usable, and is paid what the chosen one is worth, and half of what the other one gets. Every agent has an actor of its own, which
scores all twelve tools, and a critic that sees both agents.

    python3 examples/pytorch/mappo.py --out runs/mappo
    python3 examples/pytorch/mappo.py --out runs/broken --fault prefix
    trueline diagnose runs/broken
"""

import argparse
import pathlib
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from trueline_recorder import Recorder

FAULTS = {
    "prefix": "subset-not-replayed",  # the update scores the first K tools instead of the K that were offered
    "no-mask": "mask-not-replayed",  # the update forgets which of the offered tools were usable
    "swapped": "advantage-agent-swapped",  # each agent learns from the other's advantages
    "dropout": "stochastic-forward",  # dropout is on in the update and was off while sampling
    "late-ends": "done-time-shifted",  # credit reads the end of an episode one step late
}
AGENTS = ["IND", "EDU"]
TOOLS, MOST = 12, 6


class Smithy:
    """Many smithies at once, in numpy. With `mortal`, an agent that took a poor tool may drop out before the episode ends."""

    def __init__(self, envs, mortal, random):
        self.envs, self.mortal, self.random = envs, mortal, random
        self.worth = np.zeros((envs, TOOLS))
        self.left = np.zeros(envs, int)
        self.alive = np.ones((envs, 2), bool)
        self.begin(np.ones(envs, bool))

    def begin(self, which):
        count = which.sum()
        self.worth[which] = self.random.normal(size=(count, TOOLS))
        self.left[which] = self.random.integers(4, 13, count)
        self.alive[which] = True

    def offer(self):
        """For every agent the offered tools (padded with 0), how many they are, and which of them can be used."""
        subset = self.random.random((self.envs, 2, TOOLS)).argsort(-1)[..., :MOST]
        count = self.random.integers(2, MOST + 1, (self.envs, 2))
        offered = np.arange(MOST) < count[..., None]
        legal = offered & (self.random.random(offered.shape) < 0.75)
        legal[..., 0] |= ~legal.any(-1)
        return np.where(offered, subset, 0), count, legal

    def observe(self):
        return np.concatenate([self.worth, self.left[:, None] / 12], 1).astype(np.float32)

    def step(self, tool):
        gained = np.where(self.alive, np.take_along_axis(self.worth, tool, 1), 0)
        reward = 0.5 * gained + 0.25 * gained[:, ::-1]
        self.left -= 1
        # What was worth much is worth less from now on: choices matter for later.
        for who in range(2):
            self.worth[np.arange(self.envs), tool[:, who]] *= 0.7
        over = self.left <= 0
        fallen = (gained < -1) & (self.random.random(gained.shape) < 0.5) & self.mortal
        terminated = (over[:, None] | fallen) & self.alive
        self.alive &= ~terminated
        over |= ~self.alive.any(1)
        self.begin(over)
        return reward.astype(np.float32), terminated, over


def mlp(inputs, outputs, gain, dropout=0.0):
    layers = [
        nn.Linear(inputs, 64),
        nn.Tanh(),
        nn.Dropout(dropout),
        nn.Linear(64, 64),
        nn.Tanh(),
        nn.Linear(64, outputs),
    ]
    for layer, size in ((layers[0], 2**0.5), (layers[3], 2**0.5), (layers[5], gain)):
        nn.init.orthogonal_(layer.weight, size)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def local(scores, subset, legal):
    """The distribution over the tools that were offered and can be used. One function, for sampling and for the update."""
    return torch.distributions.Categorical(logits=scores.gather(-1, subset).masked_fill(~legal, -1e9))


def train(options, recorder_class=Recorder):
    random = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    torch.distributions.Distribution.set_default_validate_args(False)
    gamma, lam, clip, entropy_coefficient, value_coefficient, most = 0.95, 0.9, 0.2, 0.01, 0.5, 0.5
    game = Smithy(options.envs, options.mortal, random)
    actors = [mlp(TOOLS + 1, TOOLS, 0.01, 0.2 if options.fault == "dropout" else 0.0) for _ in AGENTS]
    critics = [mlp(TOOLS + 3, 1, 1.0) for _ in AGENTS]
    optimizers = [
        torch.optim.Adam([*a.parameters(), *c.parameters()], lr=1e-3, eps=1e-5) for a, c in zip(actors, critics)
    ]

    recorder = recorder_class(
        options.out,
        gamma=gamma,
        lam=lam,
        agents=AGENTS,
        seed=options.seed,
        algorithm="mappo",
        overwrite=True,
        settings={
            "clip": clip,
            "epochs": options.epochs,
            "minibatches": options.minibatches,
            "max_grad_norm": most,
            "entropy_coefficient": entropy_coefficient,
            "value_coefficient": value_coefficient,
            "advantage_normalisation": "batch",
        },
    )
    for name, actor, critic, optimizer in zip(AGENTS, actors, critics, optimizers):
        recorder.watch(policy=name, actor=actor, critic=critic, optimizer=optimizer, head="5")

    T, N, A = options.steps, options.envs, len(AGENTS)
    paid = []
    for iteration in range(options.iterations):
        obs, state = np.zeros((T, N, TOOLS + 1), np.float32), np.zeros((T, N, TOOLS + 3), np.float32)
        subset, legal = np.zeros((T, N, A, MOST), np.int64), np.zeros((T, N, A, MOST), bool)
        count, action = np.zeros((T, N, A), np.int64), np.zeros((T, N, A), np.int64)
        logits = np.zeros((T, N, A, MOST), np.float32)
        logp, value, reward = (np.zeros((T, N, A), np.float32) for _ in range(3))
        terminated, alive = np.zeros((T, N, A), bool), np.zeros((T, N, A), bool)
        for actor in actors:
            actor.eval()
        for t in range(T):
            obs[t], alive[t] = game.observe(), game.alive
            state[t] = np.concatenate([obs[t], game.alive], 1)
            subset[t], count[t], legal[t] = game.offer()
            with torch.no_grad():
                for who in range(A):
                    scores = actors[who](torch.as_tensor(obs[t]))
                    choice = local(scores, torch.as_tensor(subset[t, :, who]), torch.as_tensor(legal[t, :, who]))
                    chosen = choice.sample()
                    logits[t, :, who] = np.take_along_axis(scores.numpy(), subset[t, :, who], 1)
                    action[t, :, who], logp[t, :, who] = chosen, choice.log_prob(chosen)
                    value[t, :, who] = critics[who](torch.as_tensor(state[t]))[:, 0]
            tool = np.take_along_axis(subset[t], action[t][..., None], 2)[..., 0]
            reward[t], terminated[t], _ = game.step(tool)
        last = np.concatenate([game.observe(), game.alive], 1).astype(np.float32)
        with torch.no_grad():
            last_value = np.stack([critic(torch.as_tensor(last))[:, 0].numpy() for critic in critics], 1)

        advantage, running = np.zeros((T, N, A), np.float32), np.zeros((N, A), np.float32)
        for t in reversed(range(T)):
            if options.fault == "late-ends":
                goes_on = ~terminated[t - 1] if t > 0 else np.ones((N, A), bool)
            else:
                goes_on = ~terminated[t]
            follows = last_value if t == T - 1 else value[t + 1]
            running = reward[t] + gamma * follows * goes_on - value[t] + gamma * lam * running * goes_on
            advantage[t] = running
        target = advantage + value

        recorder.samples(
            obs=np.repeat(obs[:, :, None], A, 2),
            subset=subset,
            legal=legal,
            num_actions=count,
            action=action,
            logits=logits,
            old_logp=logp,
            reward=reward,
            terminated=terminated,
            value=value,
            next_value=last_value,
            advantage=advantage,
            return_=target,
        )
        paid.append(reward[alive].mean())

        if options.fault == "swapped":
            advantage = advantage[:, :, ::-1].copy()
        for who, name in enumerate(AGENTS):
            actors[who].train()
            mine = np.arange(T * N * A).reshape(T, N, A)[:, :, who].reshape(-1)  # rows of this agent within the samples
            flat = lambda array: torch.as_tensor(array[:, :, who].reshape((T * N, *array.shape[3:])))
            b_subset, b_legal, b_action, b_old, b_count = (flat(x) for x in (subset, legal, action, logp, count))
            b_advantage, b_target, b_alive = (flat(x) for x in (advantage, target, alive))
            b_obs, b_state = torch.as_tensor(obs.reshape(T * N, -1)), torch.as_tensor(state.reshape(T * N, -1))
            b_advantage = (b_advantage - b_advantage[b_alive].mean()) / (b_advantage[b_alive].std() + 1e-8)
            for epoch in range(options.epochs):
                for index in np.array_split(random.permutation(T * N), options.minibatches):
                    weight = b_alive[index].float()  # rows of an agent that has dropped out count nothing
                    average = lambda x: (x * weight).sum() / weight.sum()
                    usable = b_legal[index]
                    if options.fault == "no-mask":
                        usable = torch.arange(MOST) < b_count[index][:, None]
                    scored = b_subset[index]
                    if options.fault == "prefix":
                        scored = torch.arange(MOST).expand_as(scored)

                    def forward():
                        scores = actors[who](b_obs[index])
                        return local(scores, scored, usable), scores.gather(-1, scored)

                    choice, scores = forward()
                    new, old, a = choice.log_prob(b_action[index]), b_old[index], b_advantage[index]
                    ratio = (new - old).exp()
                    policy_loss = -average(torch.min(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a))
                    guess = critics[who](b_state[index])[:, 0]
                    value_loss = average((guess - b_target[index]).pow(2))
                    entropy = choice.entropy()
                    loss = policy_loss + value_coefficient * value_loss - entropy_coefficient * average(entropy)

                    recorder.replays(
                        policy=name,
                        sample=mine[index],
                        new_logp=new,
                        old_logp=old,
                        advantage=a,
                        entropy=entropy,
                        value=guess,
                        return_=b_target[index],
                        weight=weight,
                        logits=scores,
                        subset=scored,
                        legal=usable,
                        lengths=b_count[index],
                        again=lambda: forward()[0].log_prob(b_action[index]),
                    )
                    optimizers[who].zero_grad()
                    loss.backward()
                    norm = nn.utils.clip_grad_norm_([*actors[who].parameters(), *critics[who].parameters()], most)
                    optimizers[who].step()
                    with torch.no_grad():
                        kl = average(ratio - 1 - (new - old))
                        clipped = average(((ratio - 1).abs() > clip).float())
                    recorder.step(
                        policy=name,
                        loss=loss,
                        policy_loss=policy_loss,
                        value_loss=value_loss,
                        entropy=average(entropy),
                        approx_kl=kl,
                        clip_fraction=clipped,
                        grad_norm=norm,
                    )
    recorder.close()
    return paid


def parser():
    parser = argparse.ArgumentParser(
        description="MAPPO for two agents with action subsets, recorded for `trueline diagnose`."
    )
    parser.add_argument("--out", default="runs/mappo", help="folder of the recording")
    parser.add_argument("--fault", choices=FAULTS, help="a mistake to put in")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=14)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--steps", type=int, default=16, help="steps of every environment in one iteration")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--mortal", action="store_true", help="agents may drop out before the episode ends")
    return parser


if __name__ == "__main__":
    arguments = parser().parse_args()
    torch.set_num_threads(1)
    gains = train(arguments)
    print(
        f"paid per step: {np.mean(gains[:3]):.2f} at first, {np.mean(gains[-3:]):.2f} at the end; recorded in {arguments.out}"
    )
