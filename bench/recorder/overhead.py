"""Times the example PPO loop with and without the recorder and prints seconds and memory as JSON; run by recorder.bench.ts.

Both loops run in one process, on one core, and take turns minibatch by minibatch, so that a slow moment of the machine hits both. A
turn's work is the same in every round; only when files are written follows the clock, so that is timed by itself."""

import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import threading
import time

import torch

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "python"), str(HOME / "examples" / "pytorch")]

import ppo
from trueline_recorder import Recorder


class Nothing:
    """What the loop does without a recorder: every call is answered by nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def ignore(self, **kwargs):
        pass

    watch = samples = replays = step = close = ignore


def in_turns(kinds, iterations, folder):
    """By kind of recorder: seconds of every turn, from one call of `samples` or `replays` to the next, and those of writing files."""
    turns = [threading.Semaphore(0) for _ in kinds]
    seconds = [[] for _ in kinds]
    writing = [0.0] * len(kinds)

    def contestant(place, kind):
        following = turns[(place + 1) % len(turns)]

        class Timed(kind):
            def samples(self, **columns):
                self.pause()
                super().samples(**columns)

            def replays(self, **columns):
                self.pause()
                super().replays(**columns)

            def flush(self):
                start = time.perf_counter()
                super().flush()
                spent = time.perf_counter() - start
                writing[place] += spent
                begun[place] += spent

            def pause(self):
                seconds[place].append(time.perf_counter() - begun[place])
                following.release()
                turns[place].acquire()
                begun[place] = time.perf_counter()

        begun[place] = 0.0
        turns[place].acquire()
        begun[place] = time.perf_counter()
        ppo.train(ppo.parser().parse_args(["--out", f"{folder}/{place}", "--iterations", str(iterations)]), Timed)
        seconds[place].append(time.perf_counter() - begun[place])
        following.release()

    begun = {}
    threads = [threading.Thread(target=contestant, args=pair) for pair in enumerate(kinds)]
    for thread in threads:
        thread.start()
    turns[0].release()
    for thread in threads:
        thread.join()
    return zip(kinds, seconds, writing)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(iterations, rounds, longest):
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # two cores are seldom equally fast
    folder = tempfile.mkdtemp()
    times = {"with": [], "without": [], "writing": []}
    try:
        in_turns([Nothing, Recorder], 4, folder)
        for round in range(rounds):
            kinds = [Nothing, Recorder] if round % 2 == 0 else [Recorder, Nothing]
            for kind, seconds, writing in in_turns(kinds, iterations, folder):
                times["with" if kind is Recorder else "without"].append(seconds)
                if kind is Recorder:
                    times["writing"].append(writing)
        # Every iteration kept, so that memory has every reason to grow.
        before = peak()
        options = ppo.parser().parse_args(["--out", f"{folder}/long", "--iterations", str(longest)])
        ppo.train(options, lambda *args, **kwargs: Recorder(*args, **{**kwargs, "every": 1}))
        print(json.dumps({**times, "grown": peak() - before}))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
