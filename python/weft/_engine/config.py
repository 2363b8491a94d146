"""weft.config: the settings that the WEFT_* environment variables start with."""

from weft import _core

_SETTINGS = {
    "fuse": "whether operations share kernels (WEFT_FUSE)",
    "rewrite": "whether products may be replaced by cheaper ones that round otherwise (WEFT_REWRITE)",
    "deferred_checks": "whether a GPU's indices, integer powers and matrices are checked late (WEFT_DEFERRED_CHECKS)",
    "linalg_device": "where spectra of a GPU's matrices are computed, there or where it is quicker: operands, auto "
    "(WEFT_LINALG_DEVICE)",
    "eager": "whether each operation runs at its call (WEFT_EAGER)",
    "small": "elements up to which work runs eagerly, without a kernel; 0: never (WEFT_SMALL)",
    "stream": "results of more bytes are stored non-temporally; -1: of more than stays in the caches (WEFT_STREAM)",
    "tier": "what runs while a new kernel or function is compiled, or that nothing does: auto, block, jit (WEFT_TIER)",
    "num_threads": "threads that take part in a kernel; 0 when set: as many as allowed (WEFT_NUM_THREADS)",
    "debug": "what is printed while running, from 0 to 5 (WEFT_DEBUG)",
    "debug_filter": "only kernels whose name contains this are printed (WEFT_DEBUG_FILTER)",
    "without": "optimisation switches that are left out, to find faults: names with commas (WEFT_WITHOUT)",
    "device": "where new arrays are made, 'cpu' or 'cuda:0'; empty: the CPU (WEFT_DEVICE)",
    "device_memory_limit": "most bytes that arrays and pool may hold on each GPU; 0: any (WEFT_DEVICE_MEMORY_LIMIT)",
    "allow_tf32": "whether products of float32 on GPUs may round their factors to 11 bits (WEFT_ALLOW_TF32)",
    "fast_math": "whether kernels may round once where NumPy rounds twice, and divide roughly (WEFT_FAST_MATH)",
    "cpu": "LLVM's name of the CPU to compile for; empty: this one (WEFT_CPU)",
    "verify": "whether IR is checked after each pass (WEFT_VERIFY)",
    "cache": "whether compiled kernels are kept on disk (WEFT_CACHE)",
    "cache_dir": "the folder they are kept in; None: the user's cache folder; empty: none (WEFT_CACHE_DIR)",
    "cache_size": "most bytes of them (WEFT_CACHE_SIZE)",
    "fallback": "what a call does that NumPy has to compute: silent, warn, error (WEFT_FALLBACK)",
    "guard": "whether every buffer touches an inaccessible page (WEFT_GUARD)",
}


def _get(name):
    if name == "fallback":
        from weft._engine import fallback

        return fallback.get_mode()
    return _core._get_setting(name)


def _set(name, value):
    if name == "fallback":
        from weft._engine import fallback

        fallback.set_mode(value)
    else:
        _core._set_setting(name, value)


class _Changed:
    """Settings that hold inside a `with` block."""

    def __init__(self, changes):
        self._changes = changes

    def __enter__(self):
        self._before = {name: _get(name) for name in self._changes}
        for name, value in self._changes.items():
            _set(name, value)
        return config

    def __exit__(self, *exception):
        for name, value in self._before.items():
            _set(name, value)


class Config:
    """Settings as attributes; `with weft.config(fuse=False): ...` changes them for a while."""

    __slots__ = ()

    def __getattr__(self, name):
        return _get(name)

    def __setattr__(self, name, value):
        _set(name, value)

    def __call__(self, **changes):
        return _Changed(changes)

    def __dir__(self):
        return sorted(_SETTINGS)

    def __repr__(self):
        lines = [f"  {name} = {_get(name)!r}  # {about}" for name, about in _SETTINGS.items()]
        return "\n".join(["weft.config:", *lines])


config = Config()


def show_config(mode="stdout"):
    """Prints how weft is set and what it found: driver, GPUs, libraries, caches. mode='dicts': as a dictionary.

    Looks for a CUDA driver and NVIDIA's libraries, and opens those there are.
    """
    import platform

    information = {
        "weft": _core.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "settings": {name: _get(name) for name in _SETTINGS},
        "cache": _core.cache_info(),
        "cuda": _core._gpu_report(),
    }
    if mode == "dicts":
        return information
    if mode != "stdout":
        raise AttributeError("Invalid `mode`, use one of: stdout, dicts")
    print(f"weft {information['weft']}, Python {information['python']}, {information['machine']}")
    print(config)
    cache, cuda = information["cache"], information["cuda"]
    print(f"kernel cache: {cache['folder'] if cache['enabled'] else cache['reason']}")
    driver = cuda["driver"]
    if driver["path"] is None:
        print(f"CUDA: not used: {driver['reason']}")
    else:
        print(f"CUDA driver: {driver['version']}, {driver['path']}")
    for each in cuda["devices"]:
        print(
            f"  {each['device']}: {each['name']}, compute capability {each['capability']}, "
            f"{each['multiprocessors']} multiprocessors, {each['memory'] / 2**30:.1f} GiB"
        )
    for each in cuda["libraries"]:
        print(f"{each['name']}: {each['version'] + ', ' + each['path'] if each['path'] else 'not found'}")
    print(f"libdevice: {cuda['libdevice'] or 'not found'}")
    return None
