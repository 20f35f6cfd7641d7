"""Faults for examples/pytorch/grpo.py, each put in from outside by replacing one method of a `Program`. The one thing to get wrong: a fault is one only
under the options of its `needs`, and what the recording declares stays what the program was told, because that is what a user believes."""

import math
from typing import Any, Callable, Dict, NamedTuple, Tuple

import torch
from language import batching, credit, tasks
from language.credit import kl_estimate


class Fault(NamedTuple):
    causes: Tuple[str, ...]  # any of them is the right name
    put: Callable[[Any], None]
    needs: Dict[str, Any]


FAULTS: Dict[str, Fault] = {}
WARM = {"temperature": 0.7}
TOKENS = {"task": "tool"}
TWICE = {"epochs": 2, "minibatches": 2}
TRAINER_OLD = {"old_logp": "trainer"}
KL = {"kl": "k3", "kl_place": "loss", "kl_coefficient": 0.05}
SHORT = {"max_response_length": 5, "task": "sort"}
MOVING = {"learning_rate": 1e-3}


def fault(name, *causes, **needs):
    def keep(put):
        FAULTS[name] = Fault(causes, put, needs)
        return put

    return keep


def wrap(owner, name, change):
    """Replaces a method by a function that gets it first."""
    own = getattr(owner, name)
    setattr(owner, name, lambda *args, **kwargs: change(own, *args, **kwargs))


def rows_with(program, change):
    """Changes the trainer's rows wherever they are made."""

    def rows(own, responses, which):
        found = own(responses, which)
        return found._replace(**change(found, responses))

    wrap(program, "rows", rows)


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


@fault("mask of the whole row", "padding-trained")
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
    def sample(own, prompts, dice):
        program.sampler.visible = lambda real: torch.ones(len(real), *[real.shape[1]] * 2, dtype=torch.bool).tril()
        return own(prompts, dice)

    wrap(program.sampler, "sample", sample)


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


# - advantages -


@fault("mean of the batch for the group's", "advantage-group-mixed")
def _(program):
    wrap(program, "advantages", lambda own, paid, groups, members: own(paid, torch.zeros_like(groups), members))


@fault("groups begin one response late", "advantage-group-mixed")
def _(program):
    wrap(program, "advantages", lambda own, paid, groups, members: own(paid, groups.roll(1), members))


@fault("two prompts in one group", "advantage-group-mixed")
def _(program):
    wrap(program, "advantages", lambda own, paid, groups, members: own(paid, groups // 2, members))


@fault("first member is the baseline", "advantage-group-mixed", scale="none")
def _(program):
    program.advantages = lambda paid, groups, members: paid - torch.stack([paid[groups == g][0] for g in groups])


@fault("members interleaved", "advantage-group-mixed")
def _(program):
    def advantages(own, paid, groups, members):
        count = len(groups.unique())
        return own(paid, torch.arange(len(groups)) % count, members)

    wrap(program, "advantages", advantages)


@fault(
    "masked responses in the baseline",
    "baseline-includes-masked",
    truncated="mask",
    baseline_members="trained",
    **SHORT,
)
def _(program):
    wrap(program, "advantages", lambda own, paid, groups, members: own(paid, groups, torch.ones_like(members)))


@fault("advantages of another order", "advantage-shuffled")
def _(program):
    def micro(own, responses, found, which, step):
        turned = dict(zip(which, [*which[1:], which[0]]))
        mixed = [found["advantage"][turned.get(i, i)] for i in range(len(responses))]
        mixed = [(row[:1] or [0.0]) * len(r.ids) for row, r in zip(mixed, responses)]
        return own(responses, {**found, "advantage": mixed}, which, step)

    wrap(program.update, "micro", micro)


@fault("advantages with the wrong sign", "advantage-sign-flipped")
def _(program):
    wrap(
        program.update,
        "micro",
        lambda own, responses, found, which, step: own(
            responses, {**found, "advantage": [[-a for a in row] for row in found["advantage"]]}, which, step
        ),
    )


@fault("no guard under the deviation", "non-finite", task="tool", warm_up=150)
def _(program):
    def advantages(own, paid, groups, members):
        found = own(paid, groups, members)
        for group in groups.unique():
            if paid[groups == group].std() == 0:
                found[groups == group] = float("nan")
        return found

    wrap(program, "advantages", advantages)


# - rewards -


def reorder(order):
    def put(program):
        def grade(own, responses):
            rewards = own(responses)
            places = order(responses)
            for response, place in zip(responses, places):
                response.rewarded_as = place
            return [rewards[place] for place in places]

        wrap(program, "grade", grade)

    return put


fault("rewards of the next response", "reward-misordered")(reorder(lambda r: [*range(1, len(r)), 0]))
fault("rewards in order of length", "reward-misordered", task="sort")(
    reorder(lambda r: sorted(range(len(r)), key=lambda place: (len(r[place].prompt_ids), place)))
)


@fault("rewards of the next response, and no witness", "reward-misordered")
def _(program):
    def grade(own, responses):
        rewards = own(responses)
        return [*rewards[1:], rewards[0]]

    wrap(program, "grade", grade)


PAID = {"algorithm": "ppo"}


def pay(place):
    """Moves the reward of a response to another token."""

    def put(program):
        def credited(own, responses, rewards, found):
            real = credit.reward_place
            credit.reward_place = place
            try:
                return own(responses, rewards, found)
            finally:
                credit.reward_place = real

        wrap(program, "credit", credited)

    return put


fault("reward on the first token", "reward-token-wrong", **PAID)(pay(lambda response: 0))
fault("reward one token early", "reward-token-wrong", **PAID)(pay(lambda response: max(0, len(response.ids) - 2)))
fault("reward on the tool's word", "reward-token-wrong", task="tool", **PAID)(
    pay(lambda r: max([i for i, s in enumerate(r.source) if s == "environment"], default=len(r.ids) - 1))
)


@fault("cut answers trained", "truncated-response-rewarded", truncated="mask", **SHORT)
def _(program):
    def collect(own):
        responses = own()
        for response in responses:
            response.masked = False
        return responses

    wrap(program, "collect", collect)


@fault("cut answers paid", "truncated-response-rewarded", truncated="zero", **SHORT)
def _(program):
    def credited(own, responses, rewards, found):
        program.options.truncated = "as-is"
        own(responses, rewards, found)
        program.options.truncated = "zero"

    wrap(program, "credit", credited)


@fault("all answers graded alike", "group-degenerate")
def _(program):
    def grade(own, responses):
        for place, response in enumerate(responses):
            response.graded, response.rewarded_as = float(response.group % 5 == 0) * own([response])[0], place
        return [response.graded for response in responses]

    wrap(program, "grade", grade)


@fault("clip fraction of all places", "metric-misreported", **TWICE, **MOVING)
def _(program):
    step = program.recorder.step
    program.recorder.step = lambda **known: step(
        **{**known, "clip_fraction": 0.3 * math.sqrt(known["clip_fraction"]) + 0.2}
    )
