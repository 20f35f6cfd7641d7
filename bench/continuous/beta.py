"""examples/pytorch/continuous.py with beta distributions: torques between two bounds, drawn between 0 and 1 and then scaled."""

from continuous import DIMENSIONS, TORQUE, mlp, parser  # noqa: F401
from continuous import Program as Gaussian
from torch import nn
from torch.distributions import Beta


class Concentrations(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.body, self.head = mlp(inputs, 2 * DIMENSIONS, 0.01), "body.4"

    def forward(self, obs):
        return (1 + nn.functional.softplus(self.body(obs) + 1)).chunk(2, -1)


class Program(Gaussian):
    def __init__(self, options, **more):
        super().__init__(options, **more)
        self.kind = "beta"

    def make_actor(self, inputs):
        return Concentrations(inputs)

    def drawn(self, first, second):
        return Beta(first, second).sample().clamp(1e-4, 1 - 1e-4)

    def parts(self, action, first, second):
        return Beta(first, second).log_prob(action)

    def entropy(self, first, second):
        found = Beta(first, second).entropy()
        return found.mean(-1) if self.options.mean_entropy else found.sum(-1)

    def described(self, first, second):
        found = Beta(first, second)
        return {"mean": found.mean, "log_std": found.stddev.log()}

    def given(self, action):
        return TORQUE * (2 * action - 1)
