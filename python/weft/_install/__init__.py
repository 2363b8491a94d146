"""weft.install(): programs that import NumPy get weft. docs/guide/zero-change.md"""

import os

from weft._engine.fallback import set_mode
from weft._install import callers, importing, kinds, modules, rebinding, shared, theirs

__all__ = ["install", "uninstall"]

_installed = []  # who installed: one entry for each install() that was not taken back


def _numpy_is_loaded():
    """Called when NumPy was loaded, and for each further module of it."""
    numpy = theirs.loaded("numpy")
    importing.forget_finder()
    kinds.meet()
    shared.tell_pending()
    for path in modules.made:
        real = theirs.loaded(path)
        if real is not None and type(real) is modules.ModuleType:
            real.__class__ = modules.Watched
            modules.apply_patches(path)
    if type(numpy) is modules.ModuleType:
        numpy.__class__ = modules.Watched


class _Installed:
    """What install() gives: as a context, it uninstalls at the end of the block."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        uninstall()

    def __repr__(self):
        return "<weft is installed>" if _installed else "<weft is not installed>"


def install(*, include=(), exclude=(), fallback=None):
    """Gives weft to the program's files where they import NumPy, those that did so already included.

    Installed packages keep NumPy, but for those that are listed (docs/guide/zero-change.md). include and exclude name
    packages or modules that get weft, or NumPy, all the same. fallback says what happens where NumPy does what weft
    does not have: 'silent' counts it, 'warn' warns as well, 'error' raises NotImplementedError.

    The result can be a context: at its end weft is uninstalled. Raises ValueError for an unknown fallback.

    >>> with np.install():
    ...     import numpy
    ...     total = numpy.arange(3.0).sum()
    >>> type(total)
    <class 'weft.float64'>
    """
    if fallback is not None:
        set_mode(fallback)
    callers.configure(include, exclude)
    _installed.append(True)
    if len(_installed) > 1:
        return _Installed()
    kinds.install()
    theirs.when_loaded.append(_numpy_is_loaded)
    importing.install()
    if theirs.loaded("numpy") is not None:
        modules.module("numpy")
        _numpy_is_loaded()
        rebinding.bind()
    from weft._install import report

    report.at_exit(os.environ.get("WEFT_REPORT", ""))
    return _Installed()


def uninstall():
    """Takes weft.install() back: imports give NumPy again, and the program's names are NumPy's.

    What the program keeps elsewhere stays as it is: arrays are weft's, and so are functions in its own data. Does
    nothing where weft is not installed; after several calls of install() as many of uninstall() are needed.

    >>> np.uninstall()
    """
    if not _installed:
        return
    _installed.pop()
    if _installed:
        return
    importing.uninstall()
    rebinding.unbind()
    modules.restore_all()
    theirs.when_loaded.clear()
    for path in list(modules.made):
        real = theirs.loaded(path)
        if type(real) is modules.Watched:
            real.__class__ = modules.ModuleType
    kinds.uninstall()
    modules.made.clear()
