"""Warnings of what only the values tell, such as the mean of nothing that a mask has left.

The result stays lazy, and its warning comes when it is computed, as of the line that asked for it: see
src/execution/late_warnings.h. The program's filters say whether it may come so late.
"""

import sys
from os.path import dirname

_PACKAGE = dirname(dirname(__file__))


def _user_frame():
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def _place(frame):
    """What warnings.warn_explicit asks for."""
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    return frame.f_code.co_filename, frame.f_lineno, names.get("__name__") or "<string>", registry


def warn(text, category=RuntimeWarning):
    """A warning at the user's line."""
    import warnings

    warnings.warn_explicit(text, category, *_place(_user_frame()))


def _action(text, module, line):
    """What the program's filters say of such a warning now."""
    import warnings

    filters = getattr(
        warnings, "_get_filters", lambda: warnings.filters
    )()  # per context, from Python 3.14 on
    for action, message, category, of_module, at in filters:
        if (
            issubclass(RuntimeWarning, category)
            and (message is None or message.match(text))
            and (of_module is None or of_module.match(module))
            and at in (0, line)
        ):
            return action
    return warnings.defaultaction


def teller(text):
    """What tells of it later; None where nobody wants to hear of it, True where it has to be known now.

    It has to where it is an error, and where each is told, as those want who count warnings in a block.
    """
    import warnings

    file, line, module, registry = _place(_user_frame())
    action = _action(text, module, line)
    if action == "ignore":
        return None
    if action in ("error", "always", "all"):
        return True
    return lambda: warnings.warn_explicit(text, RuntimeWarning, file, line, module, registry)
