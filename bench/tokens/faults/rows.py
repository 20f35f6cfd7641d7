"""Faults of rows: positions, padding, packs, tokens and weights."""

import torch

from language import tasks

from .fault import MOVING, fault, rows_with, wrap

# - positions, padding, packs -


@fault("trainer counts padding as places", "positions-shifted", padding="left", packing=0)
def _(program):
    rows_with(program, lambda rows, _: {"positions": torch.arange(rows.ids.shape[1]).expand_as(rows.ids)})


@fault("trainer attends to padding", "positions-shifted", padding="left", packing=0)
def _(program):
    causal = lambda rows: torch.ones(rows.seen.shape[1:], dtype=torch.bool).tril().expand_as(rows.seen)
    rows_with(program, lambda rows, _: {"seen": causal(rows)})


@fault("sampler counts padding as places", "positions-shifted", task="sort")
def _(program):
    program.sampler.positions = lambda real: torch.arange(real.shape[1]).expand(real.shape)


@fault("sampler attends to padding", "positions-shifted", task="sort")
def _(program):
    program.sampler.attended = torch.ones_like


@fault("packs see each other", "packing-leak", packing=64)
def _(program):
    causal = lambda rows: torch.ones(rows.seen.shape[1:], dtype=torch.bool).tril().expand_as(rows.seen)
    rows_with(program, lambda rows, _: {"seen": causal(rows)})


@fault("positions run on through a pack", "packing-leak", "positions-shifted", packing=64)
def _(program):
    rows_with(program, lambda rows, _: {"positions": torch.arange(rows.ids.shape[1]).expand_as(rows.ids)})


@fault("dropout in the update", "stochastic-forward", dropout=0.1)
def _(program):
    wrap(program.update, "run", lambda own, *args: (program.model.train(), own(*args))[1])


# - tokens and weights -


def retokenise(program, change):
    def collect(own):
        responses = own()
        for response in responses:
            ids = change(list(response.ids))
            gap = len(ids) - len(response.ids)
            response.ids = ids
            for name, empty in (("logp", -0.5), ("mass", 1.0), ("source", "sampled")):
                values = getattr(response, name)
                setattr(response, name, values[: len(ids)] + [empty] * gap)
        return responses

    wrap(program, "collect", collect)


@fault("decoded and encoded again", "retokenised", task="sort")
def _(program):
    def merged(ids):  # a pair of equal digits becomes one token, as a tokenizer's merges do
        out = [i for place, i in enumerate(ids) if place == 0 or i != ids[place - 1]]
        return out if len(out) < len(ids) else ids

    retokenise(program, merged)


@fault("first token normalised away", "retokenised", task="sort")
def _(program):
    retokenise(program, lambda ids: ids[1:] if len(ids) > 2 and ids[0] == tasks.encode("0")[0] else ids)


@fault("weights never sent", "weights-not-synced", **MOVING)
def _(program):
    program.sampler.load = lambda weights, version: setattr(program.sampler, "version", version)


@fault("weights one version late", "weights-not-synced", **MOVING)
def _(program):
    def load(own, weights, version):
        before = program.history.get(version - 1, weights)
        own(before, version)

    wrap(program.sampler, "load", load)


@fault("adapter not delivered", "weights-not-synced", lora=4, learning_rate=5e-3)
def _(program):
    def load(own, weights, version):
        base = program.reference.state_dict()
        own(
            {name: base[name] if name.endswith((".down", ".up")) else value for name, value in weights.items()}, version
        )

    wrap(program.sampler, "load", load)


@fault("one tensor not sent", "weights-not-synced", **MOVING)
def _(program):
    def load(own, weights, version):
        own(
            {**weights, "blocks.1.narrow.weight": program.sampler.model.state_dict()["blocks.1.narrow.weight"]}, version
        )

    wrap(program.sampler, "load", load)


@fault("prompts' cache kept over versions", "cache-stale", prefix_cache=1, pool=6, learning_rate=3e-3)
def _(program):
    program.sampler.forget = lambda: None


@fault("same responses again", "stale-samples", **MOVING)
def _(program):
    first = []

    def collect(own):
        first[:] = first or own()
        return first

    wrap(program, "collect", collect)
