"""How many threads parallel loops have."""

import weft
from weft.numba import config


def get_num_threads():
    """The number of threads that parallel loops run on."""
    return weft.config.num_threads


def set_num_threads(n):
    """Lets parallel loops run on `n` threads, at most NUMBA_NUM_THREADS."""
    if not isinstance(n, int) and not hasattr(n, "__index__"):
        raise TypeError("The number of threads specified must be an integer")
    if not 1 <= n <= config.NUMBA_NUM_THREADS:
        raise ValueError(f"The number of threads must be between 1 and {config.NUMBA_NUM_THREADS}")
    weft.config.num_threads = int(n)


def get_thread_id():
    """0: weft's loops do not tell which thread runs them, since results do not hang on it."""
    return 0


def threading_layer():
    """The name of weft's own threads."""
    return "weft"


_chunks = 0


def set_parallel_chunksize(n):
    """Keeps a number that weft does not need: it cuts loops by their length alone."""
    global _chunks
    before, _chunks = _chunks, n
    return before


def get_parallel_chunksize():
    """The number that was set."""
    return _chunks


class parallel_chunksize:
    """A context with a chunk size."""

    def __init__(self, n):
        self._n = n

    def __enter__(self):
        self._before = set_parallel_chunksize(self._n)

    def __exit__(self, *_):
        set_parallel_chunksize(self._before)
