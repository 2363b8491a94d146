"""Numba's settings, with the values that weft works by. DISABLE_JIT and NUMBA_NUM_THREADS are followed."""

import os

import weft

_OFF = ("", "0", "false", "no")


def _is_on(name):
    return os.environ.get(f"NUMBA_{name}", "").lower() not in _OFF


def reload_config():
    """Reads the environment again."""
    globals().update(
        DISABLE_JIT=int(_is_on("DISABLE_JIT")),
        NUMBA_DEFAULT_NUM_THREADS=weft.config.num_threads,
        NUMBA_NUM_THREADS=int(os.environ.get("NUMBA_NUM_THREADS") or weft.config.num_threads),
        CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""),
        THREADING_LAYER=os.environ.get("NUMBA_THREADING_LAYER", "default"),
        THREADING_LAYER_PRIORITY=["tbb", "omp", "workqueue"],
        BOUNDSCHECK=int(_is_on("BOUNDSCHECK")) if "NUMBA_BOUNDSCHECK" in os.environ else None,
        DEBUG=0,
        DEVELOPER_MODE=0,
        ENABLE_CUDASIM=int(_is_on("ENABLE_CUDASIM")),
        CUDA_LOG_LEVEL="CRITICAL",
        OPT=3,
    )


reload_config()
