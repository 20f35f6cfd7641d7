"""The folder of a recording: rows are held, and written as whole files under other names first, so that a killed run leaves no half of one."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
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
        if os.path.exists(os.path.join(path, "manifest.json")):
            if not overwrite:
                raise FileExistsError(f"{path} holds a recording already; name another folder, or pass overwrite=True")
            for table in [*TABLES, "policies"]:
                shutil.rmtree(os.path.join(path, table), ignore_errors=True)
        os.makedirs(path, exist_ok=True)

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
        os.makedirs(folder, exist_ok=True)
        number = self._next.get(table, 0)
        self._next[table] = number + 1
        self.replace(os.path.join(folder, f"{number:06d}.npz"), lambda file: np.savez(file, **columns))

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        text = json.dumps(as_json(manifest), indent=2, allow_nan=False)
        self.replace(os.path.join(self.path, "manifest.json"), lambda file: file.write(text.encode()))

    def replace(self, path: str, write: Callable[[Any], Any]) -> None:
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "wb") as file:
                write(file)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise


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
    os.makedirs(os.path.dirname(path), exist_ok=True)
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
