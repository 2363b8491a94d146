"""Functions in CUDA C++ that kernels in Python call: what they are given, what is linked, and what is refused."""

import gc
import textwrap

import numpy
import pytest
import weft as np
from on_gpu import needs_fake_driver, needs_gpu, run, run_failing
from weft import cuda
from weft.exceptions import CompileError, DeviceError
from weft.numba import types

SOURCE = cuda.CUSource(
    r"""
extern "C" __device__ int mul(float* r, float a, float b) { *r = a * b; return 0; }
extern "C" __device__ double twice(double x) { return 2 * x; }
extern "C" __device__ int total(float* r, const float* a, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[i];
    *r = s;
    return 0;
}
extern "C" __device__ int fails(int* r, int x) { *r = x; return x == 3 ? 1 : x == 2 ? -2 : 0; }
extern "C" __device__ short narrow(signed char a, unsigned char b, short c) { return (short)(a + b + c); }
extern "C" __device__ bool is_odd(unsigned long long x) { return x % 2 == 1; }
extern "C" __device__ void put(double* a, int i, double v) { a[i] = v; }
extern "C" __device__ int nothing(void* r, int* a) { a[0] += 1; return 0; }
extern "C" __device__ int product(float2* r, const float2* a, const float2* b) {
    r->x = a->x * b->x - a->y * b->y;
    r->y = a->x * b->y + a->y * b->x;
    return 0;
}
""",
    "functions.cu",
)


def _run_file(folder, program, run=run, **environment):
    """As `run`, of a file, since kernels need their text."""
    path = folder / "program.py"
    path.write_text("import weft as np\nfrom weft import cuda\n" + textwrap.dedent(program))
    printed, _ = run(f"import runpy\nrunpy.run_path({str(path)!r}, globals())", **environment)
    return printed.splitlines()


def declared(name, sig, **options):
    return cuda.declare_device(name, sig, **({"link": SOURCE} | options))


@needs_gpu
@pytest.mark.parametrize("sig", ["float32(float32, float32)", types.float32(types.float32, types.float32)])
def test_a_function_is_given_numbers(sig):
    mul = declared("mul", sig)

    @cuda.jit
    def kernel(r, a):
        i = cuda.grid(1)
        if i < r.size:
            r[i] = mul(a[i], i)

    with np.device("cuda"):
        a, r = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernel[4, 32](r, a)
    assert r.tolist() == [float(i * i) for i in range(100)]


@needs_gpu
def test_a_function_returns_its_result_by_c():
    twice = declared("twice", "float64(float64)", abi="c")

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = twice(a[i]) + twice(1)

    with np.device("cuda"):
        a = np.arange(5.0)
    kernel[1, 32](a)
    assert a.tolist() == [2, 4, 6, 8, 10]


@needs_gpu
def test_narrow_integers_keep_their_signs():
    narrow = declared("narrow", "int16(int8, uint8, int16)", abi="c")
    is_odd = declared("is_odd", "boolean(uint64)", abi="c")

    @cuda.jit
    def kernel(r, odd, a, b, c):
        i = cuda.grid(1)
        if i < r.size:
            r[i] = narrow(a[i], b[i], c[i])
            odd[i] = is_odd(r[i] + 2**62)

    given = [[-100, -1, 5], [200, 255, 0], [-3, 1000, -32768]]
    with np.device("cuda"):
        a, b, c = (
            np.asarray(values, dtype=dtype) for values, dtype in zip(given, ["i1", "u1", "i2"], strict=True)
        )
        r, odd = np.zeros(3, np.int16), np.zeros(3, bool)
    kernel[1, 3](r, odd, a, b, c)
    assert r.tolist() == [97, 1254, -32763]
    assert odd.tolist() == [True, False, True]


@needs_gpu
def test_an_array_stands_for_where_it_begins():
    total = declared("total", "float32(CPointer(float32), int32)")
    put = declared("put", "void(CPointer(float64), int32, float64)", abi="c")

    @cuda.jit
    def kernel(r, a, places):
        i = cuda.grid(1)
        if i < r.size:
            r[i] = total(a[i], a.shape[1])
        if i < places.size:
            put(places, i, i / 2)

    with np.device("cuda"):
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        r, places = np.zeros(3, np.float32), np.zeros(4)
        before = places + 0
    kernel[1, 32](r, a, places)
    assert r.tolist() == [6, 22, 38]
    assert places.tolist() == [0, 0.5, 1, 1.5]
    assert before.tolist() == [0, 0, 0, 0]


@needs_gpu
def test_arrays_of_a_thread_and_of_a_block_are_given():
    total = declared("total", "float32(CPointer(float32), int32)")

    @cuda.jit
    def kernel(r):
        own = cuda.local.array(3, np.float32)
        shared = cuda.shared.array(4, np.float32)
        i = cuda.threadIdx.x
        for k in range(3):
            own[k] = i + k
        shared[i] = i
        cuda.syncthreads()
        r[i, 0] = total(own, 3)
        r[i, 1] = total(shared, 4)

    with np.device("cuda"):
        r = np.zeros((4, 2), np.float32)
    kernel[1, 4](r)
    assert r.tolist() == [[3, 6], [6, 6], [9, 6], [12, 6]]


@needs_gpu
def test_from_buffer_of_cffi_stands_for_the_array():
    ffi = pytest.importorskip("cffi").FFI()
    total = declared("total", "float32(CPointer(float32), int32)")

    @cuda.jit
    def kernel(r, a):
        r[0] = total(ffi.from_buffer(a), len(a))

    with np.device("cuda"):
        a, r = np.ones(7, np.float32), np.zeros(1, np.float32)
    kernel[1, 1](r, a)
    assert r.tolist() == [7]


@needs_gpu
def test_complex_numbers_go_by_pointers():
    product = declared("product", "complex64(CPointer(complex64), CPointer(complex64))")

    @cuda.jit
    def kernel(r, a, b):
        i = cuda.grid(1)
        if i < r.size:
            r[i] = product(a[i:], b[i:])

    with np.device("cuda"):
        a = np.asarray([1 + 2j, 3j], dtype=np.complex64)
        b = np.asarray([2 - 1j, 1 + 1j], dtype=np.complex64)
        r = np.zeros(2, np.complex64)
    kernel[1, 2](r, a, b)
    assert r.tolist() == [4 + 3j, -3 + 3j]


@needs_gpu
def test_functions_with_device_call_them_and_bring_what_is_linked():
    mul = cuda.declare_device("mul", "float32(float32, float32)")

    @cuda.jit(device=True, link=[SOURCE])
    def cube(x):
        return mul(mul(x, x), x)

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = cube(a[i])

    with np.device("cuda"):
        a = np.arange(4, dtype=np.float32)
    kernel[1, 4](a)
    assert a.tolist() == [0, 1, 8, 27]


@needs_gpu
def test_a_function_without_a_result():
    nothing = declared("nothing", "void(CPointer(int32))")

    @cuda.jit
    def kernel(a):
        nothing(a)

    with np.device("cuda"):
        a = np.zeros(1, np.int32)
    kernel[1, 1](a)
    assert a.tolist() == [1]


@needs_gpu
def test_a_status_that_is_not_0_is_an_error_and_the_device_stays_usable():
    fails = declared("fails", "int32(int32)")

    @cuda.jit
    def kernel(r, first):
        i = first + cuda.grid(1)
        r[i] = fails(i)

    with np.device("cuda"):
        r = np.zeros(4, np.int32)
    kernel[1, 3](r, 0)  # -2 is Numba's None
    assert r.tolist() == [0, 1, 2, 0]
    kernel[1, 1](r, 3)
    with pytest.raises(RuntimeError, match=r"fails\(\) of CUDA C\+\+ returned a status"):
        cuda.synchronize()
    with np.device("cuda"):
        assert (np.arange(3) + 1).tolist() == [1, 2, 3]


@needs_gpu
def test_files_are_linked_and_read_again_when_they_change(tmp_path):
    header, source = tmp_path / "factor.h", tmp_path / "scaled.cu"
    header.write_text("#define FACTOR 3\n")
    source.write_text('#include "factor.h"\nextern "C" __device__ int scaled(int x) { return FACTOR * x; }\n')

    def result():
        scaled = cuda.declare_device("scaled", "int32(int32)", link=source, abi="c")

        @cuda.jit
        def kernel(r):
            r[0] = scaled(5)

        with np.device("cuda"):
            r = np.zeros(1, np.int32)
        kernel[1, 1](r)
        return r.tolist()

    assert result() == [15]
    header.write_text("#define FACTOR 4\n")
    assert result() == [20]


@needs_fake_driver
def test_a_source_is_compiled_once_for_several_kernels_and_kept(tmp_path, new_cache):
    program = """
        source = cuda.CUSource('extern "C" __device__ int one(int x) { return x + 1; }')
        one = cuda.declare_device("one", "int32(int32)", link=source, abi="c")
        def made(k):
            @cuda.jit
            def kernel(r):
                r[0] = one(r[0]) + k
            return kernel
        for k in range(2):
            kernel = made(k)
            r = np.zeros(1, np.int32, device="cuda")
            kernel[1, 1](r)
            print(r.tolist(), "earlier" in kernel.explain())
        if "calls" in globals():
            print(calls("nvrtcCompileProgram"), calls("nvJitLinkComplete"))
    """
    first = _run_file(tmp_path, program, run_failing)
    assert first == ["[1] False", "[2] False", "1 2"]
    assert _run_file(tmp_path, program, run_failing) == ["[1] True", "[2] True", "0 0"]


@needs_gpu
def test_a_wrong_source_is_an_error_with_its_line():
    source = cuda.CUSource('extern "C" __device__ int wrong(int x) {\n  return y;\n}\n', "wrong.cu")
    wrong = cuda.declare_device("wrong", "int32(int32)", link=source, abi="c")

    @cuda.jit
    def kernel(r):
        r[0] = wrong(r[0])

    with np.device("cuda"):
        r = np.zeros(1, np.int32)
    with pytest.raises(CompileError, match=r"wrong\.cu[(:]2.*"):
        kernel[1, 1](r)


@needs_gpu
def test_a_wrong_file_is_named_with_its_line(tmp_path):
    source = tmp_path / "broken.cu"
    source.write_text('extern "C" __device__ int broken(int x) {\n  return y;\n}\n')
    broken = cuda.declare_device("broken", "int32(int32)", link=source, abi="c")

    @cuda.jit
    def kernel(r):
        r[0] = broken(r[0])

    with np.device("cuda"):
        r = np.zeros(1, np.int32)
    with pytest.raises(CompileError, match=r"broken\.cu[(:]2.*"):
        kernel[1, 1](r)


@needs_gpu
def test_a_function_of_two_signatures_is_not_linked():
    one = declared("twice", "float64(float64)", abi="c")
    other = declared("twice", "float64(int32)", abi="c")

    @cuda.jit
    def kernel(r):
        r[0] = one(1.0) + other(1)

    with np.device("cuda"):
        r = np.zeros(1)
    kernel[1, 1](r)  # on the CPU, where each call has its own code
    assert r.tolist() == [4]
    assert "two functions of other machine code with the name @twice" in kernel.explain()


@needs_gpu
def test_a_function_that_nothing_has_is_named():
    missing = cuda.declare_device("missing", "int32(int32)", link=SOURCE, abi="c")

    @cuda.jit
    def kernel(r):
        r[0] = missing(r[0])

    with np.device("cuda"):
        r = np.zeros(1, np.int32)
    with pytest.raises(DeviceError, match=r"missing"):
        kernel[1, 1](r)
    alone = cuda.declare_device("alone", "int32(int32)", abi="c")

    @cuda.jit
    def other(r):
        r[0] = alone(r[0])

    with pytest.raises(CompileError, match=r"alone\(\) .*nothing is linked"):
        other[1, 1](r)


def _raises(function, given, match):
    @cuda.jit
    def kernel(r, x):
        r[0] = function(x)

    with np.device("cuda"):
        r = np.zeros(1, np.int32)
        given = np.asarray(given) if isinstance(given, numpy.ndarray) else given
    with pytest.raises(CompileError, match=match):
        kernel[1, 1](r, given)


@needs_gpu
def test_other_arguments_are_refused_with_the_line():
    fails = declared("fails", "int32(int32)")
    _raises(fails, 1.5, r"argument 1 of fails\(\) is declared as int32, and .*float")
    _raises(fails, numpy.zeros(3, numpy.int32), r"declared as int32, and .*array")
    nothing = declared("nothing", "int32(CPointer(int32))")
    _raises(nothing, 5, r"declared as int32\*, and .*int")
    _raises(nothing, numpy.zeros(3, numpy.float32), r"declared as int32\*, and .*array")
    with np.device("cuda"):
        steps = np.zeros((4, 4), np.int32)[:, ::2]
    _raises(nothing, steps, r"do not lie side by side")

    @cuda.jit
    def kernel(r):
        r[0] = fails(1, 2)

    with np.device("cuda"):
        r = np.zeros(1, np.int32)
    with pytest.raises(CompileError, match=r"fails\(\) takes"):
        kernel[1, 1](r)


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        (("f", "float16(int32)"), TypeError, "float16"),
        (("f", "int32(complex64)"), TypeError, "pointer"),
        (("f", "complex64(int32)"), None, ""),
        (("f", "int32"), TypeError, "no signature"),
        (("f", "CPointer(int32)(int32)"), TypeError, "pointers that functions return"),
        (("f", "unicode_type(int32)"), TypeError, "unicode_type"),
        (("f", 3), TypeError, "no signature"),
        (("f g", "int32(int32)"), TypeError, "symbol"),
        ((3, "int32(int32)"), TypeError, "symbol"),
    ],
)
def test_declarations_are_checked(arguments, error, match):
    if error is None:
        assert cuda.declare_device(*arguments).name == "f"
        return
    with pytest.raises(error, match=match):
        cuda.declare_device(*arguments)


def test_options_of_declarations_are_checked(tmp_path):
    with pytest.raises(ValueError, match="abi is 'numba' or 'c'"):
        cuda.declare_device("f", "int32(int32)", abi="pascal")
    with pytest.raises(NotImplementedError, match=r"cg\.this_grid"):
        cuda.declare_device("f", "int32(int32)", use_cooperative=True)
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.cu"):
        cuda.declare_device("f", "int32(int32)", link=tmp_path / "absent.cu")
    with pytest.raises(TypeError, match="link= takes paths"):
        cuda.declare_device("f", "int32(int32)", link=3)
    with pytest.raises(TypeError, match="str or bytes"):
        cuda.CUSource(3)


@needs_fake_driver
@pytest.mark.parametrize(
    "call", ["nvrtcCompileProgram", "nvJitLinkCreate", "nvJitLinkAddData", "nvJitLinkComplete"]
)
def test_what_fails_is_an_error_and_the_next_launch_works(tmp_path, call):
    program = f"""
        source = cuda.CUSource('extern "C" __device__ int one(int x) {{ return x + 1; }}')
        one = cuda.declare_device("one", "int32(int32)", link=source, abi="c")
        @cuda.jit
        def kernel(r):
            r[0] = one(r[0])
        r = np.zeros(1, np.int32, device="cuda")
        with fails("{call}"):
            print(error_of(lambda: kernel[1, 1](r)) != "")
        kernel[1, 1](r)
        print(r.tolist())
    """
    assert _run_file(tmp_path, program, run_failing, WEFT_CACHE="0") == ["True", "[1]"]


@needs_gpu
def test_many_kernels_leave_no_sources_behind():
    from weft.cuda import _external

    for number in range(3 * _external._MOST_KEPT):
        _external.linked_parts([cuda.CUSource(f"// {number}\n")])
    gc.collect()
    assert len(_external._parts) <= _external._MOST_KEPT
