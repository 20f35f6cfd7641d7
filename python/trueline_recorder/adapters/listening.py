"""What the adapters for whole programs share: the variables of a loop that is running, what a last layer gave last, and the norm before clipping. All of
it is taken off again by `undo`."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, List, Mapping, Optional

import numpy as np

from ..arrays import to_numpy
from ..trouble import is_between, warn


def running(fits: Callable[[Any], bool]) -> Optional[Mapping[str, Any]]:
    """The local variables of the nearest function on the stack that fits, while it runs."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if fits(frame):
            return frame.f_locals
        frame = frame.f_back
    return None


def running_method(name: str, owner: Any) -> Optional[Mapping[str, Any]]:
    """The local variables of an object's method, while it runs."""
    return running(lambda frame: frame.f_code.co_name == name and frame.f_locals.get("self") is owner)


def own_lines(frame: Any) -> bool:
    """Whether a frame is the program's own, not torch's or the recorder's."""
    return not is_between(frame)


def safely(recorder: Any, act: Callable[[], Any]) -> None:
    """What goes wrong while listening ends the recording, never the training."""
    if recorder.stopped:
        return
    try:
        act()
    except Exception as error:
        recorder._fail(error)


class NotRecording:
    """Stands in for a recorder that could not be made: takes every call, and does nothing."""

    stopped, recording = True, False

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


def begun(what: str, options: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """The recorder that `make` gives; what goes wrong in making it is said, and never ends the training. A folder that is there already is the user's to decide about."""
    try:
        return make()
    except FileExistsError:
        raise
    except Exception as error:
        if options.get("strict"):
            raise
        warn(f"{what} cannot be recorded, training goes on: {type(error).__name__}: {error}")
        return NotRecording()


class Listening:
    """Hooks on a program's own objects, and what they heard last."""

    def __init__(self) -> None:
        self.undo: List[Callable[[], None]] = []
        self.norm: Any = None

    def replace(
        self, owner: Any, name: str, made: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> Callable[..., Any]:
        """Wraps one object's method, and returns the method as it was."""
        original = getattr(owner, name)
        on_itself = name in getattr(owner, "__dict__", {})
        setattr(owner, name, functools.wraps(original)(made(original)))

        def undo() -> None:
            if on_itself:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

        self.undo.append(undo)
        return original

    def hear_norms(self) -> None:
        """What `clip_grad_norm_` returns is the only sight of a gradient before it is clipped."""

        def made(clip: Callable[..., Any]) -> Callable[..., Any]:
            def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
                self.norm = clip(*args, **kwargs)
                return self.norm

            return clip_grad_norm

        self.replace(sys.modules["torch"].nn.utils, "clip_grad_norm_", made)

    def release(self) -> None:
        for undo in reversed(self.undo):
            undo()
        self.undo = []


class LastOutput:
    """What a layer gave last, or without a layer what a choice was last drawn from; cloned, because programs mask logits in place."""

    def __init__(self, layer: Any, listening: Listening) -> None:
        self.value: Any = None
        if layer is not None:

            def keep(module: Any, inputs: Any, output: Any) -> None:
                self.value = output.detach().clone()

            listening.undo.append(layer.register_forward_hook(keep).remove)

    def hear_choices(self, listening: Listening) -> None:
        """The scores of every distribution over choices, where they are not what a layer gave."""

        def made(begin: Callable[..., Any]) -> Callable[..., Any]:
            def begun(choice: Any, *args: Any, **kwargs: Any) -> None:
                begin(choice, *args, **kwargs)
                self.value = choice.logits.detach()

            return begun

        listening.replace(sys.modules["torch"].distributions.Categorical, "__init__", made)

    def hear_gaussians(self, listening: Listening) -> None:
        """Means and logarithms of deviations, side by side, of every Gaussian that is made."""
        torch = sys.modules["torch"]

        def made(begin: Callable[..., Any]) -> Callable[..., Any]:
            def begun(choice: Any, *args: Any, **kwargs: Any) -> None:
                begin(choice, *args, **kwargs)
                if choice.loc.dim() > 1:
                    self.value = torch.cat([choice.loc, choice.scale.log()], -1).detach()

            return begun

        listening.replace(torch.distributions.Normal, "__init__", made)

    def look(self, ask: Callable[[], Any]) -> Any:
        """A second answer, and the scores that it was made of where there are any; what was heard last stays."""
        kept, found = self.value, ask()
        fresh, self.value = self.value, kept
        return found if fresh is None else (found, fresh)

    def of(self, rows: int) -> Any:
        """As (rows, choices), where it is the output of so many rows."""
        value = self.value
        if value is None or value.dim() < 2 or value.numel() != rows * value.shape[-1]:
            return None
        return value.reshape(rows, -1)


def halves(gaussians: Any) -> dict:
    """What `hear_gaussians` heard, as columns."""
    found = to_numpy(gaussians)
    width = found.shape[-1] // 2
    return {"mean": found[..., :width], "log_std": found[..., width:]}


def described(heard: Any, choices: Any) -> dict:
    """What a last layer gave, as columns: logits of one choice, or of several where `choices` says how many each dimension has."""
    if choices is None:
        return {"logits": heard}
    return {"choice_logits": heard, "choices": np.tile(choices, (len(heard), 1))}


def keeps_statistics(module: Any) -> bool:
    """Whether a second forward pass would leave a trace, as batch normalisation does."""
    return any(hasattr(part, "running_mean") and part.training for part in module.modules())


def derivative_by(tensor: Any) -> Callable[[], Any]:
    """Asks, after the backward pass, for the derivative of what was minimised by this tensor: 0 where none arrived, None where none could."""
    if not getattr(tensor, "requires_grad", False):
        return lambda: None
    found: List[Any] = []
    shape, zero = tensor.shape, tensor.detach().new_zeros(1)

    def arrived(gradient: Any) -> None:
        found.append(gradient.detach().clone())

    tensor.register_hook(arrived)
    return lambda: sum(found[1:], found[0]) if found else zero.expand(shape)
