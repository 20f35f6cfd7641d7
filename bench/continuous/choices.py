"""examples/pytorch/continuous.py with several categoricals: each torque is one of a few."""

import torch
from continuous import TORQUE, mlp, parser  # noqa: F401
from continuous import Program as Gaussian
from torch import nn

CHOICES = (3, 5, 4)


class Logits(nn.Module):
    """The logits of all dimensions, from one layer or from one for each."""

    def __init__(self, inputs, apart):
        super().__init__()
        self.body = mlp(inputs, sum(CHOICES), 0.01)
        if apart:
            self.body[4] = nn.Linear(32, 32)
            self.heads = nn.ModuleList([nn.Linear(32, count) for count in CHOICES])
        self.apart, self.head = apart, "heads" if apart else "body.4"

    def forward(self, obs):
        found = self.body(obs)
        if self.apart:
            found = torch.cat([head(found) for head in self.heads], -1)
        return found, torch.tensor(CHOICES).expand(*found.shape[:-1], len(CHOICES))


class Program(Gaussian):
    def __init__(self, options, **more):
        super().__init__(options, **more)
        self.kind = "categoricals"

    def make_actor(self, inputs):
        return Logits(inputs, self.options.depends)

    def logps(self, logits):
        return [part.log_softmax(-1) for part in logits.split(CHOICES, -1)]

    def drawn(self, logits, choices):
        return torch.stack([torch.distributions.Categorical(logits=part).sample() for part in self.logps(logits)], -1)

    def parts(self, action, logits, choices):
        return torch.stack(
            [part.gather(-1, action[..., d : d + 1].long())[..., 0] for d, part in enumerate(self.logps(logits))], -1
        )

    def entropy(self, logits, choices):
        found = torch.stack([-(part.exp() * part).sum(-1) for part in self.logps(logits)], -1)
        return found.mean(-1) if self.options.mean_entropy else found.sum(-1)

    def described(self, logits, choices):
        return {"choice_logits": logits, "choices": choices}

    def given(self, action):
        most = torch.tensor(CHOICES) - 1
        return (TORQUE * (2 * action / most - 1)).to(self.type)
