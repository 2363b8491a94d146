"""vectorize and guvectorize for the device that kernels run on, with arrays as numba.cuda takes and gives them."""

import functools
import sys
import types

import weft
from weft.cuda._arrays import DeviceArray, handle_of, is_cuda_array
from weft.cuda._kernel import jit


@jit
def _nothing():
    """Is ordered with a stream of another library, and does nothing else."""


class Ufunc:
    """A ufunc of weft's that runs where kernels do.

    Results are NumPy's arrays where all arguments are the host's, arrays for kernels where one of the arguments is, and
    weft's where one is weft's. Arrays of the host are copied to the device of the others, or to the current device.
    """

    max_blocksize = 2**30  # of numba.cuda; weft chooses the threads of a block

    def __init__(self, ufunc, function):
        functools.update_wrapper(self, function)
        self.ufunc = ufunc
        self.py_func = function  # which kernels call

    def __call__(self, *arguments, out=None, stream=None, **options):
        inputs = getattr(self.ufunc, "nin", len(arguments))
        if len(arguments) > inputs and out is None:
            out, arguments = arguments[inputs:], arguments[:inputs]
        return _called(self.ufunc, arguments, out, stream, options)

    def __getattr__(self, name):
        if name.startswith("_") or name in ("ufunc", "py_func"):
            raise AttributeError(name)
        found = getattr(self.ufunc, name)
        if not callable(found):
            return found
        if name == "at":
            return functools.partial(_at, found)
        return functools.partial(_called_method, found)

    def __repr__(self):
        return repr(self.ufunc)

    def __reduce__(self):
        return self.__qualname__  # as functions are: by the place where it is defined


def _called_method(method, *arguments, out=None, stream=None, **options):
    return _called(method, arguments, out, stream, options)


def _at(method, array, *arguments):
    """The elements of an array, changed where the array is."""
    own = _of_weft(array)
    own = weft.asarray(array, copy=False, device="cpu") if own is None else own
    with own.device as device:
        method(own, *(_placed(each, _of_weft(each), device) for each in arguments))
        weft.eval(own)


def _of_weft(array):
    """weft's array over the memory of one that is weft's, for kernels, or on a GPU; None for what else there is."""
    if isinstance(array, DeviceArray):
        array = array._array
        return array if isinstance(array, weft.ndarray) else weft.asarray(array, copy=False)
    if isinstance(array, weft.ndarray):
        return array
    return weft.asarray(array) if is_cuda_array(array) else None


def _called(function, arguments, out, stream, options):
    outs = out if isinstance(out, tuple) else () if out is None else (out,)
    shown = [_of_weft(each) for each in arguments]
    shown_outs = [_of_weft(each) for each in outs]
    on_gpus = {each.device for each in (*shown, *shown_outs) if each is not None and each.device != "cpu"}
    if len(on_gpus) > 1:
        raise ValueError(f"the arrays of {function!r} are on {' and '.join(sorted(on_gpus))}")
    with on_gpus.pop() if on_gpus else weft.empty(0).device as device:
        ordered = handle_of(stream) * (device != "cpu")
        if ordered:
            _nothing[1, 1, ordered]()
        given = [_placed(each, own, device) for each, own in zip(arguments, shown, strict=True)]
        if "where" in options:
            options["where"] = _placed(options["where"], _of_weft(options["where"]), device)
        taken = [
            None if each is None else weft.asarray(each) if own is None else own.to_device(device)
            for each, own in zip(outs, shown_outs, strict=True)
        ]
        if taken:
            options["out"] = tuple(taken) if isinstance(out, tuple) else taken[0]
        result = function(*given, **options)
        results = result if isinstance(result, tuple) else (result,)
        if ordered:
            weft.eval(*(each for each in results if isinstance(each, weft.ndarray)))
            _nothing[1, 1, ordered]()
        made = [_as_arguments(each, arguments, shown) for each in results]
        for k, own in enumerate(outs):
            if own is not None:
                made[k] = _written(own, shown_outs[k], taken[k])
    return tuple(made) if isinstance(result, tuple) else made[0]


def _placed(argument, array, device):
    """An argument of a call, on the device where arrays are made now."""
    if array is not None:
        return array.to_device(device)
    return weft.asarray(argument) if getattr(argument, "ndim", 0) else argument


def _written(out, shown, taken):
    """What was given for a result, with what was computed."""
    if taken is not shown:
        own = weft.asarray(out, copy=False, device="cpu") if shown is None else shown
        weft.copyto(own, taken.to_device(own.device))
        if shown is None:
            weft.eval(own)  # others read its memory
    return out


def _as_arguments(result, arguments, shown):
    """A result as what the arguments are: weft's, for kernels, or the host's."""
    if not isinstance(result, weft.ndarray | weft.generic):
        return result
    if isinstance(result, weft.ndarray) and any(each is not None for each in shown):
        if not any(isinstance(each, weft.ndarray) for each in arguments):
            return DeviceArray(result)
        return (
            result if any(each is not None and each.device != "cpu" for each in shown) else _on_host(result)
        )
    numpy = sys.modules.get("numpy")
    if numpy is None or any(each is not None for each in shown):
        return _on_host(result)
    made = numpy.asarray(_on_host(result))
    return made if isinstance(result, weft.ndarray) else made[()]


def _on_host(result):
    return result.to_device("cpu")


def _plain(function):
    return getattr(function, "py_func", function)


def vectorize(signatures=(), **options):
    """A function of numbers as a ufunc that runs where kernels do, as `weft.vectorize` compiles it.

    Parameters
    ----------
    signatures : str, list of str, or function, optional
        Types as "float64(float64, float64)". Without them the function is compiled for the types of each call.
    **options
        Those of weft.vectorize, as `identity` and `boundscheck`.

    Returns
    -------
    Ufunc or decorator
        It is called with arrays and numbers, and with `out`, `stream` and what else ufuncs take. Results have the
        broadcast shape and the signature's dtype. They are NumPy's arrays where all arguments are the host's, and
        arrays for kernels, or weft's, where one of the arguments is.

    Raises
    ------
    ValueError
        When arrays are on two GPUs, or shapes cannot be broadcast.
    TypeError
        When no signature takes the arguments' dtypes by safe casts.

    Examples
    --------
    >>> from weft import cuda
    >>> @cuda.vectorize(["float64(float64, float64)"])
    ... def clipped(x, most):
    ...     return most if x > most else x
    >>> clipped(cuda.to_device([1.0, 2.0, 3.0]), 2.5).copy_to_host()
    array([1. , 2. , 2.5])
    """
    if _is_function(signatures):
        return Ufunc(weft.vectorize(None, target="cuda", **options)(_plain(signatures)), _plain(signatures))
    made = weft.vectorize(signatures or None, target="cuda", **options)
    return lambda function: Ufunc(made(_plain(function)), _plain(function))


def guvectorize(*signatures_and_layout, **options):
    """A function of arrays of fixed dimensions, which a kernel calls in each place: see `weft.guvectorize`.

    Parameters
    ----------
    signatures : str or list of str, optional
        Types of inputs and outputs, as "void(float64[:], float64[:])".
    layout : str
        The names of the axes of each input and each output, as "(n)->(n)".
    **options
        Those of weft.guvectorize, as `boundscheck`.

    Returns
    -------
    decorator
        What it gives is called as a ufunc of `vectorize` is. Results have what is before the layout's axes, broadcast,
        and these axes.

    Raises
    ------
    ValueError
        When axes of one name have different sizes, or an output has a wrong shape.

    Examples
    --------
    >>> from weft import cuda
    >>> @cuda.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    ... def summed(a, out):
    ...     total = 0.0
    ...     for i in range(len(a)):
    ...         total += a[i]
    ...         out[i] = total
    >>> summed(cuda.to_device([[1.0, 2.0], [3.0, 4.0]])).copy_to_host()
    array([[1., 3.],
           [3., 7.]])
    """
    made = weft.guvectorize(*signatures_and_layout, target="cuda", **options)
    return lambda function: Ufunc(made(_plain(function)), _plain(function))


def _is_function(given):
    return isinstance(given, types.FunctionType) or hasattr(given, "py_func")
