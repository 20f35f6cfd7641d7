"""Small recordings of faults that the trainer of this project cannot have: gradients that are never cleared, a memory that is not replayed, a softmax over the rows, minibatches that are all the first one, and gradients clipped after the step.

    /usr/bin/python3 scripts/recordings.py FOLDER

writes FOLDER/<cause>/<name>, one recording each; scripts/recordings.mjs packs them. The one thing to get wrong: recordings are small on
purpose, and what they show must still be exact.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from trueline_recorder import Recorder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "continuous"))
import run as control

#: What the programs of bench/continuous make: the cause, the program, its fault, and options.
SMALL = {"iterations": 3, "kept": 3, "envs": 4, "steps": 12, "limit": 8, "length": 4, "warm": 12, "batch": 24}
CONTROL = [
    ("squash-correction-wrong", "continuous", "no correction in the update pass", {}),
    ("clipped-action-stored", "continuous", "clipped action scored by the update", {"envs": 8, "steps": 24, "epochs": 1, "minibatches": 1}),
    ("dimensions-reduced-wrong", "continuous", "mean over dimensions in both passes", {}),
    ("deviation-scale-wrong", "continuous", "variance for deviation in the acting pass", {}),
    ("deviation-invalid", "continuous", "deviation annealed to nothing", {"iterations": 9, "kept": 9, "epochs": 1, "minibatches": 1}),
    ("entropy-of-another-distribution", "continuous", "entropy of the deviation for its logarithm", {}),
    ("policy-detached", "continuous", "policy loss detached, deviations of the state", {}),
    ("gradients-accumulate", "continuous", "gradients never cleared", {}),
    ("recurrent-state-not-reset", "recurrent", "memory not reset after time limits", {"limit": 6}),
    ("recurrent-state-stale", "recurrent", "state stored after the step", {"envs": 8, "minibatches": 1, "epochs": 1}),
    ("sequences-shuffled", "recurrent", "rows shuffled within sequences", {}),
    ("normaliser-drifts", "recurrent", "normaliser learns before the update", {"envs": 8, "minibatches": 1, "epochs": 1}),
    ("final-observation-lost", "continuous", "last observation lost", {"limit": 5}),
    ("target-network-frozen", "dqn", "last layer of the target network left out", {"interval": 4}),
    ("target-crosses-end", "dqn", "ends ignored in three steps", {}),
    ("n-step-off-by-one", "dqn", "bootstrap discounted once", {}),
    ("priority-weight-wrong", "dqn", "weights with the other sign", {}),
    ("entropy-temperature-sign", "sac", "temperature moves the other way", {}),
    ("healthy", "sac", None, {}),
    ("healthy", "dqn", None, {"n": 3, "prioritised": True}),
    ("healthy", "recurrent", None, {"burn_in": 2}),
    ("healthy", "continuous", None, {"squash": True, "scale": True}),
]
GAMMA, LAMBDA, CLIP = 0.95, 0.9, 0.2
ENVS, STEPS, ITERATIONS, CHOICES, LENGTH = 8, 12, 4, 3, 9


class Actor(nn.Module):
    """Scores of three choices; with a memory, from all that was seen since the episode began."""

    def __init__(self, memory):
        super().__init__()
        self.memory = memory
        self.first = nn.GRUCell(4, 8) if memory else nn.Linear(4, 8)
        self.head = nn.Linear(8, CHOICES)

    def forward(self, obs, state):
        state = self.first(obs, state) if self.memory else torch.tanh(self.first(obs))
        return self.head(state), state


def run(out, seed, memory=False, clear=True, replay=True, flip=False, axis=-1, first=False, late=False):
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    actor, critic = Actor(memory), nn.Linear(4, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
    settings = {"clip": CLIP, "epochs": 2, "minibatches": 1 if memory else 4, "entropy_coefficient": 0.01, "value_coefficient": 0.5}
    settings["advantage_normalisation"] = "batch"
    parameters = [*actor.parameters(), *critic.parameters()]
    if late:
        settings["max_grad_norm"] = 0.1
    recorder = Recorder(out, gamma=GAMMA, lam=LAMBDA, agents=["one"], seed=seed, overwrite=True, first=10**6, settings=settings)
    recorder.watch(actor=actor, critic=critic, optimizer=optimizer, head="head")
    obs = random.normal(size=(ENVS, 4)).astype(np.float32)
    t = random.integers(0, LENGTH, ENVS) * 0
    state = torch.zeros(ENVS, 8)
    limit = random.integers(3, LENGTH + 1, ENVS)
    for _ in range(ITERATIONS):
        recorder.begin()
        kept = {name: [] for name in ("obs", "logits", "action", "logp", "reward", "value", "terminated", "state", "fresh")}
        for _ in range(STEPS):
            with torch.no_grad():
                kept["state"].append(state)
                logits, state = actor(torch.from_numpy(obs), state)
                choice = torch.distributions.Categorical(logits=logits)
                action = choice.sample()
            kept["obs"].append(obs)
            kept["logits"].append(logits.numpy())
            kept["action"].append(action.numpy())
            kept["logp"].append(choice.log_prob(action).numpy())
            kept["value"].append(critic(torch.from_numpy(obs)).detach().numpy()[:, 0])
            kept["reward"].append((obs[np.arange(ENVS), action.numpy()] + 0.1 * random.normal(size=ENVS)).astype(np.float32))
            kept["fresh"].append(t == 0)
            t = t + 1
            over = t >= limit
            kept["terminated"].append(over)
            obs = (0.7 * obs + 0.7 * random.normal(size=obs.shape)).astype(np.float32)
            t[over], limit[over] = 0, random.integers(3, LENGTH + 1, int(over.sum()))
            state = state * torch.from_numpy(~over)[:, None]
        column = {name: np.stack(rows) for name, rows in kept.items() if name != "state"}
        last = critic(torch.from_numpy(obs)).detach().numpy()[:, 0]
        advantage, after, following = np.zeros((STEPS, ENVS), np.float32), np.zeros(ENVS), last
        for step in reversed(range(STEPS)):
            goes = 1.0 - column["terminated"][step]
            delta = column["reward"][step] + GAMMA * following * goes - column["value"][step]
            advantage[step] = after = delta + GAMMA * LAMBDA * goes * after
            following = column["value"][step]
        beyond = np.full((STEPS, ENVS), np.nan, np.float32)
        beyond[-1] = last

        def rows(array):
            """Environment by environment, each in the order of time."""
            return np.ascontiguousarray(np.swapaxes(array, 0, 1)).reshape((-1, *array.shape[2:]))

        recorder.samples(
            old_logp=rows(column["logp"]),
            action=rows(column["action"]),
            num_actions=CHOICES,
            logits=rows(column["logits"]),
            reward=rows(column["reward"]),
            value=rows(column["value"]),
            next_value=rows(beyond),
            terminated=rows(column["terminated"]),
            truncated=np.zeros(STEPS * ENVS, bool),
            advantage=rows(advantage),
            return_=rows(advantage + column["value"]),
            env=np.repeat(np.arange(ENVS), STEPS),
        )
        flat = {name: torch.from_numpy(rows(array)) for name, array in column.items()}
        spread = torch.from_numpy(rows(advantage))
        returns = spread + flat["value"]
        spread = (spread - spread.mean()) / (spread.std() + 1e-8)
        start = kept["state"][0] if replay else torch.zeros(ENVS, 8)

        def scores(chosen):
            """The update's own pass: whole sequences from a first state with a memory, rows without one."""
            if not memory:
                return actor(flat["obs"][chosen], None)[0]
            found, now = [], start
            for step in range(STEPS):
                now = now * torch.from_numpy(~column["fresh"][step])[:, None] if step > 0 or not replay else now
                logits, now = actor(torch.from_numpy(column["obs"][step]), now)
                found.append(logits)
            return torch.stack(found, 1).reshape(-1, CHOICES)[chosen]

        for epoch in range(2):
            order = torch.arange(STEPS * ENVS) if memory else torch.from_numpy(random.permutation(STEPS * ENVS))
            parts = order.chunk(settings["minibatches"])
            for part in parts:
                if first:
                    part = torch.arange(len(part))
                logits = scores(part)
                choice = torch.distributions.Categorical(logits=logits)
                new = logits.log_softmax(axis).gather(1, flat["action"][part][:, None])[:, 0]
                entropy, value = choice.entropy(), critic(flat["obs"][part])[:, 0]
                ratio = (new - flat["logp"][part]).exp()
                policy_loss = -torch.min(ratio * spread[part], ratio.clamp(1 - CLIP, 1 + CLIP) * spread[part]).mean()
                value_loss = ((value - returns[part]) ** 2).mean()
                loss = (-policy_loss if flip else policy_loss) + 0.5 * value_loss - 0.01 * entropy.mean()
                if clear:
                    optimizer.zero_grad()
                new.retain_grad()
                loss.backward()
                recorder.replays(
                    epoch=epoch,
                    sample=part,
                    new_logp=new,
                    old_logp=flat["logp"][part],
                    advantage=spread[part],
                    entropy=entropy,
                    value=value,
                    return_=returns[part],
                    logits=logits,
                    coef=new.grad,
                    again=lambda part=part: scores(part).log_softmax(axis).gather(1, flat["action"][part][:, None])[:, 0],
                )
                norm = {"grad_norm": nn.utils.clip_grad_norm_(parameters, float("inf"))} if late else {}
                recorder.step(loss=loss, policy_loss=policy_loss, value_loss=value_loss, entropy=entropy.mean(), **norm)
                optimizer.step()
                if late:
                    nn.utils.clip_grad_norm_(parameters, settings["max_grad_norm"])
    recorder.close()


def critics(out, seed, online=False, column=False, late=False, down=False, plain=False):
    """An actor and two critics that learn from a buffer of made-up steps, with all that can be recorded of them; or with one fault."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    steps, rows, tau = 120, 24, 0.05
    nets = [nn.Linear(6, 1) for _ in range(2)]
    targets = [nn.Linear(6, 1) for _ in range(2)]
    actor = nn.Linear(4, 2)
    for net, target in zip(nets, targets):
        target.load_state_dict(net.state_dict())
    first = torch.optim.Adam([p for net in nets for p in net.parameters()], lr=1e-2)
    second = torch.optim.Adam(actor.parameters(), lr=1e-3)
    settings = {"bootstrap": "min", "tau": tau, "environments": 1}
    recorder = Recorder(out, algorithm="actor-critic", gamma=GAMMA, seed=seed, overwrite=True, first=10**6, settings=settings)
    recorder.watch(policy="policy", actor=actor, critic=nets, optimizer=[first, second])
    for place, (net, target) in enumerate(zip(nets, targets)):
        recorder.follow(target=target, online=net, name=f"{place}.")
    seen = random.normal(size=(steps + 1, 4)).astype(np.float32)
    done = random.random(steps) < 0.1
    taken = random.normal(size=(steps, 2)).astype(np.float32)
    paid = random.normal(size=steps).astype(np.float32)
    stored = np.roll(paid, 1) if late else paid

    def both(own, obs, action):
        return torch.cat([net(torch.cat([obs, action], 1)) for net in own], 1)

    for _ in range(40):
        pick = random.integers(0, steps, rows)
        obs, after, action = (torch.from_numpy(part[place]) for part, place in ((seen, pick), (seen, pick + 1), (taken, pick)))
        with torch.no_grad():
            mean = actor(after)
            drawn = torch.distributions.Normal(mean, torch.full_like(mean, 0.6))
            raw = drawn.sample()
            follows = raw.tanh()
            logp = drawn.log_prob(raw).sum(1) - (0 if plain else torch.log(1 - follows**2 + 1e-6).sum(1))
            values, learning = both(targets, after, follows), both(nets, after, follows)
            bootstrap = (learning if online else values).min(1).values
            goal = torch.from_numpy(stored[pick]) + GAMMA * torch.from_numpy(1.0 - done[pick]).float() * bootstrap
        guess = both(nets, obs, action)
        guess.retain_grad()
        error = guess[:, :1] - goal if column else guess - goal[:, None]
        first.zero_grad()
        (error**2).mean().backward()
        recorder.targets(
            policy="policy", sample=pick, rewards=stored[pick], terminated=done[pick], truncated=np.zeros(rows, bool), bootstrap=bootstrap, target=goal,
            prediction=guess[:, 0], prediction_again=both(nets, obs, action)[:, 0].detach(), coef=guess.grad[:, 0], next_values=values, next_online=learning,
            env_reward=paid[pick], obs_hash=pick, next_hash=pick + 1, next_logp=logp, temperature=np.zeros(rows), next_mean=mean,
            next_log_std=torch.full_like(mean, 0.6).log(), next_action=follows,
        )  # fmt: skip
        first.step()
        value = both(nets, obs, actor(obs).tanh()).min(1).values
        second.zero_grad()
        (value if down else -value).mean().backward()
        recorder.step(policy="policy", loss=(error**2).mean(), push=1.0 if down else -1.0)
        second.step()
        for net, target in zip(nets, targets):
            for own, copy in zip(net.parameters(), target.parameters()):
                copy.data.lerp_(own.data, tau)
    recorder.close()


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    run(folder / "gradients-accumulate" / "pytorch-without-zero-grad", 1, clear=False)
    run(folder / "recurrent-state-not-replayed" / "pytorch-from-a-state-of-zeros", 2, memory=True, replay=False)
    run(folder / "healthy" / "pytorch", 3)
    run(folder / "healthy" / "pytorch-with-memory", 4, memory=True)
    run(folder / "advantage-sign-flipped" / "pytorch-minus-forgotten", 5, flip=True)
    run(folder / "wrong-axis" / "pytorch-softmax-over-rows", 12, axis=0)
    run(folder / "rows-never-drawn" / "pytorch-first-minibatch", 13, first=True)
    run(folder / "gradient-not-clipped" / "pytorch-after-the-step", 14, late=True)
    critics(folder / "healthy" / "pytorch-critics", 6)
    critics(folder / "target-network-unused" / "pytorch-bootstrap-from-the-online-network", 7, online=True)
    critics(folder / "broadcast-mismatch" / "pytorch-column-against-row", 8, column=True)
    critics(folder / "squash-correction-wrong" / "pytorch-no-correction-in-targets", 11, plain=True)
    critics(folder / "reward-time-shifted" / "pytorch-reward-of-the-step-before", 9, late=True)
    critics(folder / "advantage-sign-flipped" / "pytorch-actor-down-its-critics", 10, down=True)
    for cause, program, fault, more in CONTROL:
        name = f"{program}-{(fault or 'healthy').replace(' ', '-')}"
        control.train(folder / cause / name, program, {**SMALL, **more}, fault)
