"""The training loop of a `Program`: collect, credit, record, update. It calls the program's stages and decides nothing itself.

The one thing to get wrong: rows are recorded as the program stored them, and minibatches as they entered its loss.
"""

import torch

from program import CLIP, ENTROPY, GAMMA, ITERATIONS, LAMBDA, N, NORM, TARGET, VALUE
from tape import Tape


def settings(program):
    c = program.c
    # Somebody who declares little still says what is out of the ordinary.
    unusual = {
        **({"advantage_normalisation": "none"} if c["normalisation"] == "none" else {}),
        **({"loss_reduction": "sum"} if c["reduction"] == "sum" else {}),
        **({"value_normalisation": "popart"} if c["values"] == "popart" else {}),
        **({"advantages_recomputed": "epoch"} if c["advantages"] == "recomputed" else {}),
    }
    if c["declared"] == "few":
        return unusual
    return {
        **unusual,
        "clip": CLIP, "epochs": program.epochs, "minibatches": program.parts, "value_coefficient": VALUE,
        **({"entropy_coefficient": {"constant": ENTROPY, "none": 0.0}[c["entropy"]]} if c["entropy"] != "scheduled" else {}),
        **({"max_grad_norm": NORM} if c["gradients"] == "norm" else {}),
        **({"target_kl": TARGET} if c["target"] == "stop" else {}),
        "advantage_normalisation": c["normalisation"],
        **({"value_clip": CLIP} if c["value loss"].startswith("clipped") and c["clip"] == "constant" else {}),
        **({"huber_delta": 1.0} if c["value loss"] == "huber" else {}),
        **({"advantage_estimator": "n-step", "n_steps": N} if c["credit"] == "n-step" else {}),
    }


def train(program):
    c = program.c
    if not hasattr(program, "learn"):
        program.learn = learn
    lam = {"gae": LAMBDA, "monte-carlo": 1.0, "one-step": 0.0}.get(c["credit"])
    tape = program.tape = Tape(
        program.out, c, program.drop, gamma=GAMMA, lam=lam, agents=program.names, seed=program.seed,
        algorithm="a2c" if c["objective"] == "plain" else "ppo", settings=settings(program),
    )
    for name, policy, optimisers, agents in zip(program.policy_names, program.policies, program.optimisers, program.owners):
        actor = policy.actor if policy.log_std is None else [policy.actor, policy.log_std]
        head = policy.actor[-1]
        tape.watch(policy=name, actor=actor, critic=policy.critic, shared=policy.trunk, head=head, optimizer=optimisers, agents=[program.names[a] for a in agents])
    for program.iteration in range(ITERATIONS):
        schedule(program)
        rollout = program.collect()
        rollout["advantage"] = program.advantages(rollout, rollout["value"])
        rollout["return"] = program.returns(rollout["advantage"], rollout["value"])
        record(program, tape, rollout)
        batch = program.flatten(rollout)
        for p in range(len(program.policies)):
            update(program, tape, p, rollout, batch)


def schedule(program):
    if program.c["rate"] != "scheduled":
        return
    for optimisers, rates in zip(program.optimisers, program.rates):
        groups = [group for optimiser in optimisers for group in optimiser.param_groups]
        for group, rate in zip(groups, rates):
            group["lr"] = rate * (1 - program.progress())


def record(program, tape, rollout):
    """Rows as they lie in the program's storage: whole arrays, flat ones, or an agent's at a time."""
    c, keys = program.c, ("obs", "action", "old_logp", "reward", "env_reward", "terminated", "truncated", "value", "advantage", "return", "logits", "count", "subset", "legal")
    ends = program.after(rollout, "truncated")
    terminated = program.after(rollout, "terminated")
    beyond = torch.where(ends, rollout["final"], torch.full_like(rollout["final"], float("nan")))
    beyond[-1] = torch.where(ends[-1], rollout["final"][-1], rollout["last"])
    rollout = {**{key: rollout[key] for key in keys}, "alive": rollout["alive"], "next_value": beyond}
    rollout.update(terminated=terminated, truncated=ends)

    def give(columns, **more):
        known = {key.replace("return", "return_"): columns[key] for key in (*keys, "next_value") if key not in ("count", "subset", "legal", "logits", "action")}
        if c["limits"] == "done":
            del known["truncated"]
        if not program.gaussian:
            known.update(action=columns["action"], logits=columns["logits"], num_actions=columns["count"])
            if c["choices"].startswith("lists"):
                known["subset"] = columns["subset"]
            if c["choices"] not in ("all", "lists"):
                known["legal"] = columns["legal"]
        tape.samples(**known, **more)

    if c["layout"] == "steps":
        give(rollout)
    elif c["layout"] == "agents" and c["deaths"] != "dropped":
        for who, name in enumerate(program.names):
            give({key: column[:, :, who] for key, column in rollout.items()}, agent=name)
    else:
        flat = program.flatten(rollout)
        give(flat, env=flat["env"], agent=flat["agent"])


def update(program, tape, p, rollout, batch):
    c, policy, optimisers, name = program.c, program.policies[p], program.optimisers[p], program.policy_names[p]
    rows = program.rows_of(batch, p)
    own = program.pick(batch, rows)
    own["used"] = program.normalise_batch(batch, rows)
    before = own["value"]
    if c["values"] != "plain":
        program.learn_worth(p, own["return"])
        own["return"], before = (program.worth[p].normal(x) for x in (own["return"], before))
    for epoch in range(program.epochs):
        if epoch > 0 and c["advantages"] == "recomputed":
            recompute(program, p, rollout, batch, rows, own)
        for minibatch, index in enumerate(program.minibatches(len(rows))):
            halves = [index] if c["accumulation"] == "none" else [half for half in index.chunk(2) if len(half)]
            program.clear(optimisers)
            told = []
            part = program.pick(own, index)
            if c["normalisation"] == "minibatch":
                part["used"] = program.normalised(part["used"], part["weight"])
            part["before"] = before[index]
            at = 0
            for half in halves:
                piece = {key: column[at : at + len(half)] for key, column in part.items()}
                at += len(half)
                told.append(program.learn(program, tape, policy, name, piece, rows[half], epoch, minibatch, len(halves)))
            norm = program.limit_gradients(policy)
            kl = torch.stack([item.pop("kl") for item in told]).mean()
            stopped = c["target"] == "stop" and kl > 1.5 * TARGET
            if c["target"] == "adaptive":
                adapt(optimisers, kl)
            program.apply(optimisers)
            report = {key: torch.stack([item[key] for item in told]).mean() for key in told[0]}
            if c["reduction"] == "sum":
                report = {key: value * (len(told) if key in ("loss", "policy_loss", "value_loss") else 1) for key, value in report.items()}
            if c["optimisers"] == "two":
                report.pop("loss")
            if c["objective"] == "plain":
                report.pop("clip_fraction")
            if c["kl"] != "none":
                report["approx_kl"] = kl
            tape.step(policy=name, epoch=epoch, minibatch=minibatch, grad_norm=norm, stopped=bool(stopped) if c["target"] == "stop" else None, **report)
            if stopped:
                return


def learn(program, tape, policy, name, part, rows, epoch, minibatch, pieces):
    """The forward pass, the loss and its gradients for some rows; what of it is reported."""
    c = program.c

    def forward():
        local = program.local(program.scores(policy, part["obs"]), part["subset"])
        choice = program.distribution(policy, local, part["legal"])
        return choice, local

    choice, local = forward()
    new, old, weight = choice.log_prob(part["action"]), part["old_logp"], part["weight"]
    entropy, guess = choice.entropy(), policy.value(part["state"])
    policy_loss = program.policy_loss(new, old, part["used"], weight)
    value_loss = program.value_loss(guess, part["return"], part["before"], weight)
    bonus = program.average(entropy, weight)
    loss = program.loss(policy_loss, value_loss, bonus)

    lists = {}
    if not program.gaussian:
        lists = {"logits": local, "lengths": part["count"]}
        if c["choices"].startswith("lists"):
            lists["subset"] = part["subset"]
        if c["choices"] not in ("all", "lists"):
            lists["legal"] = part["legal"]

    def again():
        second, scores = forward()
        return second.log_prob(part["action"]) if program.gaussian else (second.log_prob(part["action"]), scores)

    tape.replays(
        policy=name, epoch=epoch, minibatch=minibatch, sample=rows, new_logp=new, old_logp=old, advantage=part["used"], entropy=entropy,
        value=guess, return_=part["return"], weight=weight if c["deaths"] == "weight" else None, again=again, **lists,
    )
    program.backward(loss / pieces if c["reduction"] == "mean" else loss)
    with torch.no_grad():
        share = lambda x: (x * weight).sum() / weight.sum()  # noqa: E731
        ratio = (new - old).exp()
        return {
            "loss": loss.detach(), "policy_loss": policy_loss.detach(), "value_loss": value_loss.detach(), "entropy": share(entropy),
            "clip_fraction": share(((ratio - 1).abs() > program.clip()).float()), "kl": program.kl(new, old, weight),
        }


@torch.no_grad()
def recompute(program, p, rollout, batch, rows, own):
    """Advantages from what the critic says now, as some programs do before every epoch."""
    value, final, last = (program.all_values(rollout[key]) for key in ("obs", "final_seen", "last_seen"))
    advantage = program.advantages({**rollout, "final": final, "last": last}, value)
    flat = program.flatten({"advantage": advantage, "alive": rollout["alive"]})
    own["used"] = program.normalise_batch({**batch, "advantage": flat["advantage"]}, rows)


def adapt(optimisers, kl):
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            if kl > 2 * TARGET:
                group["lr"] = max(1e-5, group["lr"] / 1.5)
            elif 0 < kl < TARGET / 2:
                group["lr"] = min(1e-2, group["lr"] * 1.5)


