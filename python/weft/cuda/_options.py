"""The options of jit: which are followed, which ask for nothing, and which are refused."""

from weft.cuda._external import links_of

_FOLLOWED = (
    "boundscheck cache debug error_model extensions fastmath launch_bounds lineinfo link max_registers parallel "
    "promotion source"
).split()
# Functions are inlined on a GPU, and optimised.
_TAKEN = "forceinline inline nogil nopython opt".split()
_REFUSED = {
    "argtypes": "signatures are the first argument of weft.numba.cuda.jit",
    "restype": "signatures are the first argument of weft.numba.cuda.jit",
    "bind": "kernels are compiled for the arguments of a launch",
}


def options_of(owner, device, given):
    """The options of a kernel, or of a function for kernels, as the compiler takes them.

    Raises TypeError for options that are not known, NotImplementedError for those of numba.cuda that weft has not.
    """
    known = sorted((*_FOLLOWED, *_TAKEN))
    unknown = [name for name in given if name not in known and name not in _REFUSED]
    if unknown:
        raise TypeError(
            f"{owner} has no option {' and no option '.join(map(repr, unknown))}; it has {', '.join(known)}"
        )
    for name, reason in _REFUSED.items():
        if given.get(name) is not None:
            raise NotImplementedError(f"{owner} has no {name}=: {reason}")
    if given.get("error_model") not in (None, "numpy"):
        raise NotImplementedError(
            f"{owner} has no error_model={given['error_model']!r}: a division by zero gives what NumPy gives"
        )
    if given.get("nopython") not in (None, True):
        raise NotImplementedError(f"{owner} has no nopython={given['nopython']!r}: kernels run compiled only")
    for name in ("boundscheck", "debug", "fastmath", "lineinfo"):
        if not isinstance(given.get(name), bool | None):
            raise TypeError(f"{owner} takes True or False for {name}=, not {given[name]!r}")
    kept = {name: given[name] for name in _FOLLOWED if given.get(name) is not None}
    debug = bool(kept.pop("debug", False))
    checks = debug or kept.get("boundscheck", True)
    extensions = list(kept.pop("extensions", ()))
    if not all(hasattr(each, "prepare_args") for each in extensions):
        raise TypeError(f"{owner} takes objects with prepare_args for extensions=")
    lineinfo = kept.pop("lineinfo", False)
    kept["link"] = links_of(owner, kept.pop("link", None))
    limits = _limits(kept.pop("max_registers", None), kept.pop("launch_bounds", None))
    if not device:
        kept |= {"limits": limits, "extensions": extensions, "lineinfo": lineinfo}
    elif extensions:
        raise ValueError(f"{owner}: extensions= are of kernels, not of functions with device=True")
    elif any(limits):
        raise ValueError(
            f"{owner}: max_registers= and launch_bounds= are of kernels, not of functions with device=True"
        )
    return kept | {"boundscheck": checks, "error_model": "python" if debug else "numpy"}


def _limits(max_registers, launch_bounds):
    """The most registers of a thread and threads of a block, and how many blocks at once; 0 is no limit."""
    bounds = tuple(launch_bounds) if isinstance(launch_bounds, tuple | list) else (launch_bounds,)
    if not 1 <= len(bounds) <= 2:
        raise ValueError(
            f"launch_bounds are threads of a block, or these and blocks at once, not {launch_bounds!r}"
        )
    limits = [max_registers, *bounds, *(None,) * (2 - len(bounds))]
    for name, limit in zip(("max_registers", "launch_bounds", "launch_bounds"), limits, strict=True):
        if limit is not None and (not hasattr(limit, "__index__") or limit < 1):
            raise ValueError(f"{name} of {limit!r}: a limit is an integer from 1 on")
    return tuple(limit or 0 for limit in limits)
