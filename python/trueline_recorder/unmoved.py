"""Parameters whose optimiser was handed over and never stepped. Said only of those that are what they were in the beginning: another optimiser may move them."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from .rows.oddities import Oddity
from .tensors import Watch

#: Entries of a parameter that are kept to compare with, and names that are told.
COMPARED, TOLD = 256, 4


class Origin(NamedTuple):
    """What a parameter was when it was first seen: how often it had been written to, and some of its entries."""

    parameter: Any
    version: int
    entries: Any

    def still(self, parameter: Any) -> bool:
        if parameter is not self.parameter or parameter._version != self.version:
            return False
        # Writing to `parameter.data` leaves the version as it was.
        return bool((some_entries(parameter) == self.entries).all())


def some_entries(parameter: Any) -> Any:
    return parameter.detach().flatten()[:: max(1, parameter.numel() // COMPARED)].clone()


def origin_of(parameter: Any) -> Optional[Origin]:
    """None where it cannot be told, as for parameters that are split among machines."""
    with contextlib.suppress(Exception):
        if type(parameter) in (sys.modules["torch"].nn.Parameter, sys.modules["torch"].Tensor):
            return Origin(parameter, parameter._version, some_entries(parameter))
    return None


def unmoved(watch: Watch, everyone: Sequence[Any], stepped: Set[int]) -> Iterator[Tuple[int, str]]:
    """Places and names of the tensors that only optimisers hold which never stepped."""
    moving: Dict[int, bool] = {}  # by the id of a parameter: whether one of its optimisers stepped
    for optimizer in everyone:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                moving[id(parameter)] = moving.get(id(parameter), False) or id(optimizer) in stepped
    for at, (tensor, origin) in enumerate(zip(watch.tensors, watch.origins)):
        wanted = getattr(tensor.parameter, "requires_grad", False) and moving.get(id(tensor.parameter)) is False
        if wanted and origin is not None and origin.still(tensor.parameter):
            yield watch.first + at, tensor.name


def never_stepped(
    watches: Sequence[Watch], everyone: Sequence[Any], stepped: Set[int], told: List[Dict[str, Any]]
) -> Iterator[Oddity]:
    """What to warn of when all is over; the manifest's tensors are marked."""
    names: List[str] = []
    for watch in watches:
        for place, name in unmoved(watch, everyone, stepped):
            told[place]["never_stepped"] = True
            names.append(name)
    if names:
        more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
        yield (
            "never stepped",
            f"no optimiser ever stepped for {', '.join(names[:TOLD])}{more}: the optimiser that holds them was given to watch(), its step() was never called, and "
            "they are what they were in the beginning",
        )
