"""Trains tiny language models one after another in one process, so that torch is imported and models are warmed up once, and says when each is done.

Standard input is JSON, a list of {"out", "options", "faults"}; every line of standard output is that run's outcome. With `list` it prints the faults and
the healthy variants that there are; with `make FOLDER [PART...]` it makes recordings of all faults whose name holds a PART, or of `healthy`, or `pairs`.
"""

import json
import os
import pathlib
import pickle
import sys
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "pytorch"), str(HERE.parents[1] / "python")]

import torch
from healthy import variants
from language.options import make
from trueline_recorder import Recorder

from faults import FAULTS
from language import program as ground

#: Base models are kept between processes; they depend on nothing but what their name says.
BASES = HERE.parents[1] / "build" / "tokens" / "bases.pickle"
#: Small and short, and good enough at its task that answers differ.
SHORT = {"iterations": 3, "prompts": 6, "group_size": 6, "learning_rate": 5e-4}
WARM_UP = {"sort": 120, "add": 200, "tool": 50, "mixed": 150}
PAIRS = (
    ("mask of the inputs", "trainer forgets the temperature"),
    ("tool's words trained", "mean over the micro-batch"),
    ("trainer counts padding as places", "rewards of the next response"),
    ("weights never sent", "mean of the batch for the group's"),
    ("sampler reports plain log-probabilities", "tool's words trained"),
    ("packs see each other", "advantages with the wrong sign"),
    ("KL term left out", "two prompts in one group"),
    ("sampler renormalises top-p", "mask of the whole row"),
)


def options_for(given, faults=()):
    """Options of a run: short ones, what its faults need, then what is asked for."""
    wanted = dict(SHORT)
    for name in faults:
        wanted.update(FAULTS[name].needs)
    wanted.update(given)
    wanted.setdefault("warm_up", WARM_UP[wanted.get("task", "add")])
    return make(**wanted)


def train(out, given, faults=()):
    """One recording. What was recorded before a program ends by its own fault counts."""
    program = ground.Program(options_for({**given, "out": str(out)}, faults), Recorder)
    for name in faults:
        FAULTS[name].put(program)
    try:
        for _ in range(program.options.iterations):
            program.iterate()
    finally:
        program.recorder.close()


def load_bases():
    if BASES.exists():
        ground.BASES.update(pickle.loads(BASES.read_bytes()))
    return len(ground.BASES)


def main(runs):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    known = load_bases()
    for run in runs:
        begun = time.process_time()
        outcome = {"out": run["out"], "faults": run.get("faults", [])}
        try:
            train(run["out"], run.get("options", {}), run.get("faults", ()))
        except Exception as error:
            # torch refuses to sample from what is not finite: a run with that bug ends so, and what was recorded counts.
            own = any("non-finite" in FAULTS[name].causes for name in run.get("faults", ()))
            if not (own and isinstance(error, RuntimeError)):
                outcome["error"] = traceback.format_exc()[-1500:]
        print(json.dumps({**outcome, "seconds": round(time.process_time() - begun, 3)}), flush=True)
        if len(ground.BASES) > known:
            known = len(ground.BASES)
            BASES.parent.mkdir(parents=True, exist_ok=True)
            own = BASES.with_suffix(f".{os.getpid()}")
            own.write_bytes(pickle.dumps(ground.BASES))
            own.replace(BASES)


def fault_runs(folder, names, seeds=(0, 1, 2)):
    """Every fault in both precisions, with three seeds."""
    for name in names:
        for precision in ("float32", "bf16"):
            for seed in seeds:
                out = f"{folder}/{name.replace(' ', '-')}/{precision}-{seed}"
                yield {"out": out, "options": {"precision": precision, "seed": seed}, "faults": [name]}


def chosen(folder, parts):
    """What `make` makes."""
    if parts == ["healthy"]:
        return [{"out": f"{folder}/healthy/{place:03d}", "options": own} for place, own in enumerate(variants())]
    if parts == ["pairs"]:
        return [
            {"out": f"{folder}/pairs/{place}-{seed}", "options": {"seed": seed}, "faults": list(pair)}
            for place, pair in enumerate(PAIRS)
            for seed in range(3)
        ]
    names = [name for name in FAULTS if not parts or any(part in name for part in parts)]
    return list(fault_runs(folder, names))


if __name__ == "__main__":
    if sys.argv[1:2] == ["list"]:
        about = {name: {"causes": one.causes, "needs": one.needs} for name, one in FAULTS.items()}
        print(json.dumps({"faults": about, "pairs": PAIRS, "healthy": variants()}))
    elif sys.argv[1:2] == ["make"]:
        main(chosen(sys.argv[2], sys.argv[3:]))
    else:
        main(json.load(sys.stdin))
