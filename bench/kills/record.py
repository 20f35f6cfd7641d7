"""Records three iterations with numpy alone, and strikes at the n-th call that changes the disk, as strike.mjs does (STRIKE_AT, STRIKE_HOW, STRIKE_TALLY)."""

import builtins
import errno
import os
import signal
import sys
import threading

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from trueline_recorder import Recorder  # noqa: E402

HOW = os.environ.get("STRIKE_HOW", "before")
AT = int(os.environ.get("STRIKE_AT", "0"))
tally = os.open(os.environ["STRIKE_TALLY"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
full = False
# The recorder writes from a thread of its own.
counting = threading.Lock()


def meet(letter: str) -> bool:
    """Counts a call; whether it is to be the last one, once it is done."""
    global full
    with counting:
        os.write(tally, letter.encode())
        now = os.fstat(tally).st_size
    if now == AT and HOW in ("before", "power"):
        os.kill(os.getpid(), signal.SIGKILL)
    if now == AT and HOW == "full":
        full = True
    if full and letter not in "ru":
        raise OSError(errno.ENOSPC, "no room left on the disk")
    return now == AT and HOW in ("after", "torn")


def struck(call, letter):
    def wrapped(*args, **options):
        dies = meet(letter)
        result = call(*args, **options)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapped


class File:
    """A file whose writes are counted."""

    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        dies = meet("w")
        self.file.write(data[: len(data) // 2] if dies and HOW == "torn" else data)
        if dies:
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return len(data)


plain_open = builtins.open


def open_(path, mode="r", *args, **options):
    if "w" not in mode:
        return plain_open(path, mode, *args, **options)
    return File(struck(plain_open, "o")(path, mode, *args, **options))


builtins.open = open_
os.replace, os.mkdir, os.remove = struck(os.replace, "r"), struck(os.mkdir, "m"), struck(os.remove, "u")

random = np.random.default_rng(1)
recorder = Recorder(sys.argv[1], gamma=0.9, lam=0.9, overwrite="again" in sys.argv)
for _ in range(3):
    rows = 32
    logits = random.normal(size=(rows, 4))
    logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    action = random.integers(4, size=rows)
    old = logp[np.arange(rows), action]
    recorder.samples(
        old_logp=old, action=action, logits=logits, reward=random.normal(size=rows), terminated=np.arange(rows) % 8 == 7
    )
    recorder.replays(sample=np.arange(rows), new_logp=old, old_logp=old)
    recorder.step(loss=0.5)
recorder.close()
