"""Runs real programs one after another, each with a bug or without, and says when each is done; a failure is said and the rest goes on.

Standard input is JSON, a list of {"out", "seed", "program", "what", "share"}, where a run of Stable-Baselines3 may be told to make only a share of its steps; with the argument `list` it prints what there is.
"""

import contextlib
import importlib
import io
import json
import pathlib
import sys
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]


def listed(programs):
    """Every run of every program: {"program", "what"}, and the right causes where it has a bug."""
    found = []
    for name in programs:
        module = importlib.import_module(f"{name}_runs")
        found += [{"program": name, "what": what} for what in module.healthy()]
        found += [{"program": name, "what": what, "causes": list(causes)} for what, (_, causes) in module.faulty().items()]
    return found


def main(runs):
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for run in runs:
        begun, outcome = time.perf_counter(), {"out": run["out"]}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module = importlib.import_module(f"{run['program']}_runs")
                what = run["what"]
                options = module.healthy()[what] if what in module.healthy() else module.faulty()[what][0]
                module.execute(options, run["seed"], run["out"], **{key: run[key] for key in ("share",) if key in run})
        except Exception:
            outcome["error"] = traceback.format_exc()[-1500:]
        print(json.dumps({**outcome, "seconds": round(time.perf_counter() - begun, 2)}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "list":
        print(json.dumps(listed(sys.argv[2:])))
    else:
        main(json.load(sys.stdin))
