"""Bugs put into a program while it runs: a line of a function exchanged, or a method wrapped. Nothing on disk changes.

The one thing to get wrong: a line that is no longer there must be an error, or a bug that was never put in counts as missed.
"""

import functools
import inspect
import textwrap
import types


def with_line(function, old, new):
    """The function with one piece of its text exchanged, in its own globals."""
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    text = textwrap.dedent(inspect.getsource(plain))
    if old not in text:
        raise LookupError(f"{plain.__qualname__} has no {old!r}")
    scope = dict(plain.__globals__)
    exec(compile(text.replace(old, new), f"<{plain.__qualname__}, patched>", "exec"), scope)
    return functools.wraps(plain)(scope[plain.__name__])


def replace_line(owner, name, old, new):
    """Exchanges a piece of one object's method."""
    made = with_line(getattr(type(owner), name), old, new)
    setattr(owner, name, types.MethodType(made, owner))


def before(owner, name, act):
    """Calls `act` with the arguments first; what it returns, where it returns something, replaces them."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def called(*args, **kwargs):
        changed = act(*args, **kwargs)
        return original(*args, **kwargs) if changed is None else original(*changed)

    setattr(owner, name, called)


def after(owner, name, act):
    """Calls `act` with the result afterwards; what it returns, where it returns something, replaces it."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def called(*args, **kwargs):
        result = original(*args, **kwargs)
        changed = act(result)
        return result if changed is None else changed

    setattr(owner, name, called)
