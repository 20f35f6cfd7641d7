"""Reinforcement learning of a tiny language model, recorded for `trueline diagnose`: GRPO, RLOO, Dr. GRPO, DAPO, GSPO, PPO, REINFORCE++.

python3 examples/pytorch/grpo.py --out runs/grpo --task add --iterations 60
python3 examples/pytorch/grpo.py --algorithm dapo --task tool --precision bf16 --packing 96
trueline diagnose runs/grpo
"""

import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

from language.options import parse
from language.program import Program
from trueline_recorder import Recorder


def main(arguments):
    options = parse(arguments)
    torch.set_num_threads(1)
    program = Program(options, Recorder)
    grades = []
    for iteration in range(options.iterations):
        grades.append(program.iterate())
        if len(grades) == 10 or iteration == options.iterations - 1:
            # Few prompts make an iteration: one of hard ones reads as a step back.
            print(f"iteration {iteration}: mean grade {sum(grades) / len(grades):.3f} since the last line", flush=True)
            grades = []
    if program.recorder:
        program.recorder.close()


if __name__ == "__main__":
    main(sys.argv[1:])
