"""PPO in PyTorch as fast as we can write it: every step has several variants, and the caller takes the fastest for each task."""
import concurrent.futures

import torch
import torch.nn.functional as F

MAX_NORM, RATE, BETA1, BETA2, EPSILON = 0.5, 1e-3, 0.9, 0.999, 1e-5
ACTIONS = 9


def mlp(inputs, hidden, outputs, gain):
    """Weights and biases in turn, initialised as PPO programs do."""
    parameters = []
    widths = [inputs, *hidden, outputs]
    for i in range(len(widths) - 1):
        weight = torch.empty(widths[i + 1], widths[i])
        torch.nn.init.orthogonal_(weight, gain if i == len(widths) - 2 else 2**0.5)
        parameters += [weight, torch.zeros(widths[i + 1])]
    return parameters


def forward(x, w1, b1, w2, b2, w3, b3):
    return F.linear(torch.tanh(F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)), w3, b3)


def policy_loss(logits, illegal, action, old_logp, advantage, clip: float = 0.2, entropy_coefficient: float = 0.01):
    """The loss, and what a program reports of a step: means of k1, k2, k3, clip fraction, ratio and its square, entropy, surrogate."""
    logp_all = F.log_softmax(logits.masked_fill(illegal, -1e9), 1)
    log_ratio = logp_all.gather(1, action).squeeze(1) - old_logp
    ratio = torch.exp(log_ratio)
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    entropy = (logp_all.exp() * logp_all).sum(1)
    with torch.no_grad():
        excess = ratio - 1
        columns = [-log_ratio, log_ratio * log_ratio, excess - log_ratio, (excess.abs() > clip).float(), ratio, ratio * ratio, entropy, surrogate]
        figures = torch.stack(columns).mean(1)
    # The entropy here is negative, so that it is added to what is made small.
    return torch.mean(entropy_coefficient * entropy - surrogate), figures


def actor_loss(obs, illegal, action, old_logp, advantage, w1, b1, w2, b2, w3, b3):
    return policy_loss(forward(obs, w1, b1, w2, b2, w3, b3), illegal, action, old_logp, advantage)


def critic_loss(obs, returns, w1, b1, w2, b2, w3, b3):
    return 0.5 * F.mse_loss(forward(obs, w1, b1, w2, b2, w3, b3).squeeze(1), returns)


def whole_loss(obs, illegal, action, old_logp, advantage, returns, a1, a2, a3, a4, a5, a6, c1, c2, c3, c4, c5, c6):
    policy, figures = actor_loss(obs, illegal, action, old_logp, advantage, a1, a2, a3, a4, a5, a6)
    value = critic_loss(obs, returns, c1, c2, c3, c4, c5, c6)
    return policy + value, figures, value


def act(obs, illegal, uniform, a1, a2, a3, a4, a5, a6, c1, c2, c3, c4, c5, c6):
    """An action by inverse CDF, its log-probability and the value."""
    logp_all = F.log_softmax(forward(obs, a1, a2, a3, a4, a5, a6).masked_fill(illegal, -1e9), 1)
    action = (logp_all.exp().cumsum(1) < uniform).sum(1, keepdim=True).clamp(max=logp_all.size(1) - 1)
    return action, logp_all.gather(1, action), forward(obs, c1, c2, c3, c4, c5, c6)


def act_multinomial(obs, illegal, uniform, a1, a2, a3, a4, a5, a6, c1, c2, c3, c4, c5, c6):
    logp_all = F.log_softmax(forward(obs, a1, a2, a3, a4, a5, a6).masked_fill(illegal, -1e9), 1)
    action = torch.multinomial(logp_all.exp(), 1)
    return action, logp_all.gather(1, action), forward(obs, c1, c2, c3, c4, c5, c6)


def act_race(obs, illegal, uniform, a1, a2, a3, a4, a5, a6, c1, c2, c3, c4, c5, c6):
    """The least of exponential waiting times, which is what multinomial does inside."""
    logp_all = F.log_softmax(forward(obs, a1, a2, a3, a4, a5, a6).masked_fill(illegal, -1e9), 1)
    action = (logp_all.exp() / torch.empty_like(logp_all).exponential_()).argmax(1, keepdim=True)
    return action, logp_all.gather(1, action), forward(obs, c1, c2, c3, c4, c5, c6)


ACTS = {"cdf": act, "multinomial": act_multinomial, "race": act_race}
scripted_whole, scripted_actor, scripted_critic = (torch.jit.script(f) for f in (whole_loss, actor_loss, critic_loss))
scripted_acts = {name: torch.jit.script(f) for name, f in ACTS.items()}


class FlatAdam:
    """Adam and the gradient clip over one vector that all parameters and gradients are views of."""

    def __init__(self, parameters, actors):
        size = sum(p.numel() for p in parameters)
        self.actor_size = sum(p.numel() for p in parameters[:actors])
        self.values, self.gradient = torch.empty(size), torch.zeros(size)
        at = 0
        for p in parameters:
            view = self.values[at : at + p.numel()].view_as(p)
            view.copy_(p.detach())
            p.data = view
            p.grad = self.gradient[at : at + p.numel()].view_as(p)
            at += p.numel()
        self.first, self.second, self.spare = (torch.zeros(size) for _ in range(3))
        self.steps = 0

    def zero(self):
        self.gradient.zero_()

    @torch.no_grad()
    def step(self):
        self.steps += 1
        g = self.gradient
        norms = torch.stack([g[: self.actor_size].norm(), g[self.actor_size :].norm()])
        g.mul_((MAX_NORM / (norms.norm() + 1e-6)).clamp_(max=1.0))
        self.first.mul_(BETA1).add_(g, alpha=1 - BETA1)
        self.second.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        torch.sqrt(self.second, out=self.spare)
        self.spare.div_((1 - BETA2**self.steps) ** 0.5).add_(EPSILON)
        self.values.addcdiv_(self.first, self.spare, value=-RATE / (1 - BETA1**self.steps))
        return norms


class TorchAdam:
    """torch.optim.Adam, plain or by its foreach functions."""

    def __init__(self, parameters, actors, foreach):
        self.parameters, self.actors = parameters, actors
        self.adam = torch.optim.Adam(parameters, lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, foreach=foreach)

    def zero(self):
        self.adam.zero_grad(set_to_none=True)

    @torch.no_grad()
    def step(self):
        gradients = [p.grad for p in self.parameters]
        each = torch.stack(torch._foreach_norm(gradients))
        norms = torch.stack([each[: self.actors].norm(), each[self.actors :].norm()])
        factor = (MAX_NORM / (norms.norm() + 1e-6)).clamp_(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
        self.adam.step()
        return norms


class Learner:
    """One policy and its critic. An update returns its figures, as ours does. `graph` is eager, script, or split: the two networks on two Python threads, which torch lets run at once."""

    def __init__(self, inputs, hidden, graph, adam):
        torch.manual_seed(1)
        self.actor = [p.requires_grad_() for p in mlp(inputs, hidden, ACTIONS, 0.01)]
        self.critic = [p.requires_grad_() for p in mlp(inputs, hidden, 1, 1.0)]
        self.parameters = self.actor + self.critic
        actors = len(self.actor)
        flat = adam == "flat"
        self.adam = FlatAdam(self.parameters, actors) if flat else TorchAdam(self.parameters, actors, adam == "foreach")
        self.graph = graph
        self.pool = concurrent.futures.ThreadPoolExecutor(1) if graph.startswith("split") else None
        self.actor_loss = scripted_actor if graph == "split-script" else actor_loss
        self.critic_loss = scripted_critic if graph == "split-script" else critic_loss

    def update(self, obs, illegal, action, old_logp, advantage, returns):
        self.adam.zero()
        if self.pool:
            other = self.pool.submit(self.critic_half, obs, returns)
            loss, figures = self.actor_loss(obs, illegal, action, old_logp, advantage, *self.actor)
            loss.backward()
            value = other.result()
        else:
            whole = scripted_whole if self.graph == "script" else whole_loss
            loss, figures, value = whole(obs, illegal, action, old_logp, advantage, returns, *self.parameters)
            loss.backward()
        return figures, value.detach(), self.adam.step()

    def critic_half(self, obs, returns):
        value = self.critic_loss(obs, returns, *self.critic)
        value.backward()
        return value


class Rows:
    """Made-up decisions in one order; a minibatch is gathered by a list of indices, as PPO does."""

    def __init__(self, count, inputs):
        generator = torch.Generator().manual_seed(2)
        self.obs = torch.randn(count, inputs, generator=generator)
        self.illegal = torch.rand(count, ACTIONS, generator=generator) < 0.25
        self.illegal[:, 0] = False
        self.action = torch.zeros(count, 1, dtype=torch.int64)
        self.old_logp = torch.full((count,), -2.0)
        self.advantage = torch.randn(count, generator=generator)
        self.returns = torch.randn(count, generator=generator)

    def columns(self):
        return self.obs, self.illegal, self.action, self.old_logp, self.advantage, self.returns

    def minibatch(self, chosen):
        return [column.index_select(0, chosen) for column in self.columns()]
