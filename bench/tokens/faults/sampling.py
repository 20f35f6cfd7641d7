"""Faults of sampling: temperature, support and masks."""

import torch

from language import batching

from .fault import TOKENS, WARM, fault, rows_with, wrap

# - temperature and support -


@fault("trainer forgets the temperature", "temperature-mismatch", **WARM)
def _(program):
    program.tempered = lambda logits: logits.float()


@fault("sampler reports plain log-probabilities", "temperature-mismatch", **WARM)
def _(program):
    program.sampler.reported = lambda logits, scores, keep, token: (
        logits.float().log_softmax(1).gather(1, token[:, None]).squeeze(1)
    )


@fault("sampler ignores the temperature", "temperature-mismatch", **WARM)
def _(program):
    program.sampler.scaled = lambda logits: logits.float()


@fault("log-probabilities divided by the temperature", "temperature-mismatch", **WARM)
def _(program):
    plain = lambda logits, rows: logits[:, :-1].float().log_softmax(-1).gather(2, rows.ids[:, 1:, None]).squeeze(2)
    program.logp = lambda logits, rows: plain(logits, rows) / program.options.temperature


@fault("temperature twice", "temperature-mismatch", **WARM)
def _(program):
    program.tempered = lambda logits: logits.float() / program.options.temperature**2


def over_kept(program):
    program.sampler.reported = lambda logits, scores, keep, token: (
        scores.masked_fill(~keep, -1e30).log_softmax(1).gather(1, token[:, None]).squeeze(1)
    )


fault("sampler renormalises top-p", "support-truncated", top_p=0.7)(over_kept)
fault("sampler renormalises top-k", "support-truncated", top_k=3)(over_kept)


# - masks -


@fault("mask of the inputs", "loss-mask-shifted")
def _(program):
    rows_with(program, lambda rows, _: {"mask": torch.cat([rows.mask[:, 1:], torch.zeros(len(rows.mask), 1)], 1)})


@fault("mask one place late", "loss-mask-shifted")
def _(program):
    rows_with(program, lambda rows, _: {"mask": torch.cat([torch.zeros(len(rows.mask), 1), rows.mask[:, :-1]], 1)})


@fault("mask aligned to the other end", "loss-mask-shifted")
def _(program):
    def turned(rows, _):
        width = rows.mask.shape[1]
        last = torch.where(rows.mask > 0, torch.arange(width), -1).max(1).values
        return {"mask": torch.stack([row.roll(int(width - 1 - end)) for row, end in zip(rows.mask, last)])}

    rows_with(program, turned)


@fault("old log-probabilities one place off", "loss-mask-shifted")
def _(program):
    def passes(own, responses):
        found = own(responses)
        found["old_logp"] = [[*row[1:], row[-1]] for row in found["old_logp"]]
        return found

    wrap(program, "passes", passes)


@fault("mask of the whole row", "padding-trained", task="sort")
def _(program):
    def until(rows, responses):
        starts = torch.tensor([len(r.prompt_ids) for r in responses])[rows.response.clamp(min=0)]
        return {"mask": torch.maximum(rows.mask, ((rows.t >= starts) & (rows.response >= 0)).float())}

    rows_with(program, until)


@fault("mask two places too long", "padding-trained")
def _(program):
    def longer(rows, responses):
        ends = torch.tensor([len(r.prompt_ids) + len(r.ids) for r in responses])[rows.response.clamp(min=0)]
        return {
            "mask": torch.maximum(rows.mask, ((rows.t >= ends) & (rows.t < ends + 2) & (rows.response >= 0)).float())
        }

    rows_with(program, longer)


@fault("tool's words trained", "environment-tokens-trained", **TOKENS)
def _(program):
    def every(rows, responses):
        _, _, inside = batching.places_of(rows, responses)
        return {"mask": inside.float()}

    rows_with(program, every)


@fault("prompt trained", "environment-tokens-trained")
def _(program):
    def every(rows, responses):
        owner, at, _ = batching.places_of(rows, responses)
        return {"mask": torch.maximum(rows.mask, ((at < 0) & (rows.t >= 0)).float())}

    rows_with(program, every)
