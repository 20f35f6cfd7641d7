"""Actors, critics and their optimisers, in the ways in which programs share them or keep them apart.

The one thing to get wrong: a policy's `score` gives all choices' scores; the list and the mask come later, in `Program.distribution`.
"""

import torch
from torch import nn

HIDDEN = 24


def layer(inputs, outputs, gain):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def body(inputs):
    return nn.Sequential(layer(inputs, HIDDEN, 2**0.5), nn.Tanh(), layer(HIDDEN, HIDDEN, 2**0.5), nn.Tanh())


class Policy(nn.Module):
    """An actor and a critic, with a trunk of their own each or one for both."""

    def __init__(self, inputs, critic_inputs, outputs, trunk, gaussian):
        super().__init__()
        self.trunk = body(inputs) if trunk else None
        self.actor = nn.Sequential(layer(HIDDEN, outputs, 0.01)) if trunk else nn.Sequential(*body(inputs), layer(HIDDEN, outputs, 0.01))
        self.critic = nn.Sequential(layer(HIDDEN, 1, 1.0)) if trunk else nn.Sequential(*body(critic_inputs), layer(HIDDEN, 1, 1.0))
        self.log_std = nn.Parameter(torch.full((outputs,), -0.5)) if gaussian else None

    def score(self, obs):
        return self.actor(self.trunk(obs) if self.trunk is not None else obs)

    def value(self, state):
        return self.critic(self.trunk(state) if self.trunk is not None else state)[..., 0]

    def actor_parameters(self):
        own = [*self.actor.parameters(), *([] if self.log_std is None else [self.log_std])]
        return own + ([] if self.trunk is None else list(self.trunk.parameters()))

    def critic_parameters(self):
        return list(self.critic.parameters())


#: By name: the class, the learning rate that suits it here, and its own settings.
OPTIMISERS = {
    "adam": (torch.optim.Adam, 1e-3, {"eps": 1e-5}),
    "adam-amsgrad": (torch.optim.Adam, 1e-3, {"amsgrad": True}),
    "adamw": (torch.optim.AdamW, 1e-3, {"weight_decay": 0.01}),
    "adam-decay": (torch.optim.Adam, 1e-3, {"weight_decay": 1e-4}),
    "rmsprop": (torch.optim.RMSprop, 5e-4, {"alpha": 0.99, "eps": 1e-5}),
    "rmsprop-momentum": (torch.optim.RMSprop, 2e-4, {"alpha": 0.95, "momentum": 0.9}),
    "sgd": (torch.optim.SGD, 0.1, {}),
    "momentum": (torch.optim.SGD, 0.02, {"momentum": 0.9}),
    "nesterov": (torch.optim.SGD, 0.02, {"momentum": 0.9, "nesterov": True}),
    "adagrad": (torch.optim.Adagrad, 0.01, {}),
    "adamax": (torch.optim.Adamax, 2e-3, {}),
    "nadam": (torch.optim.NAdam, 1e-3, {}),
    "radam": (torch.optim.RAdam, 2e-3, {}),
}


def optimisers(policy, kind, apart, scale):
    """One for both networks, or one each; `scale` undoes what a sum in place of a mean does to a plain gradient step."""
    make, rate, own = OPTIMISERS[kind]
    rate *= scale if kind in ("sgd", "momentum", "nesterov") else 1
    if apart:
        return [make(policy.actor_parameters(), lr=rate, **own), make(policy.critic_parameters(), lr=rate, **own)]
    return [make(policy.parameters(), lr=rate, **own)]


class Running:
    """Mean and spread of all that came so far."""

    def __init__(self, size=()):
        self.mean, self.square, self.count = torch.zeros(size, dtype=torch.float64), torch.ones(size, dtype=torch.float64), 1e-4

    def update(self, rows):
        rows = rows.to(torch.float64)
        share = len(rows) / (self.count + len(rows))
        self.mean = self.mean + share * (rows.mean(0) - self.mean)
        self.square = self.square + share * ((rows**2).mean(0) - self.square)
        self.count += len(rows)

    @property
    def std(self):
        return (self.square - self.mean**2).clamp(min=1e-4).sqrt()

    def normal(self, x):
        return ((x - self.mean) / self.std).to(torch.float32)

    def back(self, x):
        return (x * self.std + self.mean).to(torch.float32)
