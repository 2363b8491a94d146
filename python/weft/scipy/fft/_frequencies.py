"""Frequencies, with SciPy's arguments: weft's arrays are made, so that the namespace `xp` makes no difference."""

from weft import fft


def fftfreq(n, d=1.0, *, xp=None, device=None):
    """As weft.fft.fftfreq.

    >>> np.scipy.fft.fftfreq(5, 0.1)
    array([ 0.,  2.,  4., -4., -2.])
    """
    return fft.fftfreq(n, d, device)


def rfftfreq(n, d=1.0, *, xp=None, device=None):
    """As weft.fft.rfftfreq."""
    return fft.rfftfreq(n, d, device)
