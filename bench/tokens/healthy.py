"""Healthy variants of examples/pytorch/grpo.py: covering arrays over its options, every allowed pair of levels at least three times."""

import itertools
import random

FACTORS = {
    "algorithm": ("grpo", "dr-grpo", "dapo", "gspo", "rloo", "ppo", "reinforce++"),
    "aggregation": ("sequence-mean", "token-mean", "sequence-sum", "constant"),
    "baseline": ("own", "group-mean", "leave-one-out", "batch-mean"),
    "kl": ("none", "k1 loss", "k2 loss", "k3 loss", "k1 reward", "k3 reward"),
    "precision": ("float32", "bf16"),
    "padding": ("right", "left"),
    "packing": (0, 64),
    "task": ("sort", "add", "tool", "mixed"),
    "sampler_lag": (0, 1),
    "old_logp": ("sampler", "trainer", "step"),
    "temperature": (1.0, 0.7, 1.3),
    "cut": ("none", "top-p", "top-k"),
    "lora": (0, 4),
    "steps": ("1x1", "1x2", "2x2"),
    "accumulation": (1, 2),
    "truncated": ("as-is", "mask", "zero"),
    "prefix_cache": (0, 1),
    "importance_cap": (0.0, 2.0),
}


def allowed(row):
    """What no sound program combines: a token's credit with a group's baseline, a correction without two log-probabilities, one anchor for many steps."""
    get = row.get
    if get("algorithm") in ("ppo", "reinforce++") and get("baseline", "own") != "own":
        return False
    if get("old_logp") == "step" and (get("steps", "1x1") != "1x1" or get("kl", "none").endswith("reward")):
        return False
    if get("importance_cap", 0.0) and get("old_logp", "trainer") != "trainer":
        return False
    return not (get("sampler_lag", 0) and get("old_logp") == "step")


def covering(seed):
    """Greedy: rows are filled factor by factor with the level that meets most pairs not yet met."""
    dice = random.Random(seed)
    names = list(FACTORS)
    open_pairs = {
        (a, x, b, y)
        for a, b in itertools.combinations(names, 2)
        for x in FACTORS[a]
        for y in FACTORS[b]
        if allowed({a: x, b: y})
    }
    rows = []
    while open_pairs:
        first = dice.choice(sorted(open_pairs, key=repr))
        row = {first[0]: first[1], first[2]: first[3]}
        for name in dice.sample(names, len(names)):
            if name in row:
                continue
            levels = [level for level in FACTORS[name] if allowed({**row, name: level})]
            dice.shuffle(levels)
            if not levels:
                break
            gain = lambda level: sum(
                ((a, row[a], name, level) in open_pairs) or ((name, level, a, row[a]) in open_pairs) for a in row
            )
            row[name] = max(levels, key=gain)
        met = {(a, row[a], b, row[b]) for a, b in itertools.combinations(names, 2) if a in row and b in row}
        if len(row) < len(names) or not met & open_pairs:
            open_pairs.discard(first)
            continue
        open_pairs -= met
        rows.append({name: row[name] for name in names})
    return rows


def options_of(row, seed):
    """A row as options of the program."""
    row = dict(row)
    kl, cut, steps, own = row.pop("kl"), row.pop("cut"), row.pop("steps"), row.pop("baseline")
    epochs, minibatches = (int(part) for part in steps.split("x"))
    kind, _, place = kl.partition(" ")
    given = {**row, "epochs": epochs, "minibatches": minibatches, "kl": kind, "kl_place": place or "loss", "seed": seed}
    given["kl_coefficient"] = 0.05 if kind != "none" else 0.0
    given.update({"top-p": {"top_p": 0.8}, "top-k": {"top_k": 4}}.get(cut, {}))
    if own != "own":
        given["baseline"] = own
    if row["prefix_cache"]:
        given["pool"] = 12
    if row["temperature"] < 1 and cut != "none" and row["task"] != "tool":
        # A model that is surer gives every prompt one answer, and groups without a signal are no healthy run.
        given["warm_up"] = 60
    if row["truncated"] != "as-is":
        # Some answers are cut, and not all: with its call and the tool's word a sum of two digits takes 14 tokens, one of three 16.
        given["max_response_length"] = 15 if row["task"] in ("tool", "mixed") else 6
    return given


def variants():
    """At least 150 of them."""
    rows = [row for seed in range(5) for row in covering(seed)]
    unique = list({repr(row): row for row in rows}.values())
    return [options_of(row, place % 3) for place, row in enumerate(unique)]
