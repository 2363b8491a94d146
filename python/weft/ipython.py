"""%load_ext weft: a notebook or an IPython session gets weft where it imports NumPy, or has done so."""

from weft._install import install, uninstall


def load_ipython_extension(ipython):
    """Called by %load_ext."""
    install()


def unload_ipython_extension(ipython):
    """Called by %unload_ext."""
    uninstall()
