"""Settings: each algorithm is a choice of baseline, scale, ratio, clip, normaliser and KL term. What is declared in the recording is exactly this."""

import argparse

#: What each algorithm's paper says; every one can be changed on the command line.
ALGORITHMS = {
    "grpo": {"kl": "k3", "kl_place": "loss", "kl_coefficient": 0.02},
    "dr-grpo": {"scale": "none", "aggregation": "constant"},
    "dapo": {"clip_high": 0.28, "aggregation": "token-mean", "truncated": "mask"},
    "gspo": {"ratio": "sequence", "clip_low": 0.05, "clip_high": 0.05},
    "rloo": {
        "baseline": "leave-one-out",
        "scale": "none",
        "aggregation": "sequence-sum",
        "kl": "k1",
        "kl_place": "reward",
        "kl_coefficient": 0.01,
    },
    "ppo": {
        "credit": "token",
        "baseline": "critic",
        "scale": "none",
        "aggregation": "token-mean",
        "kl": "k1",
        "kl_place": "reward",
        "kl_coefficient": 0.01,
    },
    "reinforce++": {
        "credit": "token",
        "lam": 1.0,
        "baseline": "batch-mean",
        "scale": "batch-deviation",
        "aggregation": "token-mean",
        "kl": "k1",
        "kl_place": "reward",
        "kl_coefficient": 0.01,
    },
}
CHOICES = {
    "task": ("sort", "add", "tool", "mixed"),
    "algorithm": tuple(ALGORITHMS),
    "credit": ("response", "token"),
    "baseline": ("group-mean", "leave-one-out", "batch-mean", "critic", "none"),
    "baseline_members": ("all", "trained"),
    "scale": ("group-deviation", "batch-deviation", "none"),
    "aggregation": ("sequence-mean", "token-mean", "sequence-sum", "constant"),
    "ratio": ("token", "sequence"),
    "kl": ("none", "k1", "k2", "k3"),
    "kl_place": ("loss", "reward"),
    "truncated": ("as-is", "mask", "zero"),
    "old_logp": ("sampler", "trainer", "step"),
    "sampler_logp": ("full", "kept", "plain"),
    "padding": ("right", "left"),
    "precision": ("float32", "bf16"),
}
DEFAULTS = {
    "task": "add",
    "algorithm": "grpo",
    "credit": "response",
    "baseline": "group-mean",
    "baseline_members": "all",
    "scale": "group-deviation",
    "scale_epsilon": 1e-4,
    "aggregation": "sequence-mean",
    "aggregation_constant": 16.0,
    "ratio": "token",
    "clip_low": 0.2,
    "clip_high": 0.2,
    "kl": "none",
    "kl_place": "loss",
    "kl_coefficient": 0.0,
    "truncated": "as-is",
    "old_logp": "sampler",
    "sampler_logp": "full",
    "importance_cap": 0.0,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "gamma": 1.0,
    "lam": 0.95,
    "padding": "right",
    "packing": 0,
    "precision": "float32",
    "lora": 0,
    "dropout": 0.0,
    "sampler_lag": 0,
    "prefix_cache": 0,
    "prompts": 8,
    "group_size": 8,
    "pool": 0,
    "max_response_length": 16,
    "iterations": 60,
    "epochs": 1,
    "minibatches": 2,
    "accumulation": 1,
    "learning_rate": 3e-4,
    "warm_up": 300,
    "size": 64,
    "seed": 0,
    "responses_kept": 64,
}


def make(**given):
    """Options by name: defaults, then the algorithm's own, then what is given."""
    wrong = set(given) - set(DEFAULTS) - {"out"}
    if wrong:
        raise ValueError(f"there is no option {sorted(wrong)[0]}")
    algorithm = ALGORITHMS[given.get("algorithm", DEFAULTS["algorithm"])]
    return argparse.Namespace(**{"out": None, **DEFAULTS, **algorithm, **given})


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="folder of the recording; none is made without it")
    for name, value in DEFAULTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), choices=CHOICES.get(name))
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    return make(**given)


def declared(options):
    """What the recording says of the run."""
    kl = {"estimator": options.kl, "coefficient": options.kl_coefficient, "place": options.kl_place}
    return {
        **{
            name: getattr(options, name) for name in ("temperature", "top_p", "top_k", "ratio", "clip_low", "clip_high")
        },
        **{
            name: getattr(options, name)
            for name in ("aggregation", "baseline", "baseline_members", "scale", "scale_epsilon")
        },
        **{
            name: getattr(options, name)
            for name in ("truncated", "old_logp", "sampler_logp", "sampler_lag", "max_response_length")
        },
        **({"aggregation_constant": options.aggregation_constant} if options.aggregation == "constant" else {}),
        **({"kl": kl} if options.kl != "none" else {}),
        **(
            {"importance_weight": {"level": "token", "cap": options.importance_cap, "floor": 0, "kind": "truncate"}}
            if options.importance_cap
            else {}
        ),
        **(
            {"gamma": options.gamma, "lambda": options.lam, "advantage_normalisation": "batch"}
            if options.credit == "token"
            else {}
        ),
        "precision": {"trainer": options.precision, "sampler": options.precision},
        "gradient_accumulation": options.accumulation,
        "epochs": options.epochs,
        "minibatches": options.minibatches,
        "ranks": 1,
        "lora": options.lora,
    }
