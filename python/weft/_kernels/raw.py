"""Kernels in CUDA C++: RawKernel and RawModule, with CuPy's signatures."""

import errno
import operator
import os

from weft import _core

_BACKENDS = ("nvrtc", "nvcc")
_ATTRIBUTES = (
    "binary_version cache_mode_ca const_size_bytes local_size_bytes max_threads_per_block num_regs ptx_version "
    "shared_size_bytes"
).split()


# cuComplex.h has a name for each precision; translated sources use one for both.
_CU_COMPLEX = "#include <cuComplex.h>\n" + "".join(
    f"static __device__ __inline__ {result} {name}({', '.join(f'cuFloatComplex {each}' for each in arguments)}) "
    f"{{ return {name}f({', '.join(arguments)}); }}\n"
    for name, result, arguments in (
        ("cuCreal", "float", "a"),
        ("cuCimag", "float", "a"),
        ("cuCabs", "float", "a"),
        ("cuConj", "cuFloatComplex", "a"),
        ("cuCadd", "cuFloatComplex", "ab"),
        ("cuCsub", "cuFloatComplex", "ab"),
        ("cuCmul", "cuFloatComplex", "ab"),
        ("cuCdiv", "cuFloatComplex", "ab"),
        ("cuCfma", "cuFloatComplex", "abc"),
    )
)


def _translated(code, is_wanted):
    """The source as it is compiled; its lines keep their numbers."""
    return f"{_CU_COMPLEX}#line 1\n{code}" if is_wanted else code


def _texts(given, what):
    """A tuple of texts."""
    texts = () if given is None else tuple(given)
    if isinstance(given, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{what} is a tuple of str, not {given!r}")
    return texts


def _backend(given):
    if given not in _BACKENDS:
        raise ValueError(f"backend is 'nvrtc' or 'nvcc', not {given!r}")
    return given


class RawKernel(_core._RawKernel):
    """A kernel in CUDA C++, compiled by NVRTC at its first use and kept on disk.

    It is called with a grid, a block and the kernel's arguments: `kernel(grid, block, args, *, shared_mem=0,
    stream=None)`. Arguments are arrays on a GPU: weft's, which are evaluated, CuPy's, PyTorch's. Python's numbers
    become what the parameter is; NumPy's scalars and structures must be what it is. None is a null pointer. Nothing is
    launched where they do not fit the kernel's parameters.

    Parameters
    ----------
    code : str
        The source.
    name : str
        Of the kernel; of a template with its arguments: "scale<float>".
    options : tuple of str
        For the compiler: "-use_fast_math", "-maxrregcount=32", "-DN=3", "-I...".
    backend : {'nvrtc', 'nvcc'}
        The compiler. nvcc has to be installed.
    translate_cucomplex : bool
        The functions of cuComplex.h take complex numbers of both precisions by one name: cuCadd, not only cuCaddf.
    jitify : bool
        Without effect: CUDA's own headers are found.
    enable_cooperative_groups : bool
        All blocks of a launch run at once, so that the grid may wait for itself.

    Raises
    ------
    weft.exceptions.CompileError
        At the first use, with the compiler's first errors. Its `log` has all.

    Examples
    --------
    >>> scale = np.RawKernel(r'''
    ... extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] = factor * x[i];
    ... }''', 'scale')
    >>> scale.name
    'scale'

    On a machine with a GPU::

        x = np.arange(1000, dtype=np.float32, device="cuda")
        y = np.empty_like(x)
        scale((4,), (256,), (x, y, 2.5, x.size))
    """

    def __init__(
        self,
        code,
        name,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        *,
        enable_cooperative_groups=False,
        jitify=False,
    ):
        if not isinstance(code, str) or not isinstance(name, str):
            raise TypeError("code and name are str")
        options = _texts(options, "options")
        # What is no plain name is looked up as an expression.
        expressions = () if name.isidentifier() or _backend(backend) == "nvcc" else (name,)
        compiled = _translated(code, translate_cucomplex)
        super().__init__(
            compiled, name, options, expressions, _backend(backend), bool(enable_cooperative_groups)
        )
        self.code, self.options, self.backend = code, options, backend
        self._translates = bool(translate_cucomplex)
        self.file_path, self._module = None, None
        self.enable_cooperative_groups = bool(enable_cooperative_groups)

    def __repr__(self):
        return f"<weft.RawKernel {self.name}>"

    def __reduce__(self):
        if self._module is not None:
            return RawModule.get_function, (self._module, self.name)
        first = (self.code, self.name, self.options, self.backend, self._translates)
        return _kernel_again, (*first, self.enable_cooperative_groups)

    def compile(self, log_stream=None):
        """Compiles the kernel for the current device now, if that is not done, and loads it there.

        Parameters
        ----------
        log_stream : file, optional
            The compiler's warnings are written to it.
        """
        log = self._compile(-1)
        if log_stream is not None:
            log_stream.write(log)

    @property
    def attributes(self):
        """What the kernel takes on the current device, by name: registers, bytes of each kind of memory, versions."""
        return self._attributes(-1)

    @property
    def parameters(self):
        """The kernel's parameters, as texts where the source or the kernel's symbol tells them, with their bytes."""
        return self._parameters(-1)

    @property
    def max_dynamic_shared_size_bytes(self):
        """The most bytes of shared memory that a launch may ask for; may be set, and is raised by launches itself."""
        return self.attributes["max_dynamic_shared_size_bytes"]

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, bytes):
        self._set_most_shared(operator.index(bytes))

    @property
    def preferred_shared_memory_carveout(self):
        """How many percent of a multiprocessor's memory shall be shared memory; -1: as the driver thinks best."""
        return self.attributes["preferred_shared_memory_carveout"]

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent):
        self._set_carveout(operator.index(percent))

    def suggest(self, count=None, *, shared_mem=0):
        """A grid and a block with which the device is full.

        Parameters
        ----------
        count : int, optional
            How many threads are needed; the grid has as many blocks as these need.
        shared_mem : int
            Bytes of shared memory that the launch will ask for.

        Returns
        -------
        tuple of int
            Blocks, and threads of each.
        """
        return self._suggest(count, shared_mem, -1)


for _name in _ATTRIBUTES:
    setattr(
        RawKernel,
        _name,
        property(lambda self, name=_name: self.attributes[name], doc=f"`attributes[{_name!r}]`."),
    )


def _kernel_again(code, name, options, backend, translates, cooperative):
    return RawKernel(code, name, options, backend, translates, enable_cooperative_groups=cooperative)


def _module_again(code, path, options, backend, translates, cooperative, expressions):
    return RawModule(
        code,
        path=path,
        options=options,
        backend=backend,
        translate_cucomplex=translates,
        enable_cooperative_groups=cooperative,
        name_expressions=expressions,
    )


class RawModule:
    """CUDA C++ with several kernels and variables, or machine code from files.

    Parameters
    ----------
    code : str or list of str
        A source, or several, which are linked; they have to be compiled for that ("-rdc=true" or "-dlto").
    path : str or list of str
        In the place of `code`: files with a cubin, a fatbin, PTX, LTO-IR or a library. nvJitLink links LTO-IR, and what
        is more than one file.
    options, backend, translate_cucomplex, enable_cooperative_groups, jitify
        As of `RawKernel`.
    name_expressions : sequence of str
        Templates and functions to be found by these names: ["scale<float>", "scale<double>"].

    Examples
    --------
    >>> module = np.RawModule(code=r'''
    ... template <class T> __global__ void scale(T* x, T factor) { x[threadIdx.x] *= factor; }
    ... __constant__ float table[16];
    ... ''', name_expressions=["scale<float>", "scale<double>"])
    >>> module
    <weft.RawModule of CUDA C++>

    On a machine with a GPU::

        module.get_function("scale<float>")((1,), (32,), (x, 2.0))
        module.get_global("table").view(np.float32)[...] = 1
    """

    def __init__(
        self,
        code=None,
        *,
        path=None,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        enable_cooperative_groups=False,
        name_expressions=None,
        jitify=False,
    ):
        if (code is None) == (path is None):
            raise TypeError("exactly one of code and path must be given")
        self.options = _texts(options, "options")
        self.name_expressions = _texts(name_expressions, "name_expressions")
        self.backend = _backend(backend)
        if self.name_expressions and backend == "nvcc":
            raise ValueError(
                "name_expressions are for backend='nvrtc': nvcc does not tell the symbols of templates"
            )
        self.code, self.file_path = code, path
        self._translates = bool(translate_cucomplex)
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        sources = [] if code is None else [code] if isinstance(code, str) else list(code)
        paths = [] if path is None else [path] if isinstance(path, str | os.PathLike) else list(path)
        for each in paths:
            if not os.path.exists(each):
                missing = f"{os.strerror(errno.ENOENT)} (CUDA_ERROR_FILE_NOT_FOUND)"
                raise FileNotFoundError(errno.ENOENT, missing, os.fspath(each))
        self._module = _core._raw_module(
            tuple(_translated(each, translate_cucomplex) for each in _texts(sources, "code")),
            [os.fspath(each) for each in paths],
            self.options,
            self.name_expressions,
            backend,
            self.enable_cooperative_groups,
            "module.cu",
        )

    def __repr__(self):
        return f"<weft.RawModule of {'CUDA C++' if self.code is not None else self.file_path}>"

    def __reduce__(self):
        """The source or the files' paths travel, not what variables of the module hold."""
        return _module_again, (
            self.code,
            self.file_path,
            self.options,
            self.backend,
            self._translates,
            self.enable_cooperative_groups,
            self.name_expressions,
        )

    def compile(self, log_stream=None):
        """As `RawKernel.compile`."""
        log = self._module._compile(-1)
        if log_stream is not None:
            log_stream.write(log)

    def get_function(self, name):
        """The kernel of this name, which is an `extern "C"` name, a name that is not overloaded, or one of the name
        expressions. Raises ValueError with the names there are."""
        kernel = RawKernel.__new__(RawKernel)
        _core._RawKernel.__init__(kernel, self._module._function(name))
        kernel.code, kernel.options, kernel.backend = None, self.options, self.backend
        kernel.file_path, kernel._module, kernel._translates = self.file_path, self, self._translates
        kernel.enable_cooperative_groups = self.enable_cooperative_groups
        return kernel

    def get_global(self, name):
        """The memory of a `__device__` or `__constant__` variable on the current device, as an array of uint8.

        `.view(dtype)` gives its elements. A variable in a namespace needs the name expression "&name".
        """
        return self._module._global(name, -1)

    def machine_code(self):
        """The module's machine code for the current device, as bytes: a cubin. In a file, `path` takes it."""
        return self._module._machine_code(-1)

    def function_names(self):
        """The names of the module's kernels."""
        return self._module._function_names(-1)
