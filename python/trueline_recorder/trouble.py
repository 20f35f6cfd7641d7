"""What the recorder says when something is odd or goes wrong: a warning at the caller's own line. Nothing here ever ends a training run."""

from __future__ import annotations

import functools
import os
import sys
import warnings
import weakref
from typing import Any, Callable, Dict, List, Set

#: Where the recorder's own code lies: this folder, or the single file that is built from it.
HOME = os.path.abspath(__file__)
if os.path.basename(HOME) == "trouble.py":
    HOME = os.path.dirname(HOME) + os.sep
#: Packages whose lines are not the caller's: an optimiser's step, or a model's `learn`, runs the recorder from inside.
BETWEEN = {"torch", "stable_baselines3", "sb3_contrib"}


class RecorderWarning(UserWarning):
    """Something in the training program or in what is recorded of it is odd, or recording has stopped; training goes on."""


def warn(text: str) -> None:
    """Warns at the line that called the recorder, even where the program has made every warning an error."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and is_between(frame):
        frame, level = frame.f_back, level + 1
    try:
        warnings.warn(text, RecorderWarning, stacklevel=level)
    except RecorderWarning:
        print(f"trueline_recorder: {text}", file=sys.stderr)


def called_from() -> str:
    """FILE:LINE of the program's own line that called the recorder; the file as seen from where the program was started."""
    frame = sys._getframe()
    while frame.f_back is not None and is_between(frame):
        frame = frame.f_back
    file = os.path.abspath(frame.f_code.co_filename)
    here = os.path.join(os.getcwd(), "")
    return f"{file[len(here) :] if file.startswith(here) else file}:{frame.f_lineno}"


def is_between(frame: Any) -> bool:
    return frame.f_code.co_filename.startswith(HOME) or frame.f_globals.get("__name__", "").split(".")[0] in BETWEEN


class Notices:
    """What was warned of: each kind once, at once, and kept for the manifest."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.kinds: Set[str] = set()
        self.said: List[Dict[str, Any]] = []
        self.changed = changed

    def say(self, kind: str, text: str, iteration: int) -> None:
        if kind in self.kinds:
            return
        self.kinds.add(kind)
        self.said.append({"iteration": max(0, iteration), "text": text})
        warn(text)
        self.changed()


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Whatever goes wrong in the recorder ends the recording, never the training."""

    @functools.wraps(method)
    def safe(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.stopped:
            return None
        if self._inside:
            return method(self, *args, **kwargs)
        self._inside = True
        try:
            if method.__name__ not in self._calls:
                self._calls[method.__name__] = called_from()
            return method(self, *args, **kwargs)
        except Exception as error:
            self._fail(error)
            return None
        finally:
            self._inside = False

    return safe


def close_at_exit(reference: weakref.ReferenceType[Any]) -> None:
    recorder = reference()
    if recorder is not None and os.path.isdir(recorder.path):
        recorder.strict = False
        recorder.close()
