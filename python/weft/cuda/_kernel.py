"""Kernels: functions that each thread of a grid of blocks runs."""

import atexit
import contextlib
import functools
import inspect
import types

from weft import _core
from weft._jit._decorator import compiled, prange
from weft.cuda._arrays import DeviceArray, handle_of
from weft.cuda._options import options_of
from weft.cuda._overloads import Inspected
from weft.cuda._place import count_blocks, run_block, waits

MOST_THREADS = 1024  # of a block
MOST_SHARED_BYTES = 227 << 10  # of a block
_MOST_BLOCKS = (2**31 - 1, 2**16 - 1, 2**16 - 1)
_MOST_OF_BLOCK = (1024, 1024, 64)
_MOST_KEPT = 256  # launches of a kernel
_MOST_BLOCKS_KNOWN = 4  # sizes of blocks for which code of their own is compiled

atexit.register(_core._finish_printing)


def _sizes(given, what, most):
    """Three sizes of a grid or a block, of a number or a tuple of one to three."""
    axes = tuple(given) if isinstance(given, tuple | list) else (given,)
    if not 1 <= len(axes) <= 3:
        raise ValueError(f"{what}dim must be a sequence of 1, 2 or 3 integers, got {list(axes)}")
    sizes = []
    for axis, size in enumerate(axes):
        try:
            size = size.__index__()
        except AttributeError:
            raise TypeError(f"{what}dim must be a sequence of integers, got {list(axes)}") from None
        if size < 1:
            raise ValueError(f"a {what} of {size} along axis {axis}: there is nothing to launch")
        if size > most[axis]:
            raise ValueError(f"a {what} of {size} along axis {axis}: {most[axis]} is the most")
        sizes.append(size)
    return (*sizes, *(1,) * (3 - len(sizes)))


class RaceError(RuntimeError):
    """Two threads of a kernel use the same memory without an order, and one of them writes."""


def _launch_nothing(*arguments):
    """A kernel without tasks."""


def _launch(kernel, grid, block, stream, shared_bytes, checks):
    """A kernel with its grid and block, to be called with the kernel's arguments."""
    grid = _sizes(grid, "grid", _MOST_BLOCKS)
    block = _sizes(block, "block", _MOST_OF_BLOCK)
    threads = block[0] * block[1] * block[2]
    if threads > MOST_THREADS:
        raise ValueError(f"a block of {threads} threads, {block}: {MOST_THREADS} is the most")
    try:
        shared_bytes = shared_bytes.__index__()
    except AttributeError:
        raise TypeError(f"bytes of shared memory are an integer, not {type(shared_bytes).__name__}") from None
    if not 0 <= shared_bytes <= MOST_SHARED_BYTES:
        raise ValueError(f"{shared_bytes} bytes of shared memory: {MOST_SHARED_BYTES} are the most")
    count = -1 if kernel._converters else kernel._count
    return _core._kernel_launch(
        kernel, grid, block, shared_bytes, DeviceArray, count, checks, handle_of(stream)
    )


def _both(one, other):
    """What was counted of two launchers."""
    return {
        name: one[name] + other[name] if name in ("calls", "compile_seconds") else each
        for name, each in one.items()
    }


def _kind_of(value):
    """What tells apart the types of arguments."""
    if isinstance(value, tuple):
        return tuple(map(_kind_of, value))
    if hasattr(value, "dtype") and hasattr(value, "strides"):
        steps = tuple(sorted(range(value.ndim), key=lambda axis: -value.strides[axis]))
        return type(value), str(value.dtype), value.ndim, steps, bool(value.flags["C_CONTIGUOUS"])
    return type(value)


class _Extended:
    """A launch whose arguments the kernel's extensions prepare."""

    __slots__ = ("_kernel", "_launch", "_stream")

    def __init__(self, kernel, launch, stream):
        self._kernel, self._launch, self._stream = kernel, launch, stream

    def __call__(self, *arguments):
        after = []
        self._launch(*self._kernel._extended(arguments, self._stream, after))
        for call in after:
            call()


class _Checked:
    """A kernel whose launches look for races."""

    __slots__ = ("_kernel",)

    def __init__(self, kernel):
        self._kernel = kernel

    def __getitem__(self, launch):
        return self._kernel._launched(launch, checks=True)


class Kernel(Inspected):
    """What `jit` makes of a function: `kernel[grid, block](...)` runs it for each thread of a grid."""

    def __init__(self, function, source=None, extensions=(), **options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.extensions = list(extensions)  # which prepare arguments, the last first
        self._source = source
        self._function = compiled(function, source=source, is_kernel=True, **options)
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters.values()
        if any(each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters):
            raise TypeError(
                f"{function.__name__}: a kernel takes arguments by their places, without * and **"
            )
        names = [each.name for each in parameters]
        self._count = len(names)
        self._options = options
        self._converters = ()
        self._refusal = None  # why the last launch was not the GPU's
        self._launches = {}  # that were made, by what stands in the brackets
        self._of_blocks = {}  # launchers for blocks of certain sizes
        self.specialized = False  # by specialize()
        self.specializations = {}
        self._names = names

    @functools.cached_property
    def _launcher(self):
        return self._make_launcher()

    @functools.cached_property
    def _gpu_launcher(self):
        return self._make_launcher(for_gpu=True)

    @functools.cached_property
    def _checking_launcher(self):
        # One thread after another, each of which tells what it does.
        return self._make_launcher(tells_accesses=True, parallel=False, boundscheck=True)

    @property
    def check(self):
        """The kernel as it looks for races: `kernel.check[grid, block](...)`.

        It runs on the CPU, one thread after another. Where two threads use the same element, one of them writes, and
        nothing orders the two, that is a `weft.cuda.RaceError`, with both threads and both lines. An index out of
        bounds is an IndexError. With WEFT_CUDA_CHECK=1 in the environment all launches do.

        Examples
        --------
        >>> from weft import cuda
        >>> @cuda.jit
        ... def shift(a):
        ...     i = cuda.grid(1)
        ...     if i + 1 < a.size:
        ...         a[i] = a[i + 1]
        >>> shift.check[1, 32](np.arange(5.0))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        weft.cuda._kernel.RaceError: shift():
        thread (1, 0, 0) of block (0, 0, 0) writes in line 5, `a[i] = a[i + 1]`
        what thread (0, 0, 0) of block (0, 0, 0) reads in line 5, `a[i] = a[i + 1]`
        and nothing orders the two: no barrier is between them.
        """
        return _Checked(self)

    @functools.cached_property
    def _waits(self):
        return waits(self.py_func)

    def _launcher_for(self, block):
        """The launcher for the CPU. Threads that wait for each other are loops, which are twice as fast where it is
        known how many they are: so the first few sizes of blocks have code of their own."""
        if block not in self._of_blocks:
            if len(self._of_blocks) == _MOST_BLOCKS_KNOWN or not self._waits:
                return self._launcher
            self._of_blocks[block] = self._make_launcher(block)
        return self._of_blocks[block]

    def _make_launcher(self, block=None, **options):
        if not getattr(type(self._function), "_is_weft_jit", False):
            raise RuntimeError(
                f"{self.__name__} is not compiled, since WEFT_JIT=0 is set; kernels run compiled only"
            )
        # With the kernel's parameters, so that errors name these.
        name = self.__name__ if self.__name__.isidentifier() else "kernel"  # of a lambda
        names = "".join(f", {name}" for name in self._names)
        listed = "".join(f"{name}, " for name in self._names)
        text = (
            f"def {name}(grid_, block_, bytes_{names}):\n"
            f"    for number_ in prange(count_blocks(kernel_, grid_, {block or 'block_'}, ({listed}))):\n"
            f"        run_block(kernel_, grid_, {block or 'block_'}, bytes_, number_, ({listed}))\n"
        )
        scope = {
            "prange": prange,
            "count_blocks": count_blocks,
            "run_block": run_block,
            "kernel_": self._function,
            "__name__": __name__,
        }
        exec(text, scope)
        return compiled(scope[name], source=text, is_kernel=True, **(self._options | options))

    def __getitem__(self, launch):
        """The kernel with `[grid, block]`, `[grid, block, stream]` or `[grid, block, stream, shared bytes]`."""
        try:
            return self._launches[launch]
        except (KeyError, TypeError):  # a list has no hash
            return self._launched(launch)

    def _launched(self, launch, checks=False):
        if not isinstance(launch, tuple) or not 2 <= len(launch) <= 4:
            raise TypeError(
                f"{self.__name__}[grid, block] launches a kernel, with a stream and bytes of shared memory"
            )
        grid, block, stream, shared_bytes = (*launch, *(None, 0)[len(launch) - 2 :])
        made = _launch(self, grid, block, stream, shared_bytes, checks)
        if self.extensions:
            made = _Extended(self, made, 0 if stream is None else stream)
        # 2.0 and True are the same keys as 2 and 1, and are no sizes.
        if (
            not checks
            and len(self._launches) < _MOST_KEPT
            and all(type(each) in (int, tuple) for each in launch[:2])
        ):
            with contextlib.suppress(TypeError):
                self._launches[launch] = made
        return made

    def __call__(self, *arguments, **keywords):
        raise ValueError(f"Kernel launch configuration was not specified: {self.__name__}[grid, block](...)")

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        """As `kernel[griddim, blockdim, stream, sharedmem]`."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """The kernel with as many blocks of `tpb` threads as have `ntasks` threads, some of which may be beyond.

        Without `tpb` blocks have 256 threads, or as many as launch_bounds allow.
        """
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or min(256, self._options["limits"][1] or 256)
        return self[-(-ntasks // threads), threads, stream, sharedmem] if ntasks else _launch_nothing

    def specialize(self, *args):
        """A kernel of its own for arguments like these, which tells numbers where others tell dicts.

        It is compiled now: for a GPU where launches run there, or one of the arguments is there.
        """
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        on_gpu = _core._launches_on_gpu() or any(hasattr(each, "__cuda_array_interface__") for each in args)
        key = tuple(map(_kind_of, args)), on_gpu
        made = self.specializations.get(key)
        if made is None:
            made = self._made_again()
            made._compile(args, on_gpu)
            made.specialized = True
            self.specializations[key] = made
        return made

    def _made_again(self):
        made = type(self)(self.py_func, self._source, self.extensions, **self._options)
        for name in ("_converters", "_key_of", "_texts_of", "_typeof"):
            if name in self.__dict__:
                setattr(made, name, self.__dict__[name])
        return made

    def _compile(self, arguments, on_gpu=False):
        """Compiles, for a GPU if it can be, and launches nothing."""
        arguments = self._prepared(self._extended(arguments, 0, []))
        given = (1, 1, 1), (1, 1, 1), 0, *(getattr(each, "_array", each) for each in arguments)
        if on_gpu:
            self._refusal = self._gpu_launcher._compile(given)
        if not on_gpu or self._refusal:
            self._launcher._compile(given)

    _typeof = staticmethod(type)

    def _extended(self, arguments, stream, after):
        """What the extensions make of the arguments; they append to `after` what is to be called behind the launch."""
        made = []
        for value in arguments:
            kind = self._typeof(value)
            for extension in reversed(self.extensions):
                kind, value = extension.prepare_args(kind, value, stream=stream, retr=after)
            made.append(value)
        return made

    def _prepared(self, arguments):
        """All arguments of a launch, in the types that its signature wants."""
        if len(arguments) != self._count:
            arguments = self._bound(arguments)
        if not self._converters:
            return arguments
        return tuple(
            each if convert is None or hasattr(each, "shape") else convert(each)
            for each, convert in zip(arguments, self._converters, strict=True)
        )

    def _bound(self, arguments):
        """The arguments with the defaults of those that are left out."""
        try:
            bound = self._signature.bind(*arguments)
        except TypeError:
            raise TypeError(
                f"{self.__name__}() takes {self._count} arguments, and {len(arguments)} were given"
            ) from None
        bound.apply_defaults()
        return bound.args

    @property
    def stats(self):
        """Calls and compilations by the types of arguments."""
        result = {}
        for launcher in self._compiled():
            for types_, counts in launcher.stats.items():
                result[types_] = _both(result[types_], counts) if types_ in result else counts
        return result

    def explain(self):
        """What was compiled, as text."""
        parts = [each.explain() for each in self._compiled()]
        if self._refusal:
            parts.append(f"on the CPU instead of the GPU: {self._refusal}\n")
        return "\n".join(parts) if parts else "nothing is compiled yet: launch the kernel"

    def _compiled(self):
        """The launchers that have compiled something."""
        ours = [self.__dict__[name] for name in ("_launcher", "_gpu_launcher") if name in self.__dict__]
        return [*self._of_blocks.values(), *ours]

    def _inspected(self):
        """The launcher that was used, and whether it is for GPUs."""
        on_gpu = "_gpu_launcher" in self.__dict__ and bool(self._gpu_launcher.signatures)
        if on_gpu:
            return self._gpu_launcher, True
        return next(iter(self._of_blocks.values()), None) or self._launcher, False

    def __repr__(self):
        return f"<kernel {self.__qualname__}>"


def jit(
    function=None,
    *,
    device=False,
    boundscheck=True,
    debug=False,
    fastmath=False,
    cache=True,
    max_registers=None,
    launch_bounds=None,
    lineinfo=False,
    extensions=None,
    link=None,
    **options,
):
    """Compiles a function as a kernel, which each thread of a grid of blocks runs: `kernel[grid, block](...)`.

    Inside of it `weft.cuda.grid(1)`, `threadIdx.x`, `shared.array`, `syncthreads()` and the others say which thread it
    is, and what it does with the threads of its block. A kernel returns nothing; what it writes into arrays is seen
    outside. The threads of a block run one after another on a core, and blocks on all cores. Where threads wait for
    each other, they take turns.

    Parameters
    ----------
    function : function
        The kernel; without one the result is a decorator.
    device : bool
        Whether it is a function that kernels call, with their threadIdx and so on, and that returns values. Its
        indices are checked where the kernel's are.
    boundscheck : bool
        Whether an index out of bounds raises IndexError (the default).
    debug : bool
        Whether indices are checked even if `boundscheck` says otherwise, and a division by zero raises
        ZeroDivisionError.
    fastmath : bool
        Whether sums and products of floats may be computed in another order; on a GPU, too, by instructions that
        multiply and add at once, and float32's division, root, sine, cosine, logarithm and power of 2 and e by the
        GPU's own approximations.
    cache : bool
        Whether the code is kept on disk for the next process.
    max_registers : int, optional
        The most registers of a GPU that a thread has.
    launch_bounds : int or tuple of int, optional
        The most threads that a block has, and how many blocks a GPU's multiprocessor shall hold at once.
    lineinfo : bool
        Whether code for a GPU names the program's lines, by which profilers tell where time goes.
    extensions : list, optional
        Objects with `prepare_args(type, value, stream=, retr=)`, which gives a type and what is launched in the place
        of each argument; the last object comes first. What it appends to `retr` is called behind the launch.
    link : str, path or list of such, optional
        CUDA C++ and code for GPUs with the functions of `declare_device` that the kernel calls.
    **options
        Of numba.cuda `inline`, `forceinline`, `opt`, `nogil` and `nopython` are taken and ask for nothing: all code is
        optimised, and functions are inlined on a GPU unless they call themselves.

    Returns
    -------
    Kernel
        What is indexed by its launch: `kernel[grid, block]`. Functions with `device` are as weft.jit makes them.

    Raises
    ------
    TypeError
        When an option is not known.
    NotImplementedError
        When an option asks for what weft has not, as another `error_model`.
    ValueError
        When a limit is no integer from 1 on, or is for a function with `device`.

    Examples
    --------
    >>> from weft import cuda
    >>> @cuda.jit
    ... def scale(a, factor):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] *= factor
    >>> a = np.arange(5.0)
    >>> scale[1, 32](a, 2.0)
    >>> a
    array([0., 2., 4., 6., 8.])
    """
    options |= {"boundscheck": boundscheck, "debug": debug, "fastmath": fastmath, "cache": cache}
    options |= {"max_registers": max_registers, "launch_bounds": launch_bounds, "extensions": extensions}
    options |= {"lineinfo": lineinfo, "link": link}
    options = options_of("weft.cuda.jit", device, options)

    def made(given):
        given = getattr(given, "py_func", given)
        if not isinstance(given, types.FunctionType):
            raise TypeError(f"weft.cuda.jit compiles Python functions, not {type(given).__name__}")
        return compiled(given, is_kernel=True, **options) if device else Kernel(given, **options)

    return made if function is None else made(function)
