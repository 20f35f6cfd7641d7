"""Faults of rewards and advantages."""

import torch

from language import credit

from .fault import MOVING, SHORT, TWICE, fault, wrap

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


@fault("rewards turned after grading", "reward-misordered")
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


@fault("metrics over padding too", "metric-misreported", **TWICE, **MOVING)
def _(program):
    def note(own, rows, new, old):
        own(rows, new, old)
        program.update.seen[2] += rows.mask.numel() - rows.mask.sum()

    wrap(program.update, "note", note)
