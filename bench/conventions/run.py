"""Trains programs one after another in one process, so that torch is imported once, and says when each is done.

Standard input is JSON, a list of {"out", "seed", "conventions", "drop", "fault"}; every line of standard output is that run's outcome.
With the argument `list` it prints the faults that there are.
"""

import json
import pathlib
import sys
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import torch  # noqa: E402

from program import Program  # noqa: E402
from update import train  # noqa: E402


def main(runs):
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    warnings.simplefilter("ignore")
    for run in runs:
        begun = time.perf_counter()
        program = Program(run["conventions"], run["seed"], run["out"], run.get("drop", ()))
        if run.get("fault"):
            import faults

            faults.FAULTS[run["fault"]].put(program)
        outcome = {"out": run["out"]}
        try:
            train(program)
        except RuntimeError:
            # torch refuses to sample from what is not finite: a run with a bug that makes it so ends there, and what was recorded counts.
            if run.get("fault") not in ("division by nothing", "loss summed", "rate of a thousand"):
                outcome["error"] = traceback.format_exc()[-1500:]
        finally:
            program.tape.close()
        if hasattr(program, "bits"):
            outcome["bits"] = program.bits
        print(json.dumps({**outcome, "seconds": round(time.perf_counter() - begun, 3)}), flush=True)


def listed():
    import faults

    return {name: {"causes": fault.causes, "needs": fault.needs, "tells": fault.tells, "shows": fault.shows} for name, fault in faults.FAULTS.items()}


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "list":
        print(json.dumps(listed()))
    else:
        main(json.load(sys.stdin))
