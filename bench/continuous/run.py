"""Trains the programs for continuous actions, memory and replay buffers one after another in one process, and says when each is done.

Standard input is JSON, a list of {"out", "program", "options", "fault", "usual"}; every line of standard output is that run's outcome. With `list` it prints the
faults and the healthy variants; with `make FOLDER PROGRAM [PART...]` it makes recordings of faults whose name holds a PART, or of `healthy`.
"""

import importlib
import json
import pathlib
import sys
import time
import traceback
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "pytorch"), str(ROOT / "python")]

import buffer_faults  # noqa: F401
import family_faults  # noqa: F401
import memory_faults  # noqa: F401
import ppo_faults  # noqa: F401
import torch
from fault import CUSTOMS, FAULTS
from healthy import HEALTHY, QUICK


def train(out, name, given, fault=None, usual=()):
    """One recording, with `usual` where neither fault nor variant says otherwise. What was recorded before a program ends by its own fault counts."""
    module = importlib.import_module(name)
    options = module.parser().parse_args([])
    given = dict(given)
    customs = given.pop("customs", ())
    needs = FAULTS[name][fault].needs if fault else {}
    for key, value in {**QUICK[name], **dict(usual), **needs, **given, "out": str(out)}.items():
        setattr(options, key, value)
    program = module.Program(options)
    for own in customs:
        CUSTOMS[own](program)
    if fault:
        FAULTS[name][fault].put(program)
    try:
        for _ in range(options.iterations):
            program.iterate()
    finally:
        program.recorder.close()
        torch.set_default_dtype(torch.float32)


def main(runs):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for run in runs:
        begun = time.process_time()
        outcome = {"out": run["out"]}
        try:
            train(run["out"], run["program"], run.get("options", {}), run.get("fault"), run.get("usual", ()))
        except Exception:
            outcome["error"] = traceback.format_exc()[-1500:]
        print(json.dumps({**outcome, "seconds": round(time.process_time() - begun, 3)}), flush=True)


def chosen(folder, name, parts):
    """What `make` makes: faults in both precisions with one seed, or all healthy variants."""
    if parts == ["healthy"]:
        return [
            {"out": f"{folder}/healthy/{place:02d}", "program": name, "options": own}
            for place, own in enumerate(HEALTHY[name])
        ]
    return [
        {
            "out": f"{folder}/{fault.replace(' ', '-')}/{'double' if double else 'single'}",
            "program": name,
            "options": {"double": double},
            "fault": fault,
        }
        for fault in FAULTS[name]
        if not parts or any(part in fault for part in parts)
        for double in (False, True)
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["list"]:
        about = {name: {key: one.causes for key, one in faults.items()} for name, faults in FAULTS.items()}
        print(json.dumps({"faults": about, "healthy": HEALTHY}))
    elif sys.argv[1:2] == ["make"]:
        main(chosen(sys.argv[2], sys.argv[3], sys.argv[4:]))
    else:
        main(json.load(sys.stdin))
