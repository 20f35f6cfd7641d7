"""Rewards to advantages: one per response (group mean, leave one out, batch mean), or one per token (critic, reward to go)."""

import torch


def kl_estimate(kind, logp, reference):
    """Schulman's three estimators of the divergence from the reference, per token."""
    gap = logp - reference
    return {"k1": gap, "k2": gap**2 / 2, "k3": (-gap).exp() - 1 + gap}[kind]


def baseline(rewards, groups, members, options):
    """What each response is compared with. `members` says which of them count."""
    out = torch.zeros_like(rewards)
    for group in groups.unique():
        own = (groups == group) & members if options.baseline != "batch-mean" else members
        mine = groups == group
        total, count = rewards[own].sum(), own.sum()
        if options.baseline == "leave-one-out":
            inside = (mine & members)[mine]
            out[mine] = (total - rewards[mine] * inside) / (count - inside.long()).clamp(min=1)
        elif options.baseline != "none":
            out[mine] = total / count.clamp(min=1)
    return out


def scale(rewards, groups, members, options):
    """What the difference is divided by."""
    out = torch.ones_like(rewards)
    for group in groups.unique():
        own = (groups == group) & members if options.scale == "group-deviation" else members
        if options.scale != "none":
            spread = rewards[own].std() if own.sum() > 1 else torch.zeros(())
            out[groups == group] = spread + options.scale_epsilon
    return out


def per_response(rewards, groups, members, options):
    return (rewards - baseline(rewards, groups, members, options)) / scale(rewards, groups, members, options)


def reward_place(response):
    """The token that the reward is paid on: the last one that the model made."""
    return max(place for place, source in enumerate(response.source) if source == "sampled")


def per_token(response, reward, penalty, values, options):
    """Rewards and advantages of one response's tokens; only what the model made counts. Without values it is the reward to go."""
    places = [place for place, source in enumerate(response.source) if source == "sampled"]
    paid = [0.0] * len(response.ids)
    for place in places:
        paid[place] -= penalty[place]
    paid[reward_place(response)] += reward
    advantages, returns = [0.0] * len(paid), [0.0] * len(paid)
    advantage, following = 0.0, 0.0
    for place in reversed(places):
        value = 0.0 if values is None else values[place]
        delta = paid[place] + options.gamma * following - value
        advantage = delta + options.gamma * (1.0 if values is None else options.lam) * advantage
        following = value
        advantages[place], returns[place] = advantage, advantage + value
    return paid, advantages, returns


def whitened(advantages, masks):
    """Mean 0 and deviation 1 over all trained tokens of the batch."""
    flat = torch.tensor([a for row, mask in zip(advantages, masks) for a, kept in zip(row, mask) if kept])
    if len(flat) < 2:  # every answer was cut and is masked: nothing is trained, and nothing may become NaN
        return [[0.0] * len(row) for row in advantages]
    mean, deviation = flat.mean().item(), flat.std().item() + 1e-8
    return [[(a - mean) / deviation for a in row] for row in advantages]
