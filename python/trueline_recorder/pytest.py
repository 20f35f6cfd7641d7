"""A guard for tests of training code: the fixture `trueline` records the training that a test does, and fails the test with the diagnosis.

    def test_the_update_learns_from_its_own_rows(trueline):
        recorder = trueline.recorder(gamma=0.99, lam=0.95)     # a Recorder, in a folder of the test's own
        train(recorder, updates=5)                             # the program under test
        # when the test function returns, `trueline check` looks at the recording

`trueline.check()` looks at once, and `trueline.callback()` is the one for Stable-Baselines3. A verdict of faulty or unexplained fails the test; say
`trueline.fail_on("faulty")` for others. The one thing to get wrong: too few updates leave too little evidence, and then nothing fails unless "not-enough-evidence" is asked for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import pytest

from .adapters.sb3 import sb3_callback
from .recorder import Recorder

INSTALL = "the command trueline was not found; install it with `npm install -g trueline`, or name it in the environment variable TRUELINE"


def command() -> Optional[List[str]]:
    """How `trueline` is started here: as the environment says, from the path, or from the project's own node_modules."""
    named = os.environ.get("TRUELINE")
    if named:
        return [named]
    for folder in (Path.cwd(), *Path.cwd().parents):
        own = folder / "node_modules" / ".bin" / "trueline"
        if own.exists():
            return [str(own)]
    found = shutil.which("trueline")
    return [found] if found else None


class Guard:
    """What the fixture gives: recorders of this test, and the look at what they wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failing: Tuple[str, ...] = ("faulty", "unexplained")
        self.recorders: List[Recorder] = []
        self.paths: List[Path] = []
        self.checked = False

    def recorder(self, **options: Any) -> Recorder:
        """A Recorder that keeps every iteration; arguments are those of Recorder, without the path."""
        made = Recorder(self._next(), **{"first": 1000, "strict": True, **options})
        self.recorders.append(made)
        return made

    def callback(self, **options: Any) -> Any:
        """The callback for `model.learn` of Stable-Baselines3."""
        return sb3_callback(str(self._next()), **options)

    def fail_on(self, *verdicts: str) -> None:
        """Verdicts that fail the test."""
        self.failing = verdicts

    def check(self) -> List[Dict[str, Any]]:
        """Looks at what was recorded so far, fails the test where a verdict says so, and returns the runs as `trueline check --json` gives them."""
        __tracebackhide__ = True
        self.checked = True
        for recorder in self.recorders:
            recorder.close()
        seen = [(path, look(path)) for path in self.paths if path.exists()]
        failed = [path for path, runs in seen if any(run["verdict"] in self.failing for run in runs)]
        if failed:
            pytest.fail("\n\n".join(answer(path) for path in failed), pytrace=False)
        return [run for _, runs in seen for run in runs]

    def _next(self) -> Path:
        self.checked = False
        self.paths.append(self.folder / f"run-{len(self.paths)}")
        return self.paths[-1]


def look(path: Path) -> List[Dict[str, Any]]:
    """The runs at a path, as `trueline check --json` judges them."""
    __tracebackhide__ = True
    runs: List[Dict[str, Any]] = json.loads(answer(path, "--json"))["runs"]
    return runs


def answer(path: Path, *options: str) -> str:
    """What `trueline check` prints of a path."""
    __tracebackhide__ = True
    start = command() or []
    if not start:
        pytest.fail(INSTALL, pytrace=False)
    done = subprocess.run(
        [*start, "check", str(path), *options], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if not done.stdout.strip():
        pytest.fail(f"trueline check ended with status {done.returncode}: {done.stderr.strip()}", pytrace=False)
    return done.stdout.rstrip()


@pytest.fixture
def trueline(tmp_path: Path) -> Iterator[Guard]:
    """Records the training of this test, and fails it with the diagnosis."""
    guard = Guard(tmp_path / "trueline")
    yield guard
    for recorder in guard.recorders:
        recorder.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Looks when the test function has returned, so that what is found fails the test itself and not its tidying up."""
    outcome = yield
    guard = pyfuncitem.funcargs.get("trueline")
    if not isinstance(guard, Guard) or guard.checked or not guard.paths:
        return
    outcome.get_result()  # type: ignore[attr-defined]  # an error of the test itself comes first
    guard.check()
