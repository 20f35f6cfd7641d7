"""Independent PPO self-play on the stag hunt in PyTorch over a numpy-vectorised game: how long until the running mean of 4,000 episodes is 2.85.

The rules and the settings are those of `trueline train stag-hunt`. The four policies are stacked, so that one batched product serves
all of them, and the optimiser works on one matrix with a row for each policy.

    python3 stag_hunt.py THREADS SEED GOAL MOST_STEPS SETTINGS

SETTINGS is JSON with the names of trueline's own settings; whatever the program could not follow is refused.
"""
import json
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

SIDE, PLAYERS, HARES, HORIZON = 4, 4, 4, 35
CELLS = SIDE * SIDE
STAY, ACTIONS = 4, 7
INPUTS = (PLAYERS + 4) * CELLS
SETTINGS = json.loads(sys.argv[5])
WORLDS, STEPS = SETTINGS["worlds"], SETTINGS["rollout"]
FIRST, SECOND = SETTINGS["network"]["hidden"]
PPO = SETTINGS["ppo"]
EPOCHS, MINIBATCHES = PPO["epochs"], PPO["minibatches"]
CLIP, ENTROPY, VALUE = PPO["clip"], PPO["entropyCoefficient"], PPO["valueCoefficient"]
GAMMA, LAMBDA, RATE, MAX_NORM, EPSILON = PPO["gamma"], PPO["lambda"], PPO["learningRate"], PPO["maxGradNorm"], PPO["adamEpsilon"]
FIXED = {
    "headLearningRate": None, "criticLearningRate": None, "anneal": False, "weightDecay": 0, "valueLoss": "mse", "valueClip": None,
    "valueNormalisation": True, "gradClip": "global", "advantageNormalisation": "batch", "advantageClamp": None, "targetKl": None,
    "adaptiveKl": None,
}
for name, value in FIXED.items():
    if PPO[name] != value:
        sys.exit(f"this program knows only {name} = {value}, not {PPO[name]}")
WINDOW = 4000


class StagHunt:
    """All worlds at once; a world that is over begins anew with the step that ends it."""

    delta = np.array([-SIDE, SIDE, -1, 1, 0, 0, 0])
    pays = np.array([0.0, 10.0, 1.0])

    def __init__(self, worlds, random):
        self.worlds, self.random = worlds, random
        cell = np.arange(CELLS)
        self.moves = np.stack(
            [cell >= SIDE, cell < CELLS - SIDE, cell % SIDE > 0, cell % SIDE < SIDE - 1, np.ones(CELLS, bool)], 1
        )
        self.base = (np.arange(worlds) * CELLS)[:, None]
        self.eye = np.eye(CELLS, dtype=np.float32)
        self.position = np.zeros((worlds, PLAYERS), np.int64)
        self.present = np.ones((worlds, PLAYERS), bool)
        self.acting = np.ones((worlds, PLAYERS), bool)
        self.thing = np.zeros((worlds, CELLS), np.int64)
        self.time = np.zeros(worlds, np.int64)
        self.returns = np.zeros((worlds, PLAYERS))
        self.begin(np.arange(worlds))

    def begin(self, which):
        order = self.random.random((len(which), CELLS)).argsort(1)
        self.position[which] = order[:, :PLAYERS]
        self.thing[which] = 0
        self.thing[which, order[:, PLAYERS]] = 1
        self.thing[which[:, None], order[:, PLAYERS + 1 : PLAYERS + 1 + HARES]] = 2
        self.present[which] = self.acting[which] = True
        self.time[which] = 0
        self.returns[which] = 0

    def observe(self, out):
        """Into players x worlds x inputs: players (one's own first), prey by kind, obstacles, who is still there."""
        players = self.eye[self.position] * self.present[:, :, None]
        prey = np.concatenate([self.thing == 1, self.thing == 2], 1)
        here = self.present.astype(np.float32)
        for seat in range(PLAYERS):
            for i in range(PLAYERS):
                other = (seat + i) % PLAYERS
                out[seat, :, i * CELLS : (i + 1) * CELLS] = players[:, other]
                out[seat, :, (PLAYERS + 3) * CELLS + i] = here[:, other]
            out[seat, :, PLAYERS * CELLS : (PLAYERS + 2) * CELLS] = prey

    def illegal(self, out):
        prey = self.thing.reshape(-1)[self.base + self.position].T
        out[:, :, :5] = ~self.moves[self.position.T]
        out[:, :, 5] = prey != 1
        out[:, :, 6] = prey != 2

    def step(self, actions, look):
        """Rewards, terminated and truncated. `look` is called before worlds that are over begin anew, where someone was cut off."""
        actions = np.where(self.acting, actions, STAY)
        hunting = actions > STAY
        self.position += self.delta[actions]
        at = self.base + self.position
        flat = self.thing.reshape(-1)
        hunters = np.bincount(at[hunting], minlength=flat.size)[at]
        prey = flat[at]
        caught = hunting & ((prey == 2) | ((prey == 1) & (hunters > 1)))
        reward = np.where(caught, self.pays[prey] / np.maximum(hunters, 1), 0.0)
        flat[at[caught]] = 0
        self.time += 1
        self.returns += reward
        self.present &= ~caught
        done = ~self.thing.any(1)
        late = (self.time >= HORIZON) & ~done
        terminated = caught | (self.acting & done[:, None])
        self.acting &= ~terminated
        truncated = self.acting & late[:, None]
        self.acting &= ~truncated
        over = np.flatnonzero(~self.acting.any(1))
        if truncated.any():
            look()
        finished = self.returns[over].mean(1)
        if len(over):
            self.begin(over)
        return reward, terminated, truncated, finished


class Stack:
    """Four networks side by side: weights are players x in x out, all of them views of one matrix with a row for each player."""

    def __init__(self):
        shapes = []
        for outputs, gain in ((ACTIONS, 0.01), (1, 1.0)):
            widths = [INPUTS, FIRST, SECOND, outputs]
            shapes += [(widths[i], widths[i + 1], gain if i == 2 else 2**0.5) for i in range(3)]
        size = sum(a * b + b for a, b, _ in shapes)
        self.values, self.gradient = torch.zeros(PLAYERS, size), torch.zeros(PLAYERS, size)
        self.first, self.second = torch.zeros(PLAYERS, size), torch.zeros(PLAYERS, size)
        self.steps, self.parameters, at = 0, [], 0
        for inputs, outputs, gain in shapes:
            weight = self.values[:, at : at + inputs * outputs].view(PLAYERS, inputs, outputs)
            for player in range(PLAYERS):
                weight[player] = torch.nn.init.orthogonal_(torch.empty(outputs, inputs), gain).T
            at += inputs * outputs
            bias = self.values[:, at : at + outputs].view(PLAYERS, 1, outputs)
            at += outputs
            self.parameters += [weight, bias]
        at = 0
        for p in self.parameters:
            count = p[0].numel()
            p.requires_grad_()
            p.grad = self.gradient[:, at : at + count].view_as(p)
            at += count
        self.actor, self.critic = self.parameters[:6], self.parameters[6:]

    @torch.no_grad()
    def step(self):
        self.steps += 1
        g = self.gradient
        g.mul_((MAX_NORM / (g.norm(dim=1, keepdim=True) + 1e-6)).clamp_(max=1.0))
        self.first.mul_(0.9).add_(g, alpha=0.1)
        self.second.mul_(0.999).addcmul_(g, g, value=0.001)
        below = torch.sqrt(self.second).div_((1 - 0.999**self.steps) ** 0.5).add_(EPSILON)
        self.values.addcdiv_(self.first, below, value=-RATE / (1 - 0.9**self.steps))
        g.zero_()


def forward(x, w1, b1, w2, b2, w3, b3):
    return torch.baddbmm(b3, torch.tanh(torch.baddbmm(b2, torch.tanh(torch.baddbmm(b1, x, w1)), w2)), w3)


def loss(obs, illegal, action, old_logp, advantage, returns, weight, clip: float, value: float, entropy_weight: float, a1, a2, a3, a4, a5, a6, c1, c2, c3, c4, c5, c6):
    """The sum of the players' losses; `weight` is 1 / rows of the player, and 0 for padding."""
    logp_all = F.log_softmax(forward(obs, a1, a2, a3, a4, a5, a6).masked_fill(illegal, -1e9), 2)
    ratio = torch.exp(logp_all.gather(2, action).squeeze(2) - old_logp)
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    entropy = -(logp_all.exp() * logp_all).sum(2)
    error = (forward(obs, c1, c2, c3, c4, c5, c6).squeeze(2) - returns) ** 2
    return (weight * (value * error - surrogate - entropy_weight * entropy)).sum()


class Normaliser:
    """Running mean and spread of each player's returns."""

    def __init__(self):
        self.mean, self.square, self.spread, self.batches = np.zeros((PLAYERS, 1)), np.zeros((PLAYERS, 1)), 1.0, 0

    def learn(self, returns, valid):
        self.batches += 1
        rate = max(1 / self.batches, 0.05)
        count = valid.sum(1, keepdims=True)
        self.mean = self.mean + rate * ((returns * valid).sum(1, keepdims=True) / count - self.mean)
        self.square = self.square + rate * ((returns**2 * valid).sum(1, keepdims=True) / count - self.square)
        self.spread = np.sqrt(np.maximum(self.square - self.mean**2, 1e-10))


def credit(reward, value, after, terminated, ended, valid, discount, trust):
    """Advantages over time x players x worlds. `after` is the value of what follows; an invalid row hands nothing back."""
    advantage = np.zeros_like(value)
    later = np.zeros_like(value[0])
    for t in range(len(value) - 1, -1, -1):
        delta = reward[t] + discount * after[t] * ~terminated[t] - value[t]
        later = np.where(valid[t], delta + discount * trust * np.where(ended[t], 0.0, later), 0.0)
        advantage[t] = later
    return advantage


def main(threads, seed, goal, most):
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    whole_loss = torch.jit.script(loss)
    begun = time.perf_counter()
    game = StagHunt(WORLDS, np.random.default_rng(seed))
    stack, normaliser = Stack(), Normaliser()
    obs = torch.zeros(PLAYERS, STEPS, WORLDS, INPUTS)
    illegal = torch.zeros(PLAYERS, STEPS, WORLDS, ACTIONS, dtype=torch.bool)
    action = torch.zeros(PLAYERS, STEPS, WORLDS, 1, dtype=torch.int64)
    logp = torch.zeros(PLAYERS, STEPS, WORLDS)
    last = torch.zeros(PLAYERS, WORLDS, INPUTS)
    shape = (STEPS, PLAYERS, WORLDS)
    steps, blocks, running = 0, [], 0.0
    while steps < most:
        reward, value, after = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        terminated, truncated, valid = (np.zeros(shape, bool) for _ in range(3))
        finished = []
        with torch.no_grad():
            for t in range(STEPS):
                game.observe(obs[:, t].numpy())
                game.illegal(illegal[:, t].numpy())
                logp_all = F.log_softmax(forward(obs[:, t], *stack.actor).masked_fill(illegal[:, t], -1e9), 2)
                chosen = (logp_all.exp() / torch.empty_like(logp_all).exponential_()).argmax(2, keepdim=True)
                action[:, t] = chosen
                logp[:, t] = logp_all.gather(2, chosen).squeeze(2)
                value[t] = forward(obs[:, t], *stack.critic).squeeze(2).numpy()
                if t:
                    after[t - 1] = np.where(truncated[t - 1], after[t - 1], value[t])
                valid[t] = game.acting.T

                def look():
                    game.observe(last.numpy())
                    after[t] = forward(last, *stack.critic).squeeze(2).numpy()

                paid, ended, cut, over = game.step(chosen.squeeze(2).numpy().T, look)
                reward[t], terminated[t], truncated[t] = paid.T, ended.T, cut.T
                finished.append(over)
            game.observe(last.numpy())
            after[-1] = np.where(truncated[-1], after[-1], forward(last, *stack.critic).squeeze(2).numpy())
        finished = np.concatenate(finished)
        steps += int(valid.sum())
        blocks.append((len(finished), float(finished.sum())))
        while sum(count for count, _ in blocks[1:]) >= WINDOW:
            blocks.pop(0)
        episodes = sum(count for count, _ in blocks)
        running = sum(total for _, total in blocks) / max(1, episodes)
        if episodes >= WINDOW and running >= goal:
            break

        ended = terminated | truncated
        rows = lambda x: np.ascontiguousarray(x.transpose(1, 0, 2)).reshape(PLAYERS, -1)
        mask = rows(valid)
        if normaliser.batches == 0:
            nothing = np.zeros(shape)
            normaliser.learn(rows(credit(reward, nothing, nothing, terminated, ended, valid, GAMMA, 1.0)), mask)
        mean, spread = normaliser.mean[None], normaliser.spread[None]
        value, after = value * spread + mean, after * spread + mean
        advantage = rows(credit(reward, value, after, terminated, ended, valid, GAMMA, LAMBDA))
        returns = advantage + rows(value)
        count = mask.sum(1, keepdims=True)
        centre = (advantage * mask).sum(1, keepdims=True) / count
        width = np.sqrt((((advantage - centre) * mask) ** 2).sum(1, keepdims=True) / count) + 1e-8
        as_torch = lambda x: torch.from_numpy(x.astype(np.float32)).reshape(-1)
        columns = [
            obs.view(-1, INPUTS),
            illegal.view(-1, ACTIONS),
            action.view(-1, 1),
            logp.view(-1),
            as_torch((advantage - centre) / width),
            as_torch((returns - normaliser.mean) / normaliser.spread),
        ]
        own = [torch.from_numpy(np.flatnonzero(mask[p]) + p * STEPS * WORLDS) for p in range(PLAYERS)]
        longest = max(len(rows_of) for rows_of in own)
        for _ in range(EPOCHS):
            order = torch.zeros(PLAYERS, MINIBATCHES, -(-longest // MINIBATCHES), dtype=torch.int64)
            weight = torch.zeros(order.shape)
            for p, rows_of in enumerate(own):
                parts = rows_of[torch.randperm(len(rows_of))].tensor_split(MINIBATCHES)
                for m, part in enumerate(parts):
                    order[p, m, : len(part)] = part
                    weight[p, m, : len(part)] = 1 / len(part)
            for m in range(MINIBATCHES):
                chosen = order[:, m].reshape(-1)
                size = order.size(2)
                batch = [column.index_select(0, chosen).view(PLAYERS, size, *column.shape[1:]) for column in columns]
                whole_loss(*batch, weight[:, m], CLIP, VALUE, ENTROPY, *stack.parameters).backward()
                stack.step()
        normaliser.learn(returns, mask)
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "steps": steps, "mean": running, "reached": running >= goal}))


main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
