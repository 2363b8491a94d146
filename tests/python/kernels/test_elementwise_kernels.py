"""ElementwiseKernel beside NumPy: dtypes, layouts, broadcasting, outputs, sizes, numbers, errors."""

import os
import subprocess
import sys

import numpy
import pytest
import weft as np

DTYPES = "? b B h H i I q Q e f d F D".split()
ADD = np.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add_two")


def _array(shape, dtype, seed=0):
    generator = numpy.random.default_rng(seed)
    values = generator.normal(0, 20, shape)
    if numpy.dtype(dtype).kind == "c":
        return (values + 1j * generator.normal(0, 20, shape)).astype(dtype)
    if numpy.dtype(dtype).kind == "u":
        values = numpy.abs(values)
    return values.astype(dtype)


def _same(found, expected):
    found = numpy.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    numpy.testing.assert_array_equal(found, expected)


def _layouts(array):
    """The same elements in other memory orders."""
    yield array
    yield numpy.asfortranarray(array)
    yield numpy.repeat(array, 2, axis=-1)[..., ::2]
    yield array[::-1].copy()[::-1]


@pytest.mark.parametrize("size", [5, 3000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype, size):
    x, y = _array(size, dtype), _array(size, dtype, 1)
    _same(ADD(np.array(x), np.array(y)), x + y)


@pytest.mark.parametrize("dtype", ["b", "f", "D"])
def test_layouts(dtype):
    x, y = _array((4, 6), dtype), _array((4, 6), dtype, 1)
    for one in _layouts(x):
        for other in _layouts(y):
            held, also = np.array(one, order="K"), np.array(other, order="K")
            _same(ADD(held, also), x + y)
            _same(ADD(held.T, also.T), (x + y).T)
            _same(ADD(held[1:, ::2], also[1:, ::2]), (x + y)[1:, ::2])


@pytest.mark.parametrize(
    "shapes", [((), ()), ((3,), ()), ((2, 1), (3,)), ((0, 3), (1, 3)), ((2, 3, 1), (1, 4))]
)
def test_broadcasting(shapes):
    x, y = (_array(shape, "f") for shape in shapes)
    _same(ADD(np.array(x), np.array(y)), numpy.asarray(x + y))


def test_results_are_in_c_order():
    x = np.asfortranarray(np.ones((3, 4)))
    assert ADD(x, x).flags.c_contiguous


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_take_the_type_of_arrays(dtype):
    x = numpy.ones(3, dtype)
    _same(ADD(np.array(x), 1), x + numpy.ones((), dtype))
    _same(ADD(np.array(x), numpy.float64(1)), x + numpy.ones((), dtype))
    _same(ADD(np.array(x), np.float32(1)), x + numpy.ones((), dtype))
    with np.device("cpu"):
        _same(ADD(True, np.array(x)), x + numpy.ones((), dtype))


@pytest.mark.parametrize("value", [-1, 2**32, 2**63 - 1, -(2**63), 2**64 - 1, 300])
@pytest.mark.parametrize("dtype", ["b", "B", "h", "I", "q", "Q"])
def test_integers_that_do_not_fit_wrap_around(value, dtype):
    x = numpy.arange(3).astype(dtype)
    wrapped = numpy.array([value % 2**64], "Q").astype(dtype)[0]
    _same(ADD(np.array(x), value), x + wrapped)


def test_a_float_for_an_integer_is_cut():
    _same(ADD(np.arange(3), 2.9), numpy.arange(3) + 2)


def test_given_outputs_are_written_and_returned():
    x, z = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    assert ADD(x, x[0], z) is z
    _same(z, numpy.arange(6.0).reshape(2, 3) + numpy.arange(3.0))
    view = np.zeros((4, 3))
    ADD(x, x, view[::2])
    _same(view, numpy.array([[0, 2, 4], [0, 0, 0], [6, 8, 10], [0, 0, 0]], float))


def test_outputs_may_be_read():
    more = np.ElementwiseKernel("T x", "T y", "y += x", "more")
    y = np.arange(4.0)
    more(np.ones(4), y)
    more(y, y)
    _same(y, numpy.array([2.0, 4, 6, 8]))
    some = np.ElementwiseKernel("T x", "T y", "if (x > 1) y = x;", "some")
    y = np.full(4, 9.0)
    some(np.arange(4.0), y)
    _same(y, numpy.array([9.0, 9, 2, 3]))


def test_several_outputs():
    both = np.ElementwiseKernel("T x", "T a, bool b", "a = -x; b = x > 1", "both")
    a, b = both(np.arange(3))
    _same(a, numpy.array([0, -1, -2]))
    _same(b, numpy.array([False, False, True]))


def test_placeholders_come_from_outputs_first():
    convert = np.ElementwiseKernel("X x", "Z z", "z = x", "convert")
    z = np.zeros(3, "h")
    convert(np.array([1.9, -1.9, 70000.0 - 65536]), z)
    _same(z, numpy.array([1, -1, 4464], "h"))
    with pytest.raises(TypeError, match="which type Z of 'z' is"):
        convert(np.arange(3))


def test_a_placeholder_is_a_type_in_the_body():
    kernel = np.ElementwiseKernel(
        "T x", "T y", "T half = x / 2; y = half * (T)2 + sizeof(T) + T(1.9);", "halves"
    )
    _same(kernel(np.array([5, 7])), numpy.array([5 // 2 * 2 + 9, 7 // 2 * 2 + 9]))
    _same(kernel(np.array([5, 7], "f")), numpy.array([5 + 4 + 1.9, 7 + 4 + 1.9], "f"))


def test_options_of_results():
    x = np.arange(3)
    assert np.ElementwiseKernel("T x", "T y", "y = x", no_return=True)(x) is None
    (y,) = np.ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)(x)
    _same(y, numpy.arange(3))


def test_the_position_and_the_size():
    kernel = np.ElementwiseKernel("T x", "int64 y", "y = i * 10 + n + _ind.size()", "positions")
    _same(kernel(np.zeros((2, 3), "f")), numpy.arange(6).reshape(2, 3) * 10 + 12)
    _same(np.ElementwiseKernel("", "int32 y", "y = i")(size=4), numpy.arange(4, dtype="i"))
    out = np.zeros((2, 2), "i")
    np.ElementwiseKernel("", "int32 y", "y = 7")(out)
    _same(out, numpy.full((2, 2), 7, "i"))


def test_the_preamble():
    kernel = np.ElementwiseKernel(
        "T x",
        "T y",
        "y = clamped(twice(x) + kShift, (T)LIMIT) + SQUARE(3)",
        preamble="""
            #define LIMIT 10   // the most
            #define SQUARE(v) ((v) * (v))
            const int kShift = 1;
            typedef long long word;
            __device__ inline word twice(word v) { return 2 * v; }
            template <typename T> __device__ T clamped(T v, T most) {
                if (v > most) return most;
                return v;
            }
        """,
    )
    _same(kernel(np.arange(8)), numpy.minimum(2 * numpy.arange(8) + 1, 10) + 9)


def test_loops():
    collatz = np.ElementwiseKernel(
        "int64 x",
        "int32 steps",
        """
        long long v = x;
        int count = 0;
        while (v > 1) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            if (++count >= 1000) break;
        }
        steps = count;
        """,
        "collatz",
    )

    def expected(v):
        count = 0
        while v > 1:
            v = 3 * v + 1 if v % 2 else v // 2
            count += 1
        return count

    _same(collatz(np.arange(1, 200)), numpy.array([expected(v) for v in range(1, 200)], "i"))


@pytest.mark.parametrize("size", [5, 5000])
def test_a_body_may_end_anywhere(size):
    kernel = np.ElementwiseKernel(
        "T x",
        "T y, T z",
        "if (x < 0) { y = -1; continue; }\nfor (int k = 0; k < 3; ++k) { if (x == k) return; y += k; }\nz = x;",
    )
    x = numpy.arange(size) % 7 - 2
    y, z = kernel(np.array(x))
    _same(y, numpy.select([x < 0, x == 0, x == 1, x == 2], [-1, 0, 0, 1], 3))
    _same(z, numpy.where(x > 2, x, 0))


def test_structures_and_vectors_of_cuda():
    kernel = np.ElementwiseKernel(
        "float32 x, float32 y",
        "float32 z",
        "float2 a = make_float2(x, y), b = {y, 1}; turn(&a, 3); z = dot(a, b) + lane(x > y, a, b).x;",
        preamble="""
        __device__ float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
        __device__ void turn(float2* v, int count) {
            while (count-- > 0) { float before = v->x; v->x = -v->y; v->y = before; }
        }
        __device__ const float2 lane(bool first, const float2& a, const float2& b) { return first ? a : b; }
        """,
    )
    x, y = _array(3000, "f"), _array(3000, "f", 1)
    ax, ay = y, -x  # three quarters of a turn
    expected = (ax * y + ay * numpy.float32(1)) + numpy.where(x > y, ax, y)
    _same(kernel(np.array(x), np.array(y)), expected)


def test_complex_numbers():
    z = numpy.array([1 + 2j, -3.5 + 0.25j, 0j], "F")
    kernel = np.ElementwiseKernel(
        "complex64 z",
        "complex64 w, float32 r",
        "w = z * conj(z) + complex<float>(z.imag(), 1) * 2.0f; r = z.real() + abs(z)",
    )
    w, r = kernel(np.array(z))
    numpy.testing.assert_allclose(w, z * z.conj() + (z.imag + 1j) * 2, rtol=1e-6)
    numpy.testing.assert_allclose(r, z.real + abs(z), rtol=1e-6)


@pytest.mark.parametrize("name", "sin cos exp log1p sqrt tanh erf cbrt log2 atan".split())
@pytest.mark.parametrize("dtype", ["f", "d", "i", "e"])
def test_math_functions(name, dtype):
    from weft.scipy import special

    x = numpy.array([0.25, 1, 2]).astype(dtype)
    function = getattr(special if name == "erf" else np, {"atan": "arctan"}.get(name, name))
    kernel = np.ElementwiseKernel("T x", "Y y", f"y = {name}(x)")
    wide = {"f": "f", "d": "d", "i": "d", "e": "f"}[dtype]
    y = np.zeros(3, wide)
    kernel(np.array(x), y)
    _same(y, numpy.asarray(function(np.array(x.astype(wide)))))


def test_calls_are_recorded_and_fused(device):
    x = np.arange(100_000.0)
    twice = np.ElementwiseKernel("T x", "T y", "y = 2 * x", "twice")
    result = np.sqrt(twice(x + 1)) - 1
    before = len(np.kernel_history())
    numpy.testing.assert_array_equal(result, numpy.sqrt(2 * (numpy.arange(100_000.0) + 1)) - 1)
    history = np.kernel_history()[before:]
    assert [one["name"] for one in history if "twice" in one["name"]] and len(history) <= 2
    assert not any(one["fallback"] for one in history)


@pytest.mark.parametrize("setting", [{"WEFT_FUSE": "0"}, {"WEFT_TIER": "block"}, {"WEFT_NUM_THREADS": "1"}])
def test_other_ways_give_the_same(setting):
    program = """
import numpy, weft as np
body = "y = x; for (int j = 0; j < k; ++j) { if (j == 5) continue; y = y * x + j; }"
kernel = np.ElementwiseKernel("T x, int32 k", "T y", body)
x, k = numpy.linspace(-1, 1, 50000), numpy.arange(50000, dtype="i") % 9
y = x.copy()
for j in range(9):
    if j != 5:
        y = numpy.where(j < k, y * x + j, y)
numpy.testing.assert_array_equal(numpy.asarray(kernel(np.array(x), np.array(k)) * 2), 2 * y)
"""
    subprocess.run([sys.executable, "-c", program], env=os.environ | setting, check=True)


class TestRaw:
    def test_reversed(self):
        kernel = np.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
        x, y = numpy.arange(5000.0), numpy.arange(5000.0) ** 2
        _same(kernel(np.array(x), np.array(y)), x + y[::-1])

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_all_raw(self, dtype):
        kernel = np.ElementwiseKernel("raw T x, raw T y", "raw T z", "z[i] = x[i] + y[i]", "all_raw")
        x, y = _array(100, dtype), _array(100, dtype, 1)
        _same(kernel(np.array(x), np.array(y), size=100), x + y)

    def test_other_layouts_are_indexed_in_c_order(self):
        kernel = np.ElementwiseKernel("raw T x", "raw T z", "z[n - 1 - i] = x[i]", "backwards")
        x = numpy.arange(12).reshape(3, 4)
        _same(kernel(np.array(x).T, size=12), x.T.ravel()[::-1])
        z = np.zeros((4, 3), "q")
        kernel(np.array(x), z.T, size=12)
        _same(z.T, x.ravel()[::-1].reshape(3, 4))

    def test_sizes_of_arrays(self):
        kernel = np.ElementwiseKernel(
            "raw T x", "int64 z", "z = x.size() * 100 + x.shape()[1] * 10 + x.ndim", "sizes"
        )
        _same(kernel(np.zeros((2, 3)), size=1), numpy.array([632]))

    def test_what_is_not_reached_is_not_read(self):
        kernel = np.ElementwiseKernel(
            "T x, raw T y", "T z", "z = i > 0 && y[i - 1] > 1 ? y[i - 1] : x", "before"
        )
        x = numpy.arange(5)
        _same(kernel(np.array(x), np.array(x)), numpy.array([0, 1, 2, 2, 3]))

    def test_atomics(self):
        kernel = np.ElementwiseKernel(
            "T x", "raw int32 counts", "atomicAdd(&counts[x], 1)", "count", no_return=True
        )
        x, counts = numpy.random.default_rng(0).integers(0, 7, 20000), np.zeros(7, "i")
        kernel(np.array(x), counts)
        _same(counts, numpy.bincount(x, minlength=7).astype("i"))

    def test_earlier_readers_keep_what_they_read(self):
        y = np.zeros(5000)
        later = y + 1
        np.ElementwiseKernel("T x", "raw T y", "y[i] = x")(np.arange(5000.0), y)
        _same(later, numpy.ones(5000))
        _same(y + 1, numpy.arange(5000.0) + 1)

    def test_indices_out_of_bounds(self):
        kernel = np.ElementwiseKernel("T x, raw T y", "T z", "z = y[i + 2]", "too_far")
        x = np.arange(5)
        with pytest.raises(
            IndexError, match=r"index [56] is out of bounds for 'y', in the operation of too_far, line 1"
        ):
            numpy.asarray(kernel(x, x))

    def test_an_input_is_not_written(self):
        with pytest.raises(np.CompileError, match="'x' is an input"):
            np.ElementwiseKernel("raw T x", "T y", "x[i] = 1; y = 0")(np.arange(3), size=3)

    def test_functions_take_pointers(self):
        preamble = """
            struct Extremes { double least, most; };
            __device__ Extremes extremes(const double* first, const double* last) {
                Extremes e = {*first, *first};
                for (const double* p = first + 1; p < last; ++p) {
                    if (*p < e.least) e.least = *p;
                    if (*p > e.most) e.most = *p;
                }
                return e;
            }
            __device__ void put(double* to, const Extremes& e) { *to++ = e.least; *to = e.most; }
        """
        kernel = np.ElementwiseKernel(
            "raw float64 x, int32 width", "raw float64 y",
            "if (i + width > x.size()) return;\nput(&y[2 * i], extremes(&x[i], &x[i] + width));",
            "slide", preamble=preamble,
        )  # fmt: skip
        x = _array(700, "d")
        y = np.full(1400, -1.0)
        kernel(np.array(x), 5, y, size=700)
        windows = numpy.lib.stride_tricks.sliding_window_view(x, 5)
        expected = numpy.full((700, 2), -1.0)
        expected[:696] = numpy.stack([windows.min(1), windows.max(1)], axis=1)
        _same(y, expected.ravel())

    def test_indices_behind_pointers_are_checked(self):
        kernel = np.ElementwiseKernel("raw T x", "T y", "const T* p = &x[i];\n++p;\ny = *p;", "one_too_many")
        with pytest.raises(
            IndexError, match="index 5 is out of bounds for 'x', in the operation of one_too_many, line 3"
        ):
            numpy.asarray(kernel(np.arange(5), size=5))

    def test_atomics_behind_pointers(self):
        kernel = np.ElementwiseKernel(
            "T x", "raw T y", "count(&y[x % 3], T(2));", "counts", preamble="template <class T> "
            "__device__ void count(T* at, T by) { if (by == 0) return; atomicAdd(at + 1, by); }",
        )  # fmt: skip
        y = np.zeros(4, "q")
        kernel(np.arange(3000), y)
        _same(y, numpy.array([0, 2000, 2000, 2000]))

    def test_many_operands(self):
        names = [f"x{k}" for k in range(20)]
        kernel = np.ElementwiseKernel(
            ", ".join(f"T {one}" for one in names), "T y", f"y = {' + '.join(names)}"
        )
        _same(kernel(*[np.full(3, k) for k in range(20)]), numpy.full(3, 190))


class TestErrors:
    def test_shapes(self):
        with pytest.raises(ValueError, match="Out shape is mismatched"):
            np.ElementwiseKernel("T x", "T y", "y += x")(np.zeros((3, 4)), np.zeros(4))
        with pytest.raises(ValueError, match="broadcast"):
            ADD(np.zeros(3), np.zeros(4))

    def test_sizes(self):
        with pytest.raises(ValueError, match=r"^Specified 'size' can"):
            ADD(np.zeros(3), 1.0, size=3)
        with pytest.raises(ValueError, match=r"^Loop size is undecided\."):
            ADD(1, 2)
        with pytest.raises(ValueError, match="size= is -1"):
            np.ElementwiseKernel("raw T x", "T y", "y = 0")(np.zeros(3), size=-1)
        with pytest.raises(ValueError, match="block_size is 0"):
            ADD(np.zeros(3), 1.0, block_size=0)

    def test_arguments(self):
        with pytest.raises(TypeError, match=r"Wrong number of arguments for add_two\(\): it takes 2, or 3"):
            ADD(np.zeros(3))
        with pytest.raises(TypeError, match="Type is mismatched"):
            ADD(np.zeros(3), np.zeros(3, "f"))
        with pytest.raises(TypeError, match="Type is mismatched"):
            np.ElementwiseKernel("float32 x", "T y", "y = x")(np.zeros(3), np.zeros(3))
        with pytest.raises(TypeError, match="is an output"):
            ADD(np.zeros(3), 1.0, 2.0)
        with pytest.raises(TypeError, match="is raw"):
            np.ElementwiseKernel("raw T x, T y", "T z", "z = y")(1.0, np.zeros(3))
        with pytest.raises(TypeError, match="others"):
            ADD(np.zeros(3), 1.0, others=1)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ("x", "it has a type and a name"),
            ("T i", "'i' is the position"),
            ("T x, T x", "two parameters are called 'x'"),
            ("deep T x", "'deep'"),
            ("T x y", "'T' in 'T x y'"),
        ],
    )
    def test_parameters(self, parameters, message):
        with pytest.raises((ValueError, TypeError), match=message):
            np.ElementwiseKernel(parameters, "T z", "z = 0")

    def test_names(self):
        with pytest.raises(ValueError, match="Invalid kernel name"):
            np.ElementwiseKernel("T x", "", "", "1")
        with pytest.raises(TypeError, match="'nmae'"):
            np.ElementwiseKernel("T x", "T y", "y = x", nmae="1")

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("y = x +", "an expression is missing at the end"),
            ("y = undefined", "the name 'undefined' is not known"),
            ("y = f(x)", r"the function f\(\) is not known"),
            ("x = 1", "'x' is an input, and is assigned to"),
            ("y = x % 2.0", "a double has no operator %"),
            ("float* p = 0", "a pointer is wanted here"),
            ("float a = 1; float* p = &a; y = p[1]", "leads to that one alone"),
            ("float a[2], b[2]; float* p = a; p = b", "a pointer leads into one array"),
            ("float a[2]; double* p = a", "'p' is a pointer to another type"),
            ("float a[2]; const float* p = a; *p = 1", "behind a pointer to const"),
            ("float a[2]; y = *(int*)a", "memory that is read as another type"),
            ("float a[2][2]; float* p = a", "pointers to rows of arrays"),
            ("float* p; y = *p", "'p' has no value yet"),
            ("double& r = 1.0", "'r' refers to nothing of its type"),
            ("double a = x; const double& r = a; r = 2", "is const, and is assigned to"),
            ("float2 v; y = v", "a number is wanted here"),
            ("float2 v; y = v.z", "a float2 has no member 'z'"),
            ("float2 v; v = v + v", "no operator\\+ takes these arguments"),
            ("float2 v = {1, 2, 3}", "a float2 has not so many members"),
            ("float a[n]", "the size of an array is a constant in the subset"),
            ("float a[2] = {1, 2, 3}", "there are more values than elements"),
            ("float a[9999]", "an array has 16384 bytes at most in the subset"),
            ("float a[2]; y = a", "'a' is an array: only its elements are numbers"),
            ("float a[2]; y = a[0][1]", "more indices than the array has axes"),
            ("const float a[2] = {1}; a[0] = 2", "'a' is const, and is assigned to"),
            ("switch (x) { case 0: y = 1; }", "switch takes an integer, not a double"),
            ("switch (1) { case 1: y = 1; break; case 2: case 0x1: y = 2; }", "each value of 'case' once"),
            ("switch (1) { default: y = 1; break; default: y = 2; }", "a switch has one 'default'"),
            ("goto end", "'goto' is outside of the subset"),
            ("return x", "the function gives nothing"),
            ("y = __shfl_sync(1, x, 2)", "is not known"),
            ("break", "there is no loop to leave"),
            ("int a; int a", "'a' is declared already"),
            ("y = 99999999999999999999", "more than 64 bits"),
            ("y = @", "a character that C"),
            ("y = complex<float>(1, 2)", "is no double"),
            ("#if __CUDA_ARCH__ > 700\ny = x\n#endif", "what __CUDA_ARCH__ is, is outside of the subset"),
            ('#include "mine.h"\ny = x', "the header mine.h"),
            ("if (x > 0 y = x", "'\\)' is missing before 'y'"),
        ],
    )
    def test_what_the_subset_has_not(self, body, message):
        with pytest.raises(np.CompileError, match=message) as raised, np.device("cpu"):
            np.ElementwiseKernel("float64 x", "float64 y", body, "wrong")(np.zeros(3))
        assert "the operation of wrong, line" in str(raised.value) and str(raised.value).endswith("^")

    def test_masked_comparisons_of_float16_in_vectors(self):
        """LLVM 19 to 21 turned one of them round where a CPU has comparisons of float16."""
        kernel = np.ElementwiseKernel(
            "int16 a, float16 b",
            "float64 z, int16 y",
            """
            int v1 = 0; while (v1++ < 3) {
            if (((bool)((a % ((y & 63) | 1))))) {
            }
            else {
            y += ((((~y) & a) & 1023) << (((v1 & 1023) >> (y & 7)) & 7));
            }
            y = (((y ^ 5u) + a) ^ ((b == 1u) ? v1 : 5u));
            y++;
            }
            y = (((!(a <= 2)) || (b >= 0)) ? (unsigned char)((unsigned char)(y)) : (y & y));
            int v2 = 0; while (v2++ < 3) {
            if ((round((double)(a)) >= z)) {
            y |= (((((y <= 3e2f) ? a : y) & 1023) >> (v2 & 7)) ^ (3 & 3));
            }
            }
            z = double((int)fminf(fmaxf((float)((z - b)), -100.0f), 100.0f));
            y ^= (unsigned char)((((5u + 3) & 1023) << (y & 7)));
            """,
            "masked",
        )
        a, b = np.full(40, -16210, np.int16), np.full(40, -0.19, np.float16)
        _, found = kernel(a, b, np.full(40, -5.95), np.full(40, -10466, np.int16))
        assert set(found.tolist()) == {6491}

    def test_the_caret_is_below_the_place(self):
        with pytest.raises(np.CompileError) as raised, np.device("cpu"):
            np.ElementwiseKernel("T x", "T y", "T a = x;\n  y = a + wrong;", "places")(np.zeros(3))
        assert str(raised.value).splitlines()[1:] == ["      y = a + wrong;", "              ^"]


def test_codes_are_kept_by_dtype():
    kernel = np.ElementwiseKernel("T x", "T y", "y = x", "kept")
    assert len(kernel._cached_codes) == 0
    kernel(np.zeros(3))
    kernel(np.ones(3))
    assert len(kernel.cached_codes) == 1 and "function @kept" in kernel.cached_code
    kernel(np.zeros(3, "f"))
    assert list(kernel.cached_codes) == [(np.dtype("d"),), (np.dtype("f"),)]


def test_what_is_told_of_parameters():
    kernel = np.ElementwiseKernel("T x, raw float32 y", "T z", "z = x")
    assert (kernel.nin, kernel.nout, kernel.nargs, kernel.name) == (2, 1, 3, "kernel")
    x, y = kernel.in_params
    assert (x.name, x.dtype, x.ctype, x.raw, x.is_const) == ("x", None, "T", False, True)
    assert (y.dtype, y.raw) == (np.dtype("float32"), True)
