"""What WEFT_INSTALL=1 starts in a process: weft is loaded and installed when NumPy is imported first.

weft-install.pth imports this module, and does nothing where the variable is not set.
"""

import sys


class _First:
    """Stands in sys.meta_path until somebody imports NumPy."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "numpy" and not name.startswith("numpy."):
            return None
        if _First in sys.meta_path:
            sys.meta_path.remove(_First)
        try:
            from weft._install import importing, install
        except ImportError:  # an environment without weft, or a Python that its wheel is not for
            return None
        install()
        return importing.Finder.find_spec(name, path, target)


if "numpy" not in sys.modules:
    sys.meta_path.insert(0, _First)
