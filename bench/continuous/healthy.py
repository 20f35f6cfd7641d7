"""Healthy variants of the programs: customs that must never be accused. The one thing to get wrong: a variant must be sound in the field's practice, not only
accepted by the doctor."""

from itertools import product

#: What makes a program short enough to be judged by the hundred.
QUICK = {
    "continuous": {"iterations": 8, "kept": 8, "envs": 8, "steps": 48, "limit": 30},
}

CONTINUOUS = [
    {},
    {"squash": True},
    {"squash": True, "corrected": False},
    {"squash": True, "scale": True},
    {"squash": True, "epsilon": 0.0},
    {"squash": True, "epsilon": 1e-5},
    {"squash": True, "inverted": True},
    {"squash": True, "inverted": True, "corrected": False},
    {"depends": True},
    {"depends": True, "squash": True},
    {"depends": True, "squash": True, "scale": True, "inverted": True},
    {"clipped": False},
    {"scale": True},
    {"mean_entropy": True},
    {"mean_entropy": True, "squash": True},
    {"epochs": 1, "minibatches": 1, "iterations": 20, "kept": 20},
    {"epochs": 1, "minibatches": 8},
    {"epochs": 10, "minibatches": 1},
    {"limit": 1000},
    {"envs": 1, "steps": 256},
]
HEALTHY = {
    "continuous": [
        {**own, "seed": 1 + place % 3, "double": double, "columns": columns}
        for place, (own, double) in enumerate(product(CONTINUOUS, (False, True)))
        for columns in ("all", "samples", "actions", "none")
    ],
}
