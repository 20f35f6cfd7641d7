"""What every writer of logs needs: figures under another program's names, and single files of packages that would bring too much."""

import importlib.util
import pathlib
import re
import sys
import types

SETTINGS = {"gamma": 0.99, "gae_lambda": 0.95, "update_epochs": 4, "num_minibatches": 4, "clip_coef": 0.2}


def number(value):
    """What JSON had no number for is spelt out; what was not measured stays None."""
    return float(value) if isinstance(value, str) else value


def named(row, names):
    """The figures of one update under another program's names; a minus negates. What was not measured is left out."""
    out = {}
    for ours, theirs in names.items():
        value = row.get(ours)
        if value is not None:
            out[theirs.lstrip("-")] = -value if theirs.startswith("-") else value
    return out


PLAIN = {
    "return": "episode_reward",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "entropy": "entropy",
    "policy_loss": "policy_loss",
    "value_loss": "value_loss",
    "explained_variance": "explained_variance",
    "learning_rate": "learning_rate",
    "advantage_mean": "advantage_mean",
    "advantage_std": "advantage_std",
}


def part_of(package, path):
    """One file of a package whose other files want more than a logger needs."""
    for folder in sys.path:
        file = pathlib.Path(folder, package, path)
        if file.exists():
            spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", f"{package}_{path}"), file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise ImportError(f"{package}/{path}")


def stands_for(package, path):
    """Makes one file importable by its name, and its folders empty packages."""
    parts = [package, *path.removesuffix(".py").split("/")]
    for depth in range(1, len(parts)):
        sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(".".join(parts[:depth])))
    module = sys.modules[".".join(parts)] = part_of(package, path)
    setattr(sys.modules[".".join(parts[:-1])], parts[-1], module)
