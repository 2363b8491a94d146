"""The rest of Numba's names: what they do, and what they say where weft has not what they name."""

import runpy
import warnings

import numpy
import pytest
import weft
import weft.numba as numba
from weft.numba import njit, types


def test_missing_names_say_what_to_write():
    with pytest.raises(AttributeError, match=r"weft\.numba has no gdb yet; write WEFT_JIT=0"):
        _ = numba.gdb
    with pytest.raises(AttributeError, match="NamedTuple or a dataclass"):
        _ = numba.experimental.jitclass
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = numba.nonsense
    with pytest.raises(NotImplementedError, match="cfunc"):
        numba.cfunc("f8(f8)")


pair = numba.int64[::1]


def test_typed_lists_are_lists():
    @njit
    def collected(n):
        many = numba.typed.List.empty_list(pair)
        numbers = numba.typed.List()
        for i in range(n):
            many.append(numpy.full(2, i))
            numbers.append(i)
        return many, numbers

    many, numbers = collected(3)
    assert [a.tolist() for a in many] == [[0, 0], [1, 1], [2, 2]]
    assert numbers == [0, 1, 2]

    @njit
    def total(values):
        return sum(values)

    assert total(numba.typed.List([1, 2, 3])) == 6


def test_typed_dictionaries():
    @njit
    def f():
        return numba.typed.Dict.empty(numba.int64, numba.int64)

    assert f() == {}
    assert numba.typed.Dict.empty(numba.int64, numba.int64) == {}


def test_literal_unroll():
    @njit
    def total(values):
        result = 0.0
        for value in numba.literal_unroll(values):
            result += value
        return result

    assert total((1, 2.5, numpy.float32(0.5))) == 4.0


def test_register_jitable():
    @numba.extending.register_jitable
    def one(x):
        return x + 1

    @numba.extending.register_jitable(inline="always")
    def two(x):
        return one(x) + 1

    assert njit(lambda x: two(x))(1) == two(1) == 3


def test_overload_of_functions_that_are_python():
    def square(x):
        return x * x

    @numba.extending.overload(square, jit_options={"cache": True})
    def _(x):
        raise AssertionError("it is for Numba's compiler")

    assert njit(lambda x: square(x))(3) == 9


def test_overload_of_an_empty_function_is_compiled_for_the_types_of_its_arguments():
    def kind(x):
        """Nothing in Python."""

    def kind_of_array(x):
        return 10 + x.ndim

    @numba.extending.overload(kind)
    def _(x):
        if isinstance(x, types.Boolean):
            return lambda x: 1
        if isinstance(x, types.Integer):
            return lambda x: 2
        if isinstance(x, (types.Float, types.Complex)):
            return lambda x: 3 if isinstance(x, types.Float) else 4
        if isinstance(x, types.Array):
            return kind_of_array
        if isinstance(x, types.NoneType):
            return lambda x: 5
        if isinstance(x, types.BaseTuple):
            return lambda x: 6
        return lambda x: 7 if not isinstance(x, types.Number) else 8

    found = njit(lambda x: kind(x))
    values = [True, 3, numpy.int8(3), 2.5, numpy.float32(1), 1j, numpy.zeros((2, 2)), None, (1, 2.5), "text"]
    assert [found(x) for x in values] == [1, 2, 2, 3, 3, 4, 12, 5, 6, 7]


def test_overloads_choose_by_arguments_that_are_left_out():
    def draw(weights, size=None):
        pass

    @numba.extending.overload(draw)
    def _(weights, size=None):
        if isinstance(size, types.Integer):

            def several(weights, size=None):
                return weights[:size].sum()

            return several

        def one(weights, size=None):
            return weights[0]

        return one

    weights = numpy.array([1.0, 2.0, 4.0])
    assert njit(lambda w: draw(w))(weights) == 1.0
    assert njit(lambda w, n: draw(w, n))(weights, 2) == 3.0
    assert njit(lambda w: draw(w, size=3))(weights) == 7.0


def test_overloads_that_do_not_compile_say_where():
    def solve(a, b):
        """Solves."""

    @numba.extending.overload(solve)
    def _(a, b):
        return numba.core.missing(a)

    with pytest.raises(numba.TypingError, match="missing"):
        njit(lambda x: solve(x, x))(1)
    with pytest.raises(NotImplementedError, match="overload gives no code to len"):
        numba.extending.overload(len)


def test_intrinsics_are_refused_where_they_are_called():
    @numba.extending.intrinsic
    def popcount(context, x):
        """Counts."""

    with pytest.raises(numba.TypingError, match=r"popcount\(\) is an intrinsic"):
        njit(lambda x: popcount(x))(1)
    with pytest.raises(NotImplementedError, match="popcount"):
        popcount(1)


def test_threads():
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert numba.get_num_threads() == weft.config.num_threads == 1
        with pytest.raises(ValueError, match="between 1 and"):
            numba.set_num_threads(0)
        with pytest.raises(TypeError):
            numba.set_num_threads(1.5)
    finally:
        weft.config.num_threads = before


def test_chunk_sizes_are_kept():
    with numba.parallel_chunksize(4):
        assert numba.get_parallel_chunksize() == 4
    assert numba.get_parallel_chunksize() == 0


def test_warnings_are_warnings():
    with pytest.warns(numba.NumbaPerformanceWarning):
        warnings.warn("slow", numba.errors.NumbaPerformanceWarning, stacklevel=1)
    assert issubclass(numba.NumbaDeprecationWarning, DeprecationWarning)


def test_jit_module(tmp_path):
    path = tmp_path / "made.py"
    path.write_text(
        "from math import floor\n"
        "import weft.numba as numba\n"
        "def f(x):\n"
        "    return x + 1\n"
        "numba.jit_module(nopython=True)\n"
    )
    names = runpy.run_path(str(path))
    assert numba.extending.is_jitted(names["f"])
    assert names["f"](1) == 2
    assert not numba.extending.is_jitted(names["floor"])


def test_structref_is_an_object_in_python():
    from weft.numba.experimental import structref

    @structref.register
    class HeapType(numba.types.StructRef):
        pass

    class Heap(structref.StructRefProxy):
        pass

    structref.define_proxy(Heap, HeapType, ["indices", "flags"])
    assert Heap(1, 2).flags == 2


def test_names_of_core_are_modules():
    from weft.numba.core.errors import TypingError
    from weft.numba.core.types import Type

    assert TypingError is weft.CompileError
    assert Type is numba.types.Type


def test_cross2d():
    from weft.numba.np.extensions import cross2d

    a, b = numpy.arange(8.0).reshape(4, 2), numpy.array([3.0, -1.0])
    expected = a[:, 0] * b[1] - a[:, 1] * b[0]
    f = njit(lambda a, b: cross2d(a, b))
    assert f(a, b).tolist() == expected.tolist() == cross2d(a, b).tolist()
    assert f([1, 2], (4, 5)) == cross2d([1, 2], (4, 5)) == -3
    for given in (f, cross2d):
        with pytest.raises(ValueError, match="Incompatible dimensions for 2D cross product"):
            given(a, numpy.ones(3))
