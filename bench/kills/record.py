"""Records three iterations with numpy alone, and strikes at the n-th call that changes the disk, as strike.mjs does (STRIKE_AT, STRIKE_HOW, STRIKE_TALLY)."""

import builtins
import errno
import os
import shutil
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


# As strike.mjs keeps them: files that were written and not synced, and by folder what undoes the changes of names that were not.
unsynced = set()
undo = {}


def die():
    if HOW == "power":
        for steps in undo.values():
            for step in reversed(steps):
                step()
        for path in unsynced:
            if os.path.exists(path):
                os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)


def keep_name(path, step):
    undo.setdefault(os.path.dirname(path), []).append(step)


def backup(path):
    """A second name of a file, outside of the folder; None where there is no file."""
    if HOW != "power" or not os.path.isfile(path):
        return None
    copy = f"{os.environ['STRIKE_TALLY']}.{os.getpid()}.{sum(map(len, undo.values()))}"
    os.link(path, copy)
    return copy


def meet(letter: str) -> bool:
    """Counts a call; whether it is to be the last one, once it is done."""
    global full
    with counting:
        os.write(tally, letter.encode())
        now = os.fstat(tally).st_size
    if now == AT and HOW in ("before", "power"):
        die()
    if now == AT and HOW == "full":
        full = True
    if full and letter not in "ru":
        raise OSError(errno.ENOSPC, "no room left on the disk")
    return now == AT and HOW in ("after", "torn")


def struck(call, letter, before=lambda *_: None):
    def wrapped(*args, **options):
        dies = meet(letter)
        before(*args)
        result = call(*args, **options)
        if dies:
            die()
        return result

    return wrapped


def on_replace(old, new):
    copy, replace = backup(new), plain["replace"]
    keep_name(new, lambda: replace(copy, new) if copy else os.path.exists(new) and replace(new, old))
    if old in unsynced:
        unsynced.discard(old)
        unsynced.add(new)


def on_remove(path):
    copy, replace = backup(path), plain["replace"]
    keep_name(path, lambda: copy and not os.path.exists(path) and replace(copy, path))
    unsynced.discard(path)


def on_mkdir(path, *_):
    keep_name(path, lambda: shutil.rmtree(path, ignore_errors=True))


def fsync(file):
    path = os.readlink(f"/proc/self/fd/{file}")
    dies = meet("f")
    plain["fsync"](file)
    unsynced.discard(path)
    undo.pop(path, None)
    if dies:
        die()


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
            die()
        return len(data)


plain_open = builtins.open


def open_(path, mode="r", *args, **options):
    if "w" not in mode:
        return plain_open(path, mode, *args, **options)
    unsynced.add(os.path.abspath(path))
    return File(struck(plain_open, "o")(path, mode, *args, **options))


builtins.open = open_
plain = {"replace": os.replace, "fsync": os.fsync}
os.replace, os.mkdir = struck(os.replace, "r", on_replace), struck(os.mkdir, "m", on_mkdir)
os.remove, os.fsync = struck(os.remove, "u", on_remove), fsync

random = np.random.default_rng(1)
try:
    recorder = Recorder(sys.argv[1], gamma=0.9, lam=0.9, overwrite="again" in sys.argv)
except OSError as error:
    # As a program does that will not train without a recording.
    print(error, file=sys.stderr)
    sys.exit(2)
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
