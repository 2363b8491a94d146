"""weft.numba.jit: keywords, results, signatures and names as Numba's."""

import gc
import pickle
import subprocess
import sys
import weakref

import numpy
import pytest
import weft
import weft.numba as numba
from weft.numba import float64, int32, int64, njit, prange, typeof, types


@njit
def doubled(a):
    out = numpy.empty_like(a)
    for i in range(len(a)):
        out[i] = 2 * a[i]
    return out


def test_results_are_numpys_arrays():
    got = doubled(numpy.arange(3.0))
    assert type(got) is numpy.ndarray
    assert got.tolist() == [0.0, 2.0, 4.0]
    got[0] = 5.0  # its own memory, which may be written
    gc.collect()
    assert got[0] == 5.0


def test_results_are_wefts_where_an_argument_is():
    assert type(doubled(weft.arange(3.0))) is weft.ndarray


def test_arrays_without_arguments_are_numpys():
    @njit
    def zeros(n):
        return numpy.zeros((n, 2)), numpy.zeros(n, numpy.int32)

    two, one = zeros(3)
    assert (type(two), two.shape, one.dtype) == (numpy.ndarray, (3, 2), numpy.int32)


def test_an_argument_that_is_returned_is_itself():
    @njit
    def same(a):
        return a, a[1:]

    a = numpy.arange(4.0)
    whole, part = same(a)
    assert whole is a
    part[0] = 9.0
    assert a[1] == 9.0


def test_a_view_that_is_returned_keeps_the_memory():
    @njit
    def tail(a):
        return a[1:]

    got = tail(numpy.arange(1000.0))
    gc.collect()
    assert got.sum() == numpy.arange(1000.0).sum()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "uint64", "float32", "float64", "complex64", "bool"])
def test_numbers_are_pythons(dtype):
    @njit
    def first(a):
        return a[0], [a[0]]

    number, (listed,) = first(numpy.ones(1, dtype))
    kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[numpy.dtype(dtype).kind]
    assert type(number) is kind
    assert type(listed) is kind
    assert number == 1


def test_generators_give_numpys():
    @njit
    def rows(n):
        for i in range(n):
            yield numpy.full(2, numpy.float32(i))

    assert [type(row) for row in rows(2)] == [numpy.ndarray] * 2


def test_signatures_convert():
    @njit("float64(float64, int64)")
    def product(x, n):
        return x * n

    assert (product(3, 2.9), type(product(3, 2))) == (6.0, float)
    assert product(n=2, x=1) == 2.0
    assert product.signatures == ["(float, int) -> float"]


def test_the_result_is_converted():
    @njit("int32(float64)")
    def cut(x):
        return x

    assert cut(2.75) == 2
    assert cut(2.0**31) == -(2**31)


def test_arguments_wrap_as_in_c():
    @njit("uint8(uint8)")
    def same(x):
        return x

    assert [same(256), same(300), same(2**63), same(7.9)] == [0, 44, 0, 7]
    assert njit("uint64(uint64)")(lambda x: x)(2**63) == 2**63
    assert [njit("int8(int8)")(lambda x: x)(value) for value in (-1, 300, numpy.int64(129))] == [-1, 44, -127]
    assert njit("uint8(int64)")(lambda x: x)(-1) == 255  # a result is what the machine makes of it


def test_results_that_are_no_numbers():
    with pytest.raises(TypeError, match="the result is a NoneType, and the signature says int64"):
        njit("int64(float64)")(lambda x: None)(1.5)
    with pytest.raises(TypeError, match="the result is a tuple, and the signature says float64"):
        njit("float64(float64)")(lambda x: (x, x))(1.5)


@pytest.mark.parametrize("kind", "uint8 uint32 uint64 int8 int64".split())
def test_integers_that_no_machine_holds(kind):
    same = njit(f"{kind}({kind})")(lambda x: x)
    with pytest.raises(OverflowError, match="int too big to convert"):
        same(2**70)
    if kind[0] == "u":
        for value in (-1, numpy.int8(-1), -1.5):
            with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
                same(value)
    else:
        assert same(-1.5) == -1
        with pytest.raises(OverflowError, match="int too big to convert"):
            same(2**63)


def test_the_best_signature_is_taken():
    @njit([float64(float64), int64(int64), numba.complex128(numba.complex128)])
    def half(x):
        return x / 2 if isinstance(x, float) else x + x

    assert (half(3), half(3.0), half(3j)) == (6, 1.5, 6j)
    assert half(numpy.float32(3)) == 1.5
    assert half(numpy.int8(3)) == 6


def test_arrays_have_to_fit():
    @njit("void(f8[::1], i4)")
    def fill(a, n):
        for i in range(n):
            a[i] = i

    a = numpy.zeros(4)
    assert fill(a, 3) is None
    assert a.tolist() == [0, 1, 2, 0]
    for wrong in (numpy.zeros(8)[::2], numpy.zeros(4, "f4"), numpy.zeros((2, 2)), 1.0, [1.0]):
        with pytest.raises(
            TypeError, match=r"No matching definition for argument type\(s\) .*array\(float64, 1d, C\)"
        ):
            fill(wrong, 1)


def test_read_only_arrays_do_not_fit_where_they_may_be_written():
    read_only = numpy.zeros(3)
    read_only.flags.writeable = False

    @njit("f8(f8[:])")
    def first(a):
        return a[0]

    with pytest.raises(TypeError, match="No matching definition"):
        first(read_only)
    given = njit([float64(numba.types.Array(float64, 1, "A", readonly=True))])(first.py_func)
    assert given(read_only) == given(numpy.zeros(3)) == 0.0


def test_a_signature_of_another_length_is_refused():
    with pytest.raises(TypeError, match=r"f\(\) has 1 parameters, and its signature has 2"):

        @njit("f8(f8, f8)")
        def f(x):
            return x


def test_wrong_calls_have_cpythons_errors():
    @njit("f8(f8, f8)")
    def f(x, y=2.0):
        return x + y

    assert f(1) == 3.0
    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'x'"):
        f(y=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        f(1, z=1)


def test_compile_makes_code_before_a_call():
    @njit
    def f(a, t, n):
        return a[0] + t[0] + n

    f.compile("(f8[:, ::1][:], UniTuple(i8, 2), i4)" if False else "(f8[::1], UniTuple(i8, 2), f8)")
    (before,) = f.signatures
    f(numpy.zeros(1), (1, 2), 0.5)
    assert f.signatures == [before]


def test_errors_have_numbas_names():
    @njit
    def f(x):
        return x.nothing

    with pytest.raises(numba.TypingError, match="nothing"):
        f(1)
    with pytest.raises(numba.core.errors.TypingError):
        f(1)
    assert numba.errors.NumbaError is weft.CompileError


def test_prange_is_a_range_unless_it_is_asked_for():
    def carried(n):
        last = 0
        for i in prange(n):
            last = last * 2 + i
        return last

    assert njit(carried)(5) == carried(5)
    with pytest.raises(numba.TypingError, match="last"):
        njit(parallel=True)(carried)(5)


def test_fastmath_is_followed_where_it_may_reorder():
    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    a = numpy.random.default_rng(0).random(1003)
    assert njit(fastmath={"nnan"})(total)(a) == total(a)
    assert njit(fastmath={"reassoc", "nsz"}).func is not None
    assert "reassoc" in next(iter(_llvm(njit(fastmath={"reassoc"})(total), a)))
    assert "reassoc" not in next(iter(_llvm(njit(fastmath={"nnan"})(total), a)))


def test_fastmath_of_functions_with_signatures_holds_in_others():
    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    fast = njit("f8(f8[::1])", fastmath=True)(total)

    @njit
    def calls(a):
        return fast(a)

    a = numpy.random.default_rng(2).random(10_001)
    assert calls(a) == fast(a) != total(a)
    fast.targetoptions["fastmath"] = False
    fast.recompile()
    calls.recompile()
    assert calls(a) == fast(a) == total(a)


def _llvm(function, *arguments):
    function(*arguments)
    return function.inspect_llvm().values()


def test_keywords():
    for options in (
        {"nopython": True, "cache": True, "inline": "always", "locals": {"x": int32}, "debug": False},
        {"nogil": True, "error_model": "numpy", "boundscheck": None, "forceobj": False},
    ):
        assert njit(**options)(lambda x: x + 1)(1) == 2
    with pytest.raises(TypeError, match="no keyword 'nojit'"):
        njit(nojit=True)
    with pytest.raises(NotImplementedError, match="no object mode"):
        numba.jit(forceobj=True)


def test_error_model():
    divide = njit(error_model="numpy")(lambda x, y: x / y)
    assert divide(1.0, 0.0) == numpy.inf
    with pytest.raises(ZeroDivisionError):
        njit(divide.py_func)(1.0, 0.0)


def test_compiled_functions_call_each_other():
    @njit("i8(i8)")
    def inner(x):
        return x + 1

    @njit
    def outer(f, x):
        return f(x) + inner(x)

    assert outer(inner, 1) == 4


def test_methods():
    class Counted:
        @njit
        def add(self, n):
            return n + 1

    assert Counted.add(1, 2) == 3
    assert njit(njit(lambda x: x))(2) == 2


def test_inner_functions_may_be_decorated():
    @njit
    def outer(x):
        @njit
        def inner(y):
            return y + x

        return inner(2)

    assert outer(3) == 5


@njit("f8(f8)")
def of_the_module(x):
    return x


def test_signed_functions_are_pickled_and_collected():
    assert pickle.loads(pickle.dumps(of_the_module)) is of_the_module
    made = njit("f8(f8)")(lambda x: x)
    made(1)
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_nothing_of_it_is_loaded_with_weft():
    code = "import sys, weft; weft.arange(3); print([m for m in sys.modules if 'numba' in m.split('.')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_disable_jit():
    code = (
        "import weft.numba as numba\n"
        "@numba.njit('f8(f8)')\n"
        "def f(x):\n"
        "    return type(x).__name__\n"
        "print(f(1), numba.config.DISABLE_JIT)\n"
    )
    import os

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    assert done.stdout == "int 1\n"


def test_recompile_follows_changed_fastmath():
    @njit(fastmath={"reassoc", "nsz"})
    def back(x, y):
        return (x - y) + y

    assert back(0.1, 1e17) == 0.1
    back.targetoptions["fastmath"] = False
    back.recompile()
    assert back(0.1, 1e17) == 0.0
    back.targetoptions["fastmath"] = "reassoc"
    back.recompile()
    assert back(0.1, 1e17) == 0.1


def sum_of(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


PROMOTIONS = {
    "half": lambda x: x * 0.5,
    "twice": lambda x: 2 * x,
    "less": lambda x: 0.1 - x,
    "quotient": lambda x: x / 3,
    "rest": lambda x: x % 0.3,
    "power": lambda x: x**0.5,
    "square": lambda x: x**2,
    "compared": lambda x: x == 0.1,
    "own": lambda x: x + x,
}


@pytest.mark.parametrize("name", PROMOTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_numbers_of_python_have_64_bits_beside_shorter_floats(name, dtype):
    function, x = PROMOTIONS[name], numpy.dtype(dtype).type(0.1)
    if dtype == "complex64" and name == "rest":
        pytest.skip("no remainder of complex numbers")
    wide = x if name in ("square", "own") else x.astype("complex128" if dtype == "complex64" else "float64")
    got, expected = njit(function)(x), function(wide)
    numpy.testing.assert_allclose(got, expected, rtol=0 if dtype == "float32" and name != "power" else 1e-15)


def test_sums_from_a_literal_are_sums_of_float64():
    a = (numpy.random.default_rng(0).random(1000) * 1e6).astype("float32")
    exact = sum(map(float, a))
    assert njit(sum_of)(a) == exact
    assert weft.jit(sum_of, promotion="numba")(a) == exact
    assert weft.jit(sum_of)(a) == sum_of(a) != exact
    into = numpy.zeros(1, "float64")
    summed = numba.guvectorize(["void(float32[:], float64[:])"], "(n)->()")(into_first)
    assert summed(a) == exact
    into_first(a, into)
    assert weft.guvectorize(["void(float32[:], float64[:])"], "(n)->()")(into_first)(a) == into[0] != exact


def into_first(a, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    out[0] = total


def test_expressions_of_arrays_are_numpys():
    a = numpy.arange(4, dtype="float32")
    assert njit(lambda a: a * 0.5 + 2)(a).dtype == "float32"
    assert njit(lambda a: numpy.mean(a))(a) == numpy.float32(1.5)


def test_promotion_is_one_of_two():
    with pytest.raises(ValueError, match="promotion is 'numpy' or 'numba', not 'python'"):
        weft.jit(lambda x: x, promotion="python")


OF_INTEGERS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "left_shift": lambda x, y: x << y,
    "right_shift": lambda x, y: x >> y,
}
INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers_are_signed_where_one_is(name):
    compiled = njit(OF_INTEGERS[name])
    shifts = name.endswith("shift")
    for first in INTEGERS:
        for second in INTEGERS:
            is_unsigned = first[0] == "u" and (shifts or second[0] == "u")
            dtype = numpy.uint64 if is_unsigned else numpy.int64
            with numpy.errstate(over="ignore"):
                for x, y in [(5, 3), (3, 5), (100, 7)]:
                    expected = getattr(numpy, name)(dtype(x), dtype(y))
                    given = compiled(getattr(numpy, first)(x), getattr(numpy, second)(y))
                    assert (type(given), given) == (int, int(expected))
    assert compiled(numpy.uint64(7), 2) == int(getattr(numpy, name)(7, 2))
    plain = weft.jit(OF_INTEGERS["subtract"])
    assert plain(numpy.uint8(3), numpy.uint8(5)) == -2


@pytest.mark.parametrize("dtype", INTEGERS)
def test_signs_of_integers(dtype):
    negative, inverse = njit(lambda x: -x), njit(lambda x: ~x)
    limits = numpy.iinfo(dtype)
    with numpy.errstate(over="ignore"):
        for number in (5, 0, limits.max, limits.min):
            x = getattr(numpy, dtype)(number)
            assert [negative(x), inverse(x)] == [int(-x), int(~x)]
            assert type(negative(x)) is int


def test_memoryviews_in_signatures():
    @njit("int64(MemoryView(uint8, 1, 'C'), uint32)")
    def total(memory, n):
        found = n
        for i in range(len(memory)):
            found += memory[i]
        return found

    memory = memoryview(bytearray(b"abc"))
    assert total(memory, 1) == 295
    with pytest.raises(OverflowError):
        total(memory, -1)
    with pytest.raises(TypeError, match="No matching definition"):
        total(numpy.zeros(3, "u1"), 1)
    kind = types.MemoryView(types.uint8, 1, "C")
    assert str(kind) == "memoryview(uint8, 1d, C)" and typeof(memory) == kind


def test_truth_values_of_numpy_stay_so():
    inverse = njit("boolean(boolean)")(lambda x: ~x)
    assert [inverse(numpy.bool_(x)) for x in (False, True)] == [True, False]
    assert njit("int64(boolean)")(lambda x: ~x)(True) == -2
