"""Healthy variants of the programs: customs that must never be accused. The one thing to get wrong: a variant must be sound in the field's practice, not only
accepted by the doctor."""

from itertools import product

#: What makes a program short enough to be judged by the hundred.
QUICK = {
    "continuous": {"iterations": 8, "kept": 8, "envs": 8, "steps": 48, "limit": 30},
    "beta": {"iterations": 8, "kept": 8, "envs": 8, "steps": 48, "limit": 30},
    "choices": {"iterations": 8, "kept": 8, "envs": 8, "steps": 48, "limit": 30},
    "dqn": {"iterations": 6, "kept": 6, "steps": 24, "warm": 32, "batch": 32},
    "sac": {"iterations": 5, "kept": 5, "steps": 24, "warm": 16, "batch": 32},
    "recurrent": {"iterations": 6, "kept": 6, "envs": 8, "steps": 32, "length": 16, "rate": 2e-3},
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
#: Of beta distributions, and of several categoricals; `depends` gives each of these a layer of its own.
OTHERS = [
    {},
    {"mean_entropy": True},
    {"epochs": 1, "minibatches": 1, "iterations": 20, "kept": 20},
    {"epochs": 10, "minibatches": 1},
    {"limit": 1000},
    {"depends": True},
]
RECURRENT = [
    {},
    {"length": 8},
    {"length": 32},
    {"length": 4},
    {"burn_in": 2},
    {"burn_in": 8, "length": 8},
    {"zero": True},
    {"zero": True, "length": 32},
    {"limit": 1000},
    {"limit": 4},
    {"epochs": 1, "minibatches": 1, "iterations": 12, "kept": 12},
    {"epochs": 8, "minibatches": 2},
    {"envs": 2, "steps": 64, "minibatches": 2},
    {"customs": ["normalised"]},
    {"customs": ["normalised"], "burn_in": 4},
]
DQN = [
    *({"n": n, "prioritised": prioritised} for n in (1, 2, 3, 4, 5) for prioritised in (False, True)),
    {"tau": 0.02},
    {"tau": 0.005, "n": 3},
    {"twofold": True},
    {"twofold": True, "n": 3, "prioritised": True, "tau": 0.05},
    {"interval": 1},
    {"interval": 100},
    {"interval": 5000},
    {"limit": 4},
    {"limit": 4, "n": 5},
    {"limit": 5000},
]
SAC = [
    {},
    {"plain_alpha": True},
    {"fixed_alpha": True},
    {"alpha": 1.0},
    {"alpha": 0.01},
    {"tau": 0.2},
    {"tau": 0.001},
    {"limit": 3},
    {"limit": 5000},
]
HEALTHY = {
    "sac": [
        {**own, "seed": 1 + place % 3, "double": double}
        for place, (own, double) in enumerate(product(SAC, (False, True)))
    ],
    "dqn": [
        {**own, "seed": 1 + place % 3, "double": double}
        for place, (own, double) in enumerate(product(DQN, (False, True)))
    ],
    "recurrent": [
        {**own, "seed": 1 + place % 3, "double": double, "columns": columns}
        for place, (own, double) in enumerate(product(RECURRENT, (False, True)))
        for columns in ("all", "samples", "none")
    ],
    **{
        name: [
            {**own, "seed": 1 + place % 3, "double": double, "columns": columns}
            for place, (own, double) in enumerate(product(OTHERS[: -1 if name == "beta" else None], (False, True)))
            for columns in ("all", "samples", "actions", "none")
        ]
        for name in ("beta", "choices")
    },
    "continuous": [
        {**own, "seed": 1 + place % 3, "double": double, "columns": columns}
        for place, (own, double) in enumerate(product(CONTINUOUS, (False, True)))
        for columns in ("all", "samples", "actions", "none")
    ],
}
