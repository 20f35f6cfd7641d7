"""Runs examples one after another in one process, so that torch is imported once: arguments are JSON, a list of [example, option ...]."""

import json
import pathlib
import sys

import torch

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "python"), str(HOME / "python" / "tests"), str(HOME / "examples" / "pytorch")]


def main(runs):
    import mappo
    import ppo

    torch.set_num_threads(1)
    for name, *options in runs:
        example = {"ppo": ppo, "mappo": mappo}[name]
        example.train(example.parser().parse_args(options))
        print(json.dumps([name, *options]), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
