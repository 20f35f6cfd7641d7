"""The update: minibatches, micro-batches, and a loss that is a sum over tokens. The normaliser is taken over the whole optimiser step, not over what fits into memory."""

import math

import torch

from .batching import spread
from .credit import kl_estimate


def by_response(rows, values, mask):
    """The mean of each response's trained tokens, at every one of its places."""
    owner = rows.response.clamp(min=0).flatten()
    count = int(owner.max()) + 1
    total = torch.zeros(count).index_add(0, owner, (values * mask).flatten())
    tokens = torch.zeros(count).index_add(0, owner, mask.flatten())
    return (total / tokens.clamp(min=1))[owner].reshape(mask.shape)


class Update:
    """One program's update. `loss` gives every token's part; `shares` what it counts in the step's mean."""

    def __init__(self, program):
        self.program, self.options = program, program.options

    def order(self, responses):
        """Responses that are trained on, shuffled. DAPO leaves out groups whose rewards are all equal."""
        kept = list(range(len(responses)))
        self.dropped = 0
        if self.options.algorithm == "dapo":
            grades = {}
            for response in responses:
                grades.setdefault(response.group, set()).add(response.paid)
            equal = {group for group, paid in grades.items() if len(paid) == 1}
            if len(equal) < len(grades):
                self.dropped = len(equal)
                kept = [index for index in kept if responses[index].group not in equal]
        self.program.random.shuffle(kept)
        return kept

    def ratio(self, rows, new, old, mask):
        gap = new - old
        if self.options.ratio == "sequence":
            gap = by_response(rows, gap, mask)
        return gap.exp()

    def loss(self, rows, new, old, advantage, reference, weight):
        """Every token's part of the loss, before the mean."""
        options = self.options
        ratio = self.ratio(rows, new, old, rows.mask)
        clipped = ratio.clamp(1 - options.clip_low, 1 + options.clip_high)
        out = -torch.min(ratio * advantage, clipped * advantage) * weight
        if options.kl != "none" and options.kl_place == "loss":
            out = out + options.kl_coefficient * kl_estimate(options.kl, new, reference)
        return out

    def importance(self, old, sampler):
        """The correction for what the sampler's numbers differ from the trainer's."""
        if not self.options.importance_cap:
            return torch.ones_like(old)
        return (old - sampler).exp().clamp(max=self.options.importance_cap)

    def shares(self, rows, step):
        """What a token counts: over the whole step's tokens, or its own response's."""
        sequences, tokens = len(step), sum(self.trained[index] for index in step)
        if self.options.aggregation == "token-mean":
            return torch.full(rows.mask.shape, 1 / max(1, tokens))
        if self.options.aggregation == "sequence-mean":
            lengths = torch.tensor(self.trained).clamp(min=1)[rows.response.clamp(min=0)]
            return 1 / (lengths * sequences)
        constant = self.options.aggregation_constant if self.options.aggregation == "constant" else 1.0
        return torch.full(rows.mask.shape, 1 / (constant * sequences))

    def masked(self, values, rows):
        return values * rows.mask

    def micro(self, responses, found, which, step):
        """Forward and backward of one slice of a step."""
        program, options = self.program, self.options
        rows = program.rows(responses, which)
        logits = program.forward(program.model, rows)
        new = program.logp(logits, rows)
        advantage = spread(rows, found["advantage"], responses)
        old = spread(rows, found["old_logp"], responses) if "old_logp" in found else new.detach()
        sampler = spread(rows, [[0.0 if math.isnan(p) else p for p in r.logp] for r in responses], responses)
        reference = spread(rows, found["reference"], responses)
        weight = self.importance(old, sampler)
        if program.recorder:
            program.recorder.replays(
                response=rows.response,
                t=rows.t,
                new_logp=new,
                logits=logits[:, :-1],
                old_logp=old,
                advantage=advantage,
                weight=rows.mask * weight,
                kl=kl_estimate(options.kl, new, reference) if options.kl != "none" else None,
                pack=rows.pack[:, None].expand_as(rows.t) if options.packing else None,
                again=lambda: program.logp(program.forward(program.model, rows), rows),
            )
        parts = self.loss(rows, new, old, advantage, reference, weight)
        loss = (self.masked(parts, rows) * self.shares(rows, step)).sum()
        if program.critic is not None:
            value = program.forward(program.critic, rows)[:, :-1, 0].float()
            wanted = spread(rows, found["return"], responses)
            loss = loss + 0.5 * (((value - wanted) ** 2) * rows.mask).sum() / max(1, sum(self.trained[i] for i in step))
        loss.backward()
        self.note(rows, new.detach(), old)
        return float(loss.detach())

    def note(self, rows, new, old):
        """What is logged of a step: how far the policy has moved, and how much of it the clip holds back."""
        ratio = self.ratio(rows, new, old, rows.mask)
        outside = (ratio < 1 - self.options.clip_low) | (ratio > 1 + self.options.clip_high)
        moved = (ratio - 1 - (new - old)) * rows.mask
        self.seen += torch.stack([moved.sum(), (outside * rows.mask).sum(), rows.mask.sum()])

    def run(self, responses, found):
        options, program = self.options, self.program
        program.model.train()
        self.trained = [0 if r.masked else sum(source == "sampled" for source in r.source) for r in responses]
        for response, paid in zip(responses, found["paid"]):
            response.paid = paid
        for _ in range(options.epochs):
            order = self.order(responses)
            size = -(-len(order) // options.minibatches)
            for begin in range(0, len(order), size):
                step = order[begin : begin + size]
                slice_size = -(-len(step) // options.accumulation)
                program.optimizer.zero_grad()
                self.seen = torch.zeros(3)
                loss = sum(
                    self.micro(responses, found, step[at : at + slice_size], step)
                    for at in range(0, len(step), slice_size)
                )
                norm = torch.nn.utils.clip_grad_norm_(program.trainable(), 1.0)
                program.optimizer.step()
                if program.recorder:
                    moved, clipped, tokens = self.seen.tolist()
                    program.recorder.step(
                        loss=loss,
                        grad_norm=norm,
                        groups_dropped=self.dropped,
                        approx_kl=moved / max(1, tokens),
                        clip_fraction=clipped / max(1, tokens),
                    )
