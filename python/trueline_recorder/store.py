"""The folder of a recording: rows are held, and written as whole files, each synced under another name first, so that neither a kill nor a power cut leaves half of one."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import socket
import sys
import time
import warnings
from typing import Any, Callable, Dict, List, Mapping

import numpy as np

from .chunks import Chunk, bytes_of, join_chunks, rows_of, rows_to_chunk
from .tables import TABLES

#: What is held before it is written: bytes of rows, rows of small tables, and seconds that a killed run may lose.
HELD_BYTES = 16 << 20
HELD_ROWS = 4096
HELD_SECONDS = 10.0

#: What a recording holds besides its manifest; whatever else lies in the folder is somebody else's.
CHUNK = re.compile(r"\d{6,12}\.npz")
SNAPSHOT = re.compile(r"[^.].*\.onnx")
#: A file that is being written, and by whom.
HOST = re.sub("[^A-Za-z0-9-]", "-", socket.gethostname())
PART = re.compile(r"\..+\.([A-Za-z0-9-]+)\.(\d+)\.trueline-part")


class Store:
    """Holds rows and writes them. `complete` is called before anything is written: what is held may still lack figures."""

    def __init__(self, path: str, overwrite: bool, complete: Callable[[], None]) -> None:
        self.path = path
        self.complete = complete
        self.bytes = 0
        self._held: Dict[str, List[Chunk]] = {}
        self._loose: Dict[str, List[Dict[str, Any]]] = {}
        self._next: Dict[str, int] = {}
        self._written = -math.inf  # the first iteration is written at once, so that a mistake shows early
        remove_parts(path)
        old = files_of(path)
        if os.path.exists(os.path.join(path, "manifest.json")):
            if not is_ours(path):
                raise FileExistsError(f"{path} holds a manifest.json of another program; name another folder")
            if not overwrite:
                raise FileExistsError(f"{path} holds a recording already; name another folder, or pass overwrite=True")
            # The last first: what a kill leaves is the beginning of the old run.
            for file in reversed(old):
                os.remove(file)
            for folder in {os.path.dirname(file) for file in old}:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
        elif old:
            raise FileExistsError(f"{old[0]} is there already and belongs to no recording; name another folder")
        make_folder(path)

    def add(self, table: str, row: Dict[str, Any]) -> None:
        rows = self._loose.setdefault(table, [])
        if len(rows) >= HELD_ROWS:
            self._held.setdefault(table, []).append(rows_to_chunk(rows, table))
            self.bytes += bytes_of(self._held[table][-1])
            rows = self._loose[table] = []
            if self.bytes > HELD_BYTES:
                self.flush()
                rows = self._loose.setdefault(table, [])
        rows.append(row)

    def hold(self, table: str, chunk: Chunk) -> None:
        if rows_of(chunk) == 0:
            return
        self._held.setdefault(table, []).append(chunk)
        self.bytes += bytes_of(chunk)
        if self.bytes > HELD_BYTES:
            self.flush()

    def drop(self, table: str) -> None:
        self._held.pop(table, None)

    def flush(self) -> None:
        self.complete()
        for table in list(self._loose):
            rows = self._loose.pop(table)
            if rows:
                self._held.setdefault(table, []).append(rows_to_chunk(rows, table))
        for table in list(self._held):
            chunks = [chunk for chunk in self._held.pop(table) if chunk]
            if chunks:
                self.write(table, join_chunks(table, chunks))
        self.bytes = 0
        self._written = time.monotonic()

    def flush_if_due(self) -> None:
        if time.monotonic() - self._written > HELD_SECONDS:
            self.flush()

    def rescue(self) -> None:
        """Writes what can still be written after a failure, table by table, and forgets the rest."""
        held, loose, self._held, self._loose = self._held, self._loose, {}, {}
        with contextlib.suppress(Exception):
            self.complete()
        for table in TABLES:
            with contextlib.suppress(Exception):
                chunks = [*held.get(table, []), *self._held.get(table, [])]
                rows = [*loose.get(table, []), *self._loose.get(table, [])]
                if rows:
                    chunks.append(rows_to_chunk(rows, table))
                if chunks:
                    self.write(table, join_chunks(table, chunks))
        self._held, self._loose = {}, {}

    def write(self, table: str, columns: Dict[str, np.ndarray]) -> None:
        folder = os.path.join(self.path, table)
        make_folder(folder)
        number = self._next.get(table, 0)
        self._next[table] = number + 1
        self.replace(os.path.join(folder, f"{number:06d}.npz"), lambda file: np.savez(file, **columns))

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        text = json.dumps(as_json(manifest), indent=2, allow_nan=False)
        self.replace(os.path.join(self.path, "manifest.json"), lambda file: file.write(text.encode()))

    def replace(self, path: str, write: Callable[[Any], Any]) -> None:
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.{HOST}.{os.getpid()}.trueline-part")
        try:
            with open(temporary, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            sync_folder(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise


def files_of(path: str) -> List[str]:
    """The files of a recording, in the order in which they were written, and nothing else that lies there."""
    found = []
    for table, pattern in [*((table, CHUNK) for table in TABLES), ("policies", SNAPSHOT)]:
        folder = os.path.join(path, table)
        # A link leads to a place that is not ours.
        if os.path.isdir(folder) and not os.path.islink(folder):
            found += [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if pattern.fullmatch(name)]
    return found


def is_ours(path: str) -> bool:
    try:
        with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
            return str(json.load(file).get("format", "")).startswith("trueline/")
    except (OSError, ValueError, AttributeError):
        return False


def remove_parts(path: str) -> None:
    """Removes what killed programs of this machine left half written."""
    for folder in [path, *(os.path.join(path, table) for table in [*TABLES, "policies"])]:
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            part = PART.fullmatch(name)
            if part and part[1] == HOST and not is_alive(int(part[2])):
                os.remove(os.path.join(folder, name))


def is_alive(process: int) -> bool:
    if process == os.getpid():
        return False
    if os.name == "nt":
        return True  # To ask would end it.
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def make_folder(path: str) -> None:
    """With those above it, each on disk before anything is written into it."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    make_folder(above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
    sync_folder(above)


def sync_folder(path: str) -> None:
    """Windows syncs no folders, and needs none to be synced."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def as_json(value: Any) -> Any:
    """What JSON can hold: numpy's and torch's numbers as numbers, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def export_actor(store: Store, name: str, actor: Any, chunk: Chunk) -> None:
    """Writes policies/<name>.onnx unless it is there. Raises where the actor cannot be exported; its mode is as it was."""
    path = os.path.join(store.path, "policies", f"{name}.onnx")
    if os.path.exists(path):
        return
    make_folder(os.path.dirname(path))
    torch = sys.modules["torch"]
    training = actor.training
    try:
        obs = chunk["obs"]
        if isinstance(obs, (int, tuple)):
            raise ValueError("observations have different lengths")
        parameter = next(actor.parameters())
        example = torch.as_tensor(obs[:1], dtype=parameter.dtype, device=parameter.device)
        options: Dict[str, Any] = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
        axes = {"obs": {0: "rows"}, "logits": {0: "rows"}}
        actor.eval()
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            store.replace(
                path,
                lambda file: torch.onnx.export(
                    actor, example, file, input_names=["obs"], output_names=["logits"], dynamic_axes=axes, **options
                ),
            )
    finally:
        actor.train(training)
