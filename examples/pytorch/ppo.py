"""PPO on CartPole in one file, recorded for `trueline diagnose`. `--fault` puts one classic mistake in; each is one line below.

python3 examples/pytorch/ppo.py --out runs/ppo
python3 examples/pytorch/ppo.py --out runs/broken --fault shuffled
trueline diagnose runs/broken
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

FAULTS = {
    "shuffled": "advantage-shuffled",  # advantages are cut from the batch in its own order, log-probabilities by the shuffled index
    "detached": "policy-detached",  # log-probabilities of the update are computed without gradients
    "rebuilt": "optimizer-unbound",  # the actor is made anew after the optimiser has taken its parameters
    "time-limit": "truncation-treated-as-termination",  # nothing follows an episode that only the time limit cut off
    "current-logp": "old-logp-recomputed",  # the ratio is taken against the present policy instead of the one that sampled
}


class CartPole:
    """Many poles on carts at once, in numpy. Pays 0.1 for every step; `endless` lets no pole fall out, so that only the limit ends episodes."""

    def __init__(self, envs, limit, endless, random):
        self.envs, self.limit, self.endless, self.random = envs, limit, endless, random
        self.state = random.uniform(-0.05, 0.05, (envs, 4))
        self.age = np.zeros(envs, int)

    def step(self, action):
        x, speed, angle, turn = self.state.T
        push = np.where(action == 1, 10.0, -10.0)
        drive = (push + 0.05 * turn**2 * np.sin(angle)) / 1.1
        bend = (9.8 * np.sin(angle) - np.cos(angle) * drive) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
        slide = drive - 0.05 * bend * np.cos(angle) / 1.1
        self.state = np.stack([x + 0.02 * speed, speed + 0.02 * slide, angle + 0.02 * turn, turn + 0.02 * bend], 1)
        self.age += 1
        upright = (np.abs(self.state[:, 0]) < 2.4) & (np.abs(self.state[:, 2]) < 0.21)
        reward = np.full(self.envs, 0.1)
        if self.endless:
            reward = 0.1 * np.cos(self.state[:, 2]) - 0.01 * np.abs(self.state[:, 0])
            self.state[:, 2] = (self.state[:, 2] + np.pi) % (2 * np.pi) - np.pi
            self.state = np.clip(self.state, -4, 4)
        terminated = ~upright & (not self.endless)
        truncated = (self.age >= self.limit) & ~terminated
        final = self.state.copy()
        over = terminated | truncated
        self.state[over] = self.random.uniform(-0.05, 0.05, (over.sum(), 4))
        self.age[over] = 0
        return reward, terminated, truncated, final


def mlp(outputs, gain):
    layers = [nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    for layer, size in ((layers[0], 2**0.5), (layers[2], 2**0.5), (layers[4], gain)):
        nn.init.orthogonal_(layer.weight, size)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def train(options, recorder_class=Recorder):
    random = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    torch.distributions.Distribution.set_default_validate_args(False)
    gamma, lam, clip, entropy_coefficient, value_coefficient, most = 0.99, 0.95, 0.2, 0.01, 0.5, 0.5
    actor, critic = mlp(2, 0.01), mlp(1, 1.0)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3, eps=1e-5)
    if options.fault == "rebuilt":
        actor = copy.deepcopy(actor)

    recorder = recorder_class(
        options.out,
        gamma=gamma,
        lam=lam,
        seed=options.seed,
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
    recorder.watch(actor=actor, critic=critic, optimizer=optimizer, head="4")

    game = CartPole(options.envs, options.limit, options.endless, random)
    T, N = options.steps, options.envs
    tensor = lambda array: torch.as_tensor(array, dtype=torch.float32)
    lasted = []
    for iteration in range(options.iterations):
        obs, logits = np.zeros((T, N, 4), np.float32), np.zeros((T, N, 2), np.float32)
        action = np.zeros((T, N), np.int64)
        logp, value, reward = (np.zeros((T, N), np.float32) for _ in range(3))
        next_value = np.full((T, N), np.nan, np.float32)  # known where an episode or the rollout is cut off
        terminated, truncated = np.zeros((T, N), bool), np.zeros((T, N), bool)
        for t in range(T):
            obs[t] = game.state
            with torch.no_grad():
                seen = tensor(obs[t])
                scores = actor(seen)
                choice = torch.distributions.Categorical(logits=scores)
                chosen = choice.sample()
                logits[t], action[t], logp[t] = scores, chosen, choice.log_prob(chosen)
                value[t] = critic(seen)[:, 0]
            reward[t], terminated[t], truncated[t], final = game.step(action[t])
            if t == T - 1 or truncated[t].any():
                with torch.no_grad():
                    next_value[t] = critic(tensor(final))[:, 0]

        # Credit: what a termination leaves is nothing, what a time limit cuts off is the critic's guess.
        advantage, running = np.zeros((T, N), np.float32), np.zeros(N, np.float32)
        for t in reversed(range(T)):
            cut = truncated[t] | (t == T - 1)
            nothing = terminated[t] | truncated[t] if options.fault == "time-limit" else terminated[t]
            follows = np.where(cut, next_value[t], value[min(t + 1, T - 1)])
            delta = reward[t] + gamma * follows * ~nothing - value[t]
            running = delta + gamma * lam * running * ~(terminated[t] | truncated[t])
            advantage[t] = running
        target = advantage + value

        sampled = {"old_neglogp": -logp} if options.neglogp else {"old_logp": logp}
        recorder.samples(
            obs=obs,
            action=action,
            num_actions=2,
            logits=logits,
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            value=value,
            next_value=next_value,
            advantage=advantage,
            return_=target,
            **sampled,
        )
        lasted.append(T * N / max(1, (terminated | truncated).sum()))

        rows = T * N
        b_obs, b_action, b_old = (
            tensor(obs.reshape(rows, 4)),
            torch.as_tensor(action.reshape(rows)),
            tensor(logp.reshape(rows)),
        )
        b_advantage, b_target = tensor(advantage.reshape(rows)), tensor(target.reshape(rows))
        b_advantage = (b_advantage - b_advantage.mean()) / (b_advantage.std() + 1e-8)
        for epoch in range(options.epochs):
            order = random.permutation(rows)
            for part in range(options.minibatches):
                begin, end = part * rows // options.minibatches, (part + 1) * rows // options.minibatches
                index = order[begin:end]
                scores = actor(b_obs[index])
                choice = torch.distributions.Categorical(logits=scores)
                new, old = choice.log_prob(b_action[index]), b_old[index]
                if options.fault == "detached":
                    new = new.detach()
                if options.fault == "current-logp":
                    old = new.detach()
                a = b_advantage[begin:end] if options.fault == "shuffled" else b_advantage[index]
                ratio = (new - old).exp()
                policy_loss = -torch.min(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a).mean()
                guess = critic(b_obs[index])[:, 0]
                value_loss = (guess - b_target[index]).pow(2).mean()
                entropy = choice.entropy()
                loss = policy_loss + value_coefficient * value_loss - entropy_coefficient * entropy.mean()

                logps = (
                    {"new_neglogp": -new, "old_neglogp": -old}
                    if options.neglogp
                    else {"new_logp": new, "old_logp": old}
                )
                recorder.replays(
                    sample=index,
                    advantage=a,
                    entropy=entropy,
                    value=guess,
                    return_=b_target[index],
                    logits=scores,
                    again=lambda: torch.distributions.Categorical(logits=actor(b_obs[index])).log_prob(b_action[index]),
                    **logps,
                )
                optimizer.zero_grad()
                loss.backward()
                norm = nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], most)
                optimizer.step()
                with torch.no_grad():
                    kl = (ratio - 1 - (new - old)).mean()
                    clipped = ((ratio - 1).abs() > clip).float().mean()
                recorder.step(
                    loss=loss,
                    policy_loss=policy_loss,
                    value_loss=value_loss,
                    entropy=entropy.mean(),
                    approx_kl=kl,
                    clip_fraction=clipped,
                    grad_norm=norm,
                )
    recorder.close()
    return lasted


def parser():
    parser = argparse.ArgumentParser(description="PPO on CartPole, recorded for `trueline diagnose`.")
    parser.add_argument("--out", default="runs/ppo", help="folder of the recording")
    parser.add_argument("--fault", choices=FAULTS, help="a mistake to put in")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=22)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=64, help="steps of every environment in one iteration")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--limit", type=int, default=50, help="steps after which an episode is cut off")
    parser.add_argument("--endless", action="store_true", help="no pole ends an episode, only the limit does")
    parser.add_argument("--neglogp", action="store_true", help="keeps minus log-probabilities, as some programs do")
    return parser


if __name__ == "__main__":
    arguments = parser().parse_args()
    torch.set_num_threads(1)
    steps = train(arguments)
    print(
        f"steps per episode: {np.mean(steps[:3]):.0f} at first, {np.mean(steps[-3:]):.0f} at the end; recorded in {arguments.out}"
    )
