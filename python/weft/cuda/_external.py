"""Functions in CUDA C++ that kernels in Python call: `declare_device`, and what is linked with a kernel."""

import atexit
import os

from weft import _core

_ABIS = ("numba", "c")


class _Linked:
    """Something that is linked with a kernel's code, and its name in messages."""

    def __init__(self, data, name=None):
        if isinstance(data, str):
            data = data.encode()
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"{type(self).__name__} takes str or bytes, not {type(data).__name__}")
        self.data = bytes(data)
        self.name = name or f"linked{self._ending}"

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}, {len(self.data)} bytes>"


class CUSource(_Linked):
    """CUDA C++, which NVRTC compiles."""

    _ending = ".cu"


class PTXSource(_Linked):
    """PTX."""

    _ending = ".ptx"


class Cubin(_Linked):
    """Machine code for one kind of GPU."""

    _ending = ".cubin"


class Fatbin(_Linked):
    """Machine code for several kinds of GPUs."""

    _ending = ".fatbin"


class Archive(_Linked):
    """A library of objects."""

    _ending = ".a"


class Object(_Linked):
    """An object file with code for GPUs."""

    _ending = ".o"


class LTOIR(_Linked):
    """Code that is optimised when it is linked."""

    _ending = ".ltoir"


LINKED = (Archive, CUSource, Cubin, Fatbin, LTOIR, Object, PTXSource)


class DeviceFunction:
    """A function in CUDA C++ that kernels call: what `declare_device` gives."""

    _is_weft_external = True

    def __init__(self, name, facts, links):
        self.name = self.__name__ = name
        self._facts, self._links = facts, links

    def __call__(self, *arguments):
        raise TypeError(f"{self.name}() is CUDA C++, which kernels call")

    def __repr__(self):
        return f"<CUDA C++ function {self.name}>"


def declare_device(name, sig, link=None, use_cooperative=False, abi="numba"):
    """Declares a function in CUDA C++ that kernels in Python call by its name.

    On a GPU it is compiled by NVRTC where it is a source, and linked with each kernel that calls it. On a CPU it
    is part of such kernels where its source lies within weft's subset of C++. Numbers become what its parameters
    are, unless something would be cut off. For a pointer an array of these elements is given, or
    `ffi.from_buffer(array)` of cffi: where it begins, whose elements lie side by side.

    Parameters
    ----------
    name : str
        The function's symbol: it is `extern "C" __device__`.
    sig : str or signature
        Its types, as Numba writes them: "float32(float32, CPointer(int32))".
    link : str, path or list of such, optional
        What has it: files (.cu, .ptx, .cubin, .fatbin, .ltoir, .a, .o), or a `CUSource`, `PTXSource`, `Cubin`,
        `Fatbin`, `LTOIR`, `Archive` or `Object`. Without it, kernels that call it name this by `jit(link=...)`.
    use_cooperative : bool
        Not taken: a grid waits for itself in Python, by `cg.this_grid().sync()`.
    abi : {'numba', 'c'}
        How it returns. 'numba': an int that is 0 where nothing went wrong, and the result by a pointer that is its
        first parameter and not in `sig`. 'c': the result itself.

    Returns
    -------
    DeviceFunction
        What kernels call.

    Raises
    ------
    TypeError
        When the signature has other types than numbers and pointers to numbers.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> from weft import cuda
    >>> source = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
    >>> twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] = twice(a[i])

    >>> a = np.arange(4, dtype=np.float32)
    >>> double[4, 256](a)
    >>> a
    array([0., 2., 4., 6.], dtype=float32)
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"a function is declared by its symbol, not by {name!r}")
    if abi not in _ABIS:
        raise ValueError(f"abi is 'numba' or 'c', not {abi!r}")
    if use_cooperative:
        raise NotImplementedError(
            f"{name}: use_cooperative is not there; let the kernel call cg.this_grid().sync()"
        )
    parameters, result = _types_of(name, sig)
    facts = name, tuple(parameters), result, abi == "numba"
    if abi == "c" and result is not None and result.kind == "c":
        raise TypeError(f"{name}: a function returns {result} by a pointer; take abi='numba'")
    return DeviceFunction(name, facts, links_of(name, link))


def _types_of(name, sig):
    """((dtype, whether it is a pointer) of each parameter, the result's dtype or None) of a signature."""
    if isinstance(sig, str):
        result, arguments = _read(name, sig)
    else:
        arguments, result = getattr(sig, "args", None), getattr(sig, "return_type", None)
    if arguments is None or result is None:
        raise TypeError(f"{name}: {sig!r} is no signature; write as 'float32(int32)' or 'void(int32)'")
    parameters = [_type_of(name, one) for one in arguments]
    for dtype, is_pointer in parameters:
        if not is_pointer and (dtype.kind == "c" or dtype.name == "float16"):
            raise TypeError(f"{name}: {dtype} is no number of C's; declare a pointer to it")
    if str(result) in ("none", "None", "void"):
        return parameters, None
    dtype, is_pointer = _type_of(name, result)
    if is_pointer:
        raise TypeError(f"{name}: kernels do not take pointers that functions return")
    if dtype.name == "float16":
        raise TypeError(f"{name}: float16 is no number of C's; return float32")
    return parameters, dtype


class _Pointer:
    """What `CPointer(T)` in a text stands for."""

    def __init__(self, dtype):
        self.dtype = dtype


def _read(name, text):
    """The result and the parameters of a text, each a name or a pointer."""
    import ast  # which takes as long as all of this module

    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or call.keywords:
        return None, None

    def one(node):
        if (
            isinstance(node, ast.Call)
            and one(node.func) in ("CPointer", "RawPointer")
            and len(node.args) == 1
        ):
            return _Pointer(one(node.args[0]))
        if isinstance(node, ast.Attribute):  # types.float32
            return node.attr
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant) and node.value is None:
            return "void"
        raise TypeError(
            f"{name}: {ast.unparse(node)!r} in {text!r} is neither a number nor a pointer to numbers"
        )

    return one(call.func), [one(each) for each in call.args]


def _type_of(name, given):
    from weft._jit._signatures import dtype_of

    is_pointer = isinstance(given, _Pointer) or type(given).__name__ in ("CPointer", "RawPointer")
    dtype = dtype_of(given.dtype if is_pointer else given)
    if dtype.kind not in "biufc":
        raise TypeError(f"{name}: {dtype} is no number")
    return dtype, is_pointer


def links_of(owner, link):
    """A tuple of what is linked: absolute paths, and objects with data."""
    if link is None:
        return ()
    links = link if isinstance(link, list | tuple | set | frozenset) else (link,)
    return tuple(_link(owner, each) for each in links)


def _link(owner, each):
    if isinstance(each, LINKED):
        return each
    if isinstance(each, str | os.PathLike):
        path = os.path.abspath(os.fspath(each))
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{owner}: there is no file {path}")
        return path
    data = getattr(each, "data", None)  # numba.cuda's own
    for kind in LINKED:
        if kind.__name__ == type(each).__name__ and isinstance(data, str | bytes):
            return kind(data, getattr(each, "name", None))
    raise TypeError(f"{owner}: link= takes paths, CUSource and so on, not {type(each).__name__}")


def source_of(link):
    """The name and the text of CUDA C++ that is linked; None of other things."""
    if isinstance(link, CUSource):
        return link.name, link.data.decode()
    if isinstance(link, str) and link.endswith(".cu"):
        with open(link, encoding="utf-8") as file:
            return os.path.basename(link), file.read()
    return None


_MOST_KEPT = 64
_parts = {}  # by what is linked: those that a program links again and again
atexit.register(_parts.clear)


def linked_parts(links):
    """What the engine links with a kernel; None where there is nothing."""
    unique = tuple(dict.fromkeys(links))
    if not unique:
        return None
    paths = [each for each in unique if isinstance(each, str)]
    made = None if paths else _parts.get(unique)  # a file may be another one now
    if made is None:
        sources = [each for each in unique if isinstance(each, CUSource)]
        code = [each for each in unique if not isinstance(each, str | CUSource)]
        names = [
            *(each.name for each in sources),
            *(os.path.basename(each) for each in paths if each.endswith(".cu")),
        ]
        made = _core._linked_parts(
            [each.data.decode() for each in sources],
            names[0] if names else "linked.cu",
            paths,
            [(each.name, each.data) for each in code],
        )
        if len(_parts) >= _MOST_KEPT:
            _parts.clear()
        if not paths:
            _parts[unique] = made
    return made
