"""Writes figures of runs as logs, each by the logger of the program that it is named after: those programs' own code, from PyPI.

Reads a list of {"writer", "figures", "out"} as JSON from its standard input. A writer gets the updates of each agent as dictionaries and a folder to
write to, and names the figures as users of that program do. The one that is written by hand says so.
"""

import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ.update(KERAS_BACKEND="torch", WANDB_SILENT="true", WANDB_MODE="offline", GIT_PYTHON_REFRESH="quiet")
os.environ.update(RAY_AIR_NEW_OUTPUT="0", MLFLOW_DISABLE_ENV_CREATION="true", TOKENIZERS_PARALLELISM="false")

import trackers
import trainers
from figure_names import number


def main():
    writers = {**vars(trackers), **vars(trainers)}
    report = []
    for job in json.load(sys.stdin):
        with open(job["figures"]) as file:
            figures = json.load(file)
        rows = [[{name: number(value) for name, value in row.items()} for row in own] for own in figures["rows"]]
        # Loggers note where they write; what is stored must not tell where that was.
        os.makedirs(job["out"], exist_ok=True)
        os.chdir(os.path.dirname(job["out"]))
        try:
            writers[job["writer"]](figures["agents"], rows, os.path.basename(job["out"]))
            report.append(None)
        except Exception as error:  # one program that fails must not take the others along
            report.append(f"{type(error).__name__}: {error}")
    print(json.dumps(report), file=sys.__stdout__)


if __name__ == "__main__":
    main()
