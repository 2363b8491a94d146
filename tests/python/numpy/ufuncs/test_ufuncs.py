# ruff: noqa: B023
"""Every ufunc of the table, on every dtype, in every layout, against NumPy: shape, strides, dtype, value, errors."""

import warnings

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, exception_kind, outcome, to_weft, values

NAMES = sorted(
    name for name, ufunc in weft._core._ufuncs.items() if ufunc._is_numpy and ufunc.__name__ == name
)
# Bounds against NumPy, in units in the last place: weft's own bound and some for NumPy's error.
ULP_OF_NUMPY = 4


def numpy_ufunc(name):
    return getattr(numpy._core.umath, name)


def ulp_for(name, dtype):
    bound = weft._core._ufuncs[name]._max_ulp
    if dtype.kind == "c":
        return 64
    return 0 if bound <= 0.5 and name not in ("power", "float_power") else bound + ULP_OF_NUMPY


def inputs(name, dtype, count, seed=1):
    ufunc = numpy_ufunc(name)
    arrays = [values(dtype, count, seed + i) for i in range(ufunc.nin)]
    if name in ("power", "left_shift", "right_shift") and dtype.kind in "iu":
        arrays[1] = abs(arrays[1].astype("int64") % 7).astype(dtype)
    if name == "ldexp":
        arrays[1] = (numpy.arange(count) % 11 - 5).astype("i4")
    if dtype.kind == "c" or name in ("float_power", "power"):
        # Complex infinities and overflow are compared in tests of their own.
        arrays = [
            numpy.where(numpy.isfinite(a), a, 1).astype(a.dtype) if a.dtype.kind in "fc" else a
            for a in arrays
        ]
    return arrays


def layouts(arrays):
    yield "one axis", arrays
    yield "empty", [a[:0] for a in arrays]
    yield "no axis", [a[3].reshape(()) for a in arrays]
    yield "strided", [a[::2] for a in arrays]
    yield "reversed", [a[::-1] for a in arrays]
    yield "two axes", [a[:24].reshape(4, 6) for a in arrays]
    yield "Fortran", [a[:24].reshape(4, 6).T for a in arrays]
    yield "broadcast", [a[:6] if i else a[:24].reshape(4, 6)[:, :1] for i, a in enumerate(arrays)]
    yield (
        "mixed",
        [
            a[:24].reshape(2, 3, 4).transpose(2, 0, 1) if i else a[:24].reshape(4, 2, 3)
            for i, a in enumerate(arrays)
        ],
    )


def views_in_weft(arrays):
    """The same views of weft's arrays: layouts must not come from a copy."""
    results = []
    for a in arrays:
        base = a
        while base.base is not None:
            base = base.base
        whole = weft.asarray(base.copy())
        results.append(as_strided(whole, base, a))
    return results


def as_strided(whole, base, view):
    """`view` of `base`, made of `whole` by slicing and transposing."""
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // base.itemsize
    strides = [s // base.itemsize for s in view.strides]
    if view.ndim == 0:
        return whole[offset : offset + 1].reshape(())
    if view.size == 0:
        return whole[:0].reshape(view.shape)
    order = sorted(range(view.ndim), key=lambda axis: -abs(strides[axis]))
    if view.ndim == 1:
        step = strides[0]
        stop = offset + step * view.shape[0]
        return whole[offset : stop if stop >= 0 else None : step]
    # Dense in some order of the axes, maybe with a last axis cut to its first element.
    shape = [view.shape[axis] for axis in order]
    dense = [strides[axis] for axis in order]
    full_shape = [*shape[:-1], shape[-1]]
    if shape[-1] == 1 and dense[0] != 1:
        full_shape[-1] = dense[-2] if view.ndim > 1 else 1
    elif dense[-1] != 1:
        full_shape[-1] *= dense[-1]
    count = int(numpy.prod(full_shape))
    result = whole[offset : offset + count].reshape(full_shape)[..., : shape[-1]]
    return result.transpose(numpy.argsort(order).tolist())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_every_layout(name, dtype):
    ufunc, ours = numpy_ufunc(name), weft._core._ufuncs[name]
    for layout, arrays in layouts(inputs(name, dtype, 40)):
        expected = outcome(ufunc, *arrays)
        result = outcome(ours, *map(to_weft, arrays))
        if isinstance(expected, Exception):
            assert isinstance(result, Exception), (layout, result)
            assert exception_kind(result) == exception_kind(expected), (layout, result, expected)
            assert str(result) == str(expected)
            continue
        if isinstance(result, Exception):
            raise result
        assert_equal(result, expected, ulp=ulp_for(name, dtype))
        for one, other in zip(
            result if isinstance(result, tuple) else [result],
            expected if isinstance(expected, tuple) else [expected],
        ):
            if isinstance(other, numpy.ndarray) and other.size:
                assert one.strides == other.strides, layout


@pytest.mark.parametrize("name", NAMES)
def test_large_views_run_compiled_and_agree(name):
    """Work beyond the ahead-of-time loops, in views: reversed, strided, transposed."""
    ufunc, ours = numpy_ufunc(name), weft._core._ufuncs[name]
    for character in "lfd":
        dtype = numpy.dtype(character)
        arrays = inputs(name, dtype, 9001)
        for cut in (slice(None), slice(None, None, -1), slice(1, None, 2)):
            expected = outcome(ufunc, *(a[cut] for a in arrays))
            if isinstance(expected, Exception):
                continue
            result = ours(*(weft.asarray(a)[cut] for a in arrays))
            if name.startswith("logaddexp"):
                # Near zero both cancel; beside the operands the error is small.
                numpy.testing.assert_allclose(
                    result, expected, rtol=0, atol=64 * numpy.finfo(expected.dtype).eps
                )
                continue
            assert_equal(result, expected, ulp=ulp_for(name, dtype))


@pytest.mark.parametrize("name", NAMES)
def test_out_where_and_dtype(name):
    ufunc, ours = numpy_ufunc(name), weft._core._ufuncs[name]
    for character in "ld":
        dtype = numpy.dtype(character)
        arrays = inputs(name, dtype, 24)
        expected = outcome(ufunc, *arrays)
        if isinstance(expected, Exception):
            continue
        expected = expected if isinstance(expected, tuple) else (expected,)
        mask = numpy.arange(24) % 3 == 0
        numpy_out = tuple(numpy.full(24, 7, e.dtype) for e in expected)
        weft_out = tuple(weft.full(24, 7, e.dtype) for e in expected)
        outcome(lambda: ufunc(*arrays, out=numpy_out, where=mask))
        returned = ours(*map(to_weft, arrays), out=weft_out, where=to_weft(mask))
        returned = returned if isinstance(returned, tuple) else (returned,)
        for one, out, other in zip(returned, weft_out, numpy_out):
            assert one is out
            assert_equal(out, other, ulp=ulp_for(name, dtype))
        # Positional out, in a view.
        numpy_out = tuple(numpy.zeros(48, e.dtype) for e in expected)
        weft_out = tuple(weft.zeros(48, e.dtype) for e in expected)
        for out, e in zip(numpy_out, expected):
            out[::2] = e  # NumPy 2.4 itself writes isnan wrongly into a strided output on AVX-512
        ours(*map(to_weft, arrays), *(o[::2] for o in weft_out))
        for out, other in zip(weft_out, numpy_out):
            assert_equal(out, other, ulp=ulp_for(name, dtype))


@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    ufunc, ours = numpy_ufunc(name), weft._core._ufuncs[name]
    assert ours.__name__ == ufunc.__name__
    assert (ours.nin, ours.nout, ours.nargs) == (ufunc.nin, ufunc.nout, ufunc.nargs)
    assert ours.identity == ufunc.identity
    assert ours.ntypes == len(ours.types)
    assert repr(ours) == repr(ufunc)
    # NumPy's loops on weft's types, each of which weft has.
    wanted = {t for t in ufunc.types if not set(t) & set("OgGmMqQ")}
    if name not in ("ldexp",):
        missing = wanted - {t.replace("q", "l").replace("Q", "L") for t in ours.types}
        assert not missing


PAIRS = [(a, b) for a in DTYPES for b in DTYPES]


@pytest.mark.parametrize(
    "name",
    ["add", "divide", "floor_divide", "power", "less", "bitwise_and", "left_shift", "arctan2", "logical_and"],
)
def test_mixed_dtypes(name):
    ufunc, ours = numpy_ufunc(name), weft._core._ufuncs[name]
    for left, right in PAIRS:
        a = numpy.array([1, 2, 3]).astype(left)
        b = numpy.array([2, 1, 2]).astype(right)
        expected, result = outcome(ufunc, a, b), outcome(ours, to_weft(a), to_weft(b))
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected), (left, right, result)
            assert str(result) == str(expected)
        else:
            assert result.dtype == expected.dtype, (left, right)
            assert_equal(result, expected, ulp=64)


@pytest.mark.parametrize(
    "scalar", [True, 0, 1, -1, 2, 255, 300, -129, 2**31, 2**63, 2**64, 1.5, -0.0, 1e300, 1j], ids=repr
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_python_scalars(dtype, scalar):
    array = numpy.array([1, 0, 1]).astype(dtype)
    ours = to_weft(array)
    for name in ("add", "multiply", "less", "equal", "maximum", "divide"):
        ufunc = getattr(numpy, name)
        for expected, result in (
            (outcome(ufunc, array, scalar), outcome(getattr(weft, name), ours, scalar)),
            (outcome(ufunc, scalar, array), outcome(getattr(weft, name), scalar, ours)),
        ):
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected), (name, expected, result)
                assert str(result) == str(expected)
            elif expected.dtype == object:
                assert isinstance(result, (TypeError, OverflowError))
            else:
                assert_equal(result, expected, ulp=4)


def test_reduce_and_outer():
    x = numpy.arange(1, 7).reshape(2, 3)
    for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or"):
        assert_equal(getattr(weft, name).reduce(to_weft(x)), getattr(numpy, name).reduce(x))
        assert_equal(
            getattr(weft, name).reduce(to_weft(x), axis=None), getattr(numpy, name).reduce(x, axis=None)
        )
    assert_equal(weft.multiply.outer(to_weft(x), [1, 2]), numpy.multiply.outer(x, [1, 2]))


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.add(1),
        lambda np: np.add(1, 2, 3, 4),
        lambda np: np.add([1, 2], [1, 2, 3]),
        lambda np: np.add([1], [1], bad=1),
        lambda np: np.add(np.array([1.0]), np.array([1]), out=np.zeros(2, "i1")),
        lambda np: np.add(np.zeros(3), 1, out=np.zeros(2)),
        lambda np: np.add(np.zeros(3), 1, out=[0]),
        lambda np: np.add(np.zeros(3), 1, out=(np.zeros(3), np.zeros(3))),
        lambda np: np.add(np.zeros(3), 1, casting="bad"),
        lambda np: np.add(np.zeros(3), 1, dtype="i8"),
        lambda np: np.sin(np.zeros(3), order="Q"),
        lambda np: np.bitwise_and(np.zeros(3), 1),
        lambda np: np.subtract(np.array([True]), np.array([True])),
        lambda np: np.negative(np.array([True])),
        lambda np: np.power(np.array([2]), -1),
        lambda np: np.power(np.array([2]), np.array([-1])),
        lambda np: np.floor_divide(np.array([1j]), 2),
        lambda np: np.add(np.array([1], "u1"), 300),
        lambda np: np.add(np.array([1], "u1"), -1),
        lambda np: np.divmod(np.ones(2), 1, out=np.zeros(2)),
    ],
)
def test_errors(call):
    expected, result = outcome(call, numpy), outcome(call, weft)
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected), (result, expected)
    assert str(result) == str(expected)


def test_lists_and_numpy_arrays_are_operands():
    assert_equal(weft.add([1, 2], (3.0, 4.0)), numpy.add([1, 2], (3.0, 4.0)))
    x = numpy.arange(3, dtype="f4")
    assert_equal(weft.asarray(x) + x, x + x)
    mixed = x + weft.asarray(x)
    assert isinstance(mixed, weft.ndarray)
    assert_equal(mixed, x + x)
    assert_equal(weft.asarray(x) + numpy.float64(1), x + numpy.float64(1))
    assert_equal(numpy.float32(1) + weft.asarray(x), numpy.float32(1) + x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_nextafter_of_zeros_keeps_the_sign_that_numpy_keeps(dtype):
    """Of float16 NumPy gives the first of two zeros, of wider ones the second."""
    x = numpy.array([-0.0, 0.0, -0.0, 0.0] * 9, dtype)
    y = numpy.array([0.0, -0.0, -0.0, 0.0] * 9, dtype)
    result = numpy.asarray(weft.nextafter(weft.array(x), weft.array(y)))
    assert numpy.array_equal(numpy.signbit(result), numpy.signbit(numpy.nextafter(x, y)))


@pytest.mark.parametrize("exponent", [3, 3.0, numpy.float32(3), [3.0]], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers_by_three_are_products(dtype, exponent):
    """In every way into a call, and as near to the exact cube as NumPy's within two roundings."""
    tiny, huge = numpy.finfo(dtype).tiny, numpy.finfo(dtype).max
    values = [-numpy.inf, numpy.inf, -0.0, 0.0, numpy.nan, -2.5, 3.1, tiny, huge, numpy.cbrt(huge) * 0.99, 7]
    base = numpy.concatenate([values, numpy.random.default_rng(3).normal(size=3000)]).astype(dtype)
    power = weft.asarray(exponent, dtype) if isinstance(exponent, list) else exponent
    if isinstance(exponent, list) and power.device.type == "cuda":
        pytest.skip("an exponent in a GPU's memory is not looked at")
    array, mask = weft.asarray(base), weft.asarray(numpy.arange(base.size) % 3 == 0)
    with numpy.errstate(all="ignore"):
        product = base * base * base
        exact = numpy.power(base.astype(numpy.longdouble), 3)
        distance = numpy.abs(product - exact) / numpy.spacing(numpy.abs(product)).astype(numpy.longdouble)
    assert numpy.nanmax(numpy.where(numpy.isfinite(product), distance, 0)) < 2
    out, in_place = weft.zeros_like(array), array.copy()
    weft.power(array, power, where=mask, out=out)
    in_place **= power
    for ours in (array**power, weft.power(array, power), in_place, weft.power(array, power, dtype=dtype)):
        assert ours.dtype == base.dtype
        assert ours.tobytes() == product.tobytes() or numpy.array_equal(ours, product, equal_nan=True)
    assert numpy.array_equal(out, numpy.where(mask, product, 0).astype(dtype), equal_nan=True)


@pytest.mark.parametrize("exponent", [-1, 0.5, 2, 1, 0, numpy.float32(0.5), [0.5], [[-1.0]]], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4"])
@pytest.mark.parametrize("shape", [(), (1,), (11,), (3, 4), (3000,)], ids=str)
def test_powers_by_one_exponent(shape, dtype, exponent):
    """NumPy's loops of float32 and float64 take the reciprocal, the root or the square, as bits show and -inf
    and -0 by 0.5 do; its scalars' operators do not."""
    values = [-numpy.inf, numpy.inf, -0.0, 0.0, numpy.nan, -2.5, 3.1, 1e-30, 1e20, 7, -1]
    with numpy.errstate(all="ignore"):
        base = numpy.resize(numpy.arange(1, 12) if dtype == "i4" else values, shape).astype(dtype)
    if dtype == "i4" and exponent == -1:
        pytest.skip("an error, of which another test asks")
    if isinstance(exponent, list) and weft.empty(1).device.type == "cuda":
        pytest.skip("an exponent in a GPU's memory is not looked at")
    if isinstance(exponent, list) and len(shape) < 2 and numpy.prod(shape) == 1:
        pytest.skip("NumPy's strides of operands of one element depend on how it steps over them")

    def program(np):
        power = numpy.array(exponent) if isinstance(exponent, list) else exponent
        power = np.asarray(power) if isinstance(exponent, list) else power
        array = np.asarray(base)
        out = np.empty(np.broadcast_shapes(array.shape, numpy.shape(exponent)), np.power(array, power).dtype)
        mask = numpy.resize([True, False, True], out.shape)
        return [
            np.power(array, power),
            array**power,
            np.power(array, power, out=out),
            np.power(array, power, where=np.asarray(mask), out=np.zeros_like(out)),
            np.power(array, power, dtype="f8"),
        ]

    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = program(numpy), program(weft)
    for theirs, ours in zip(expected, actual, strict=True):
        assert_equal(ours, theirs, ulp=0 if dtype != "f2" and abs(numpy.max(exponent)) in (0.5, 1, 2) else 4)


def test_powers_of_scalars_by_operators_are_powers():
    infinity = numpy.float64(-numpy.inf)
    with numpy.errstate(all="ignore"):
        assert numpy.isnan(numpy.power(infinity, 0.5)) and infinity**0.5 == numpy.inf
    assert numpy.isnan(weft.power(weft.float64(infinity), 0.5))
    assert weft.float64(infinity) ** 0.5 == numpy.inf
    assert weft.float32(infinity) ** 0.5 == numpy.inf


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("size", [1000, 65536])  # by ahead-of-time loops, and by a kernel
def test_integer_quotients_beside_whole_numbers(name, dtype, size):
    """Quotients go through floating point where that is exact: multiples of the divisor, their neighbours, the ends."""
    ends = numpy.iinfo(dtype)
    r = numpy.random.default_rng(size)
    y = r.integers(ends.min, ends.max, size, dtype, endpoint=True) >> r.integers(0, ends.bits, size).astype(
        dtype
    )
    x = r.integers(ends.min, ends.max, size, dtype, endpoint=True)
    with numpy.errstate(all="ignore"):
        x[::2] = (x // y * y + r.integers(-1, 2, size).astype(dtype))[::2]
        x[:9], x[9:18], y[:3] = ends.min, ends.max, [0, 1, ends.max]
        y[3:6] = -1 if ends.min < 0 else ends.max
        expected = getattr(numpy, name)(x, y)
    assert numpy.array_equal(getattr(weft, name)(weft.array(x), weft.array(y)), expected)
