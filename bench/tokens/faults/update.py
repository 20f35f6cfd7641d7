"""Faults of the update: reference and KL, the mean, the ratio."""

import torch
from language.credit import kl_estimate

from .fault import KL, MOVING, TRAINER_OLD, TWICE, fault, wrap

# - reference and KL -


@fault("policy is its own reference", "reference-wrong", **KL, **TWICE)
def _(program):
    program.reference_logp = lambda rows: program.logp(program.forward(program.model, rows), rows)


@fault("base without its adapter is the reference", "reference-wrong", lora=4, **KL)
def _(program):
    program.reference.switch(False)


@fault("reference follows the policy", "reference-wrong", **KL, **MOVING)
def _(program):
    def publish(own):
        own()
        program.reference.load_state_dict(program.model.state_dict())

    wrap(program, "publish", publish)


def other_kl(change, **needs):
    """A KL term of the loss that is not the declared one; replaced where the update reads it."""

    def put(program):
        options = program.options

        def loss(own, rows, new, old, advantage, reference, weight):
            kind, options.kl = options.kl, "none"
            parts = own(rows, new, old, advantage, reference, weight)
            options.kl = kind
            return parts + change(options.kl_coefficient, kind, new, reference)

        wrap(program.update, "loss", loss)

    return put


MOVED = {**KL, **TWICE, **MOVING, "kl_coefficient": 0.5}
fault("KL estimator k1", "kl-term-wrong", **MOVED)(other_kl(lambda c, _, new, ref: c * kl_estimate("k1", new, ref)))
fault("KL term raises the divergence", "kl-term-wrong", **MOVED)(
    other_kl(lambda c, k, new, ref: -c * kl_estimate(k, new, ref))
)
fault("KL term left out", "kl-term-wrong", **MOVED)(other_kl(lambda c, k, new, ref: 0.0 * new))
fault("KL coefficient ten times too small", "kl-term-wrong", **MOVED)(
    other_kl(lambda c, k, new, ref: 0.1 * c * kl_estimate(k, new, ref))
)
fault("KL term without gradient", "kl-term-wrong", **MOVED)(
    other_kl(lambda c, k, new, ref: c * kl_estimate(k, new.detach(), ref))
)


# - the mean -


def other_shares(change):
    def put(program):
        wrap(program.update, "shares", lambda own, rows, step: change(program.update, own, rows, step))

    return put


SLICES = {"accumulation": 3, "aggregation": "token-mean", "task": "sort"}
fault("mean over the micro-batch", "loss-normaliser-wrong", **SLICES)(
    other_shares(lambda update, own, rows, step: torch.full(rows.mask.shape, 1 / float(rows.mask.sum()) / 3))
)
fault("accumulation left out", "loss-normaliser-wrong", **SLICES)(
    other_shares(lambda update, own, rows, step: torch.full(rows.mask.shape, 1 / float(rows.mask.sum())))
)
fault("mean over the padded width", "loss-normaliser-wrong", aggregation="token-mean", task="sort")(
    other_shares(lambda update, own, rows, step: torch.full(rows.mask.shape, 1 / rows.mask.numel()))
)
fault("sequences for tokens", "loss-normaliser-wrong", aggregation="token-mean", task="sort")(
    other_shares(
        lambda update, own, rows, step: (
            1 / (torch.tensor(update.trained).clamp(min=1)[rows.response.clamp(min=0)] * float(len(step)))
        )
    )
)
fault("tokens for sequences", "loss-normaliser-wrong", aggregation="sequence-mean", task="sort")(
    other_shares(
        lambda update, own, rows, step: torch.full(rows.mask.shape, 1 / float(sum(update.trained[i] for i in step)))
    )
)
fault("sum for the mean", "loss-summed", aggregation="token-mean")(
    other_shares(lambda update, own, rows, step: torch.ones(rows.mask.shape))
)


# - ratio -


@fault("old log-probabilities of the present policy", "old-logp-recomputed", **TWICE, **TRAINER_OLD)
def _(program):
    wrap(
        program.update,
        "loss",
        lambda own, rows, new, old, *rest: own(rows, new, new.detach(), *rest),
    )
    replays = program.recorder.replays
    program.recorder.replays = lambda **known: replays(**{**known, "old_logp": known["new_logp"].detach()})


OFF = {"importance_cap": 2.0, "sampler_lag": 1, **TRAINER_OLD, **MOVING}


@fault("importance weight not applied", "importance-weight-missing", **OFF)
def _(program):
    program.update.importance = lambda old, sampler: torch.ones_like(old)


@fault("importance weight computed and dropped", "importance-weight-missing", **OFF)
def _(program):
    wrap(
        program.update,
        "loss",
        lambda own, rows, new, old, advantage, reference, weight: own(
            rows, new, old, advantage, reference, torch.ones_like(weight)
        ),
    )
