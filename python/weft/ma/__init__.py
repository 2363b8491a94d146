"""numpy.ma: arrays with masks of what is invalid.

The installed NumPy's Python source runs over weft's arrays; MaskedArray is a subclass of weft's ndarray.

>>> np.ma.masked_less(np.arange(4.0), 2).sum()
np.float64(5.0)
"""

from weft._numpys import loader as _loader

_loader.package(globals())


def _take_host_arrays():
    """Masked arrays of NumPy's dtypes are numpy.ma's: see _host_arrays.py."""
    import inspect

    from weft._protocols import host_arrays, libraries
    from weft.ma import _host_arrays, core, extras

    host_arrays.masked, _host_arrays.ours = _host_arrays, core
    libraries.keep_masks()
    _host_arrays.array_takes_host_arrays(core.MaskedArray)
    core.MaskedArray.__array_function__ = _host_arrays.array_function
    for kind in vars(core).values():
        if isinstance(kind, type) and issubclass(kind, core._MaskedUFunc):
            _host_arrays.operation_takes_host_arrays(kind)
    changed = {}
    for module in (core, extras):
        for name in module.__all__:
            function = getattr(module, name)
            # getmask and isMaskedArray look at attributes, which host arrays have.
            if inspect.isfunction(function) and name not in ("getmask", "isMaskedArray", "isMA", "isarray"):
                changed[function] = changed.get(function) or _host_arrays.takes_host_arrays(function, name)
    for namespace in (vars(core), vars(extras), globals()):
        for name, value in list(namespace.items()):
            if inspect.isfunction(value) and value in changed:
                namespace[name] = changed[value]


_take_host_arrays()
