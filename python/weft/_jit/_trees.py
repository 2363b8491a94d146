"""Trees of Python's texts, made while other threads make theirs.

CPython 3.11 counts how deep a tree is in one number for all threads (its issue 106905), and raises SystemError where
they take turns meanwhile. What is tried again has its turn alone.
"""

from ast import parse as _parse

_TRIES = 100


def _tried(make):
    for _ in range(_TRIES):
        try:
            return make()
        except SystemError as error:
            if "recursion depth" not in str(error):
                raise
    return make()


def parse(text):
    """The tree of a module's text."""
    return _tried(lambda: _parse(text))


def compiled(tree, file, flags):
    """The code of a tree, with the given flags of `from __future__` and no others."""
    return _tried(lambda: compile(tree, file, "exec", flags=flags, dont_inherit=True))
