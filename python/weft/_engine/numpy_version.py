"""Which NumPy is installed: where NumPy 2.4 and 2.5 differ, weft does as that one.

Every import of weft asks, so that neither NumPy nor anything else is imported for it.
"""

import sys


def _installed():
    loaded = sys.modules.get("numpy")
    if loaded is not None and hasattr(loaded, "__version__"):
        return loaded.__version__
    finder = next((each for each in sys.meta_path if getattr(each, "__name__", "") == "PathFinder"), None)
    found = finder and finder.find_spec("numpy")
    if found is None or not found.submodule_search_locations:
        return ""
    try:
        with open(f"{found.submodule_search_locations[0]}/version.py", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ""
    _, _, rest = text.partition('\nversion = "')
    return rest.partition('"')[0]


def _numbers():
    parts = _installed().split(".")[:2]
    return tuple(map(int, parts)) if len(parts) == 2 and all(part.isdigit() for part in parts) else (0, 0)


_known = None


def numpy_is_at_least(major, minor):
    """False where no NumPy is installed."""
    global _known
    if _known is None:
        _known = _numbers()
    return _known >= (major, minor)


def deprecated_in_numpy_2_5(text):
    """Warns of it where NumPy does, at the user's line."""
    if numpy_is_at_least(2, 5):
        from weft._engine.late_warnings import warn

        warn(text, DeprecationWarning)
