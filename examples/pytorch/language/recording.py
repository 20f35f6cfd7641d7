"""What the recorder is told of an iteration, before its first step. Rows are whole, prompt and padding too, so that a mask that reaches there is seen."""

import torch

from .batching import margins
from .model import Model


def whole(rows, responses):
    """Ids, kinds and the loss mask of every place from the prompt's first token to the end of the trainer's rows."""
    width = max(int(rows.t.max()) + 1, *(len(r.prompt_ids) + len(r.ids) for r in responses))
    ids = [r.prompt_ids + r.ids + [0] * (width - len(r.prompt_ids) - len(r.ids)) for r in responses]
    kinds = [["prompt"] * len(r.prompt_ids) + r.source for r in responses]
    mask = torch.zeros(len(responses), width)
    inside = (rows.response >= 0) & (rows.t >= 0)
    mask[rows.response[inside], rows.t[inside]] = rows.mask[inside]
    return ids, [kind + ["padding"] * (width - len(kind)) for kind in kinds], mask > 0, width


def record(program, responses, found):
    options, recorder = program.options, program.recorder
    ids, kinds, mask, width = whole(program.rows(responses, range(len(responses))), responses)

    def placed(lists, empty=float("nan")):
        before = [len(response.prompt_ids) for response in responses]
        return [[empty] * n + row + [empty] * (width - n - len(row)) for n, row in zip(before, lists)]

    known = {name: placed(found[name]) for name in ("old_logp", "value", "return") if name in found}
    known["earlier"], known["earlier_version"] = program.earlier()
    if options.credit == "token":
        last = [max(place for place, source in enumerate(r.source) if source == "sampled") for r in responses]
        ends = [[place == end for place in range(len(r.ids))] for r, end in zip(responses, last)]
        known.update(reward=placed(found["reward"]), advantage=placed(found["raw"]), terminated=placed(ends, False))
    else:
        known.update(reward=found["paid"], advantage=found["each"])
    if not options.packing:
        known["padding"] = [margins(responses, options.padding)[1] - len(r.prompt_ids) - len(r.ids) for r in responses]
    if options.top_p < 1 or options.top_k:
        known["kept_mass"] = placed([response.mass for response in responses])
    recorder.responses(
        ids,
        start=0,
        present=[[kind != "padding" for kind in row] for row in kinds],
        source=kinds,
        trained=mask,
        prompts=[r.prompt_ids for r in responses],
        sampler_logp=placed([r.logp for r in responses]),
        reference_logp=placed(found["reference"]),
        position=placed(found["position"]),
        trainer_version=program.version,
        sampled=[r.sampled_ids for r in responses],
        sampled_logp=[r.sampled_logp for r in responses],
        sampler_version=[r.version for r in responses],
        **{name: [getattr(r, name) for r in responses] for name in PER_RESPONSE},
        **known,
    )


PER_RESPONSE = (
    "group",
    "graded",
    "rewarded_as",
    "finish",
    "turns",
    "sampler_padding",
    "cached_tokens",
    "cached_version",
)


def earlier_scorer(program, version):
    """A clean pass with the weights of another version."""
    own = Model(size=program.options.size, rank=program.options.lora)
    own.load_state_dict(program.history[version])
    return lambda ids: program.clean(ids, own)
