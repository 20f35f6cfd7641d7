"""Reads tables of a recording back, as arrays."""

import glob
import os

import numpy as np


def table(path, name):
    """Columns that every chunk of a table has; of ragged ones the values."""
    chunks = [dict(np.load(file)) for file in sorted(glob.glob(os.path.join(path, name, "[0-9]*.npz")))]
    shared = set.intersection(*(set(chunk) for chunk in chunks)) if chunks else set()
    return {key: np.concatenate([chunk[key] for chunk in chunks]) for key in shared if not key.endswith(".offsets")}
