"""Reductions along axes, and functions that show arrays with other axes, beside NumPy."""

import numpy
import pytest
import weft

DTYPES = ["?", "i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]
NAMES = ["sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax"]
AXES = [
    "0",
    "1",
    "-1",
    "axis=2",
    "axis=-2",
    "None",
    "axis=0, keepdims=True",
    "axis=-1, keepdims=True",
    "keepdims=True",
]
TOLERANCE = {"e": 2e-2, "f": 1e-5, "F": 1e-5}


def compiled(text, **names):
    source = f"f = lambda a, *more: {text}"
    names["np"] = numpy
    exec(source, names)
    return weft.jit(names["f"], source=source), names["f"]


def same(found, expected):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype.kind in "fc":
        rtol = TOLERANCE.get(found.dtype.char, 1e-12)
        numpy.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
    else:
        assert numpy.array_equal(found, expected)


def numbers(shape, dtype):
    values = numpy.random.default_rng(7).standard_normal(shape) * 3
    with numpy.errstate(all="ignore"):
        return numpy.abs(values).astype(dtype) if numpy.dtype(dtype).kind in "?u" else values.astype(dtype)


def layouts(shape, dtype):
    yield numbers(shape, dtype)
    yield numbers(shape[::-1], dtype).T
    yield numbers(tuple(2 * n for n in shape), dtype)[tuple(slice(None, None, -2) for _ in shape)]
    if len(shape) == 3:
        yield numbers((shape[1], shape[0], shape[2]), dtype).swapaxes(0, 1)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", NAMES)
def test_along_axes(name, axis):
    form = f"np.{name}(a, {axis})" if len(axis) % 2 else f"a.{name}({axis})"
    f, plain = compiled(form)
    for dtype in DTYPES if axis in ("0", "-1") else ("i2", "f8"):
        if numpy.dtype(dtype).kind == "c" and name in ("min", "max", "argmin", "argmax"):
            continue
        if dtype == "f2" and name == "prod":
            continue  # whose order decides whether it overflows
        for a in layouts((3, 4, 5), dtype):
            with numpy.errstate(all="ignore"):
                same(f(a), plain(a))


@pytest.mark.parametrize("name", NAMES)
def test_of_few_axes_and_of_many_elements(name):
    for axis, shape in [
        ("0", (300,)),
        ("axis=0, keepdims=True", (7,)),
        ("0", (400, 3)),
        ("1", (3, 400)),
        ("1", (2, 1)),
    ]:
        f, plain = compiled(f"np.{name}(a, {axis})")
        for dtype in ("i2", "f8"):
            for a in layouts(shape, dtype):
                with numpy.errstate(all="ignore"):
                    same(f(a), plain(a))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.filterwarnings("ignore")
def test_of_no_elements(name, shape):
    a = numpy.zeros(shape)
    for axis in (0, 1):
        f, plain = compiled(f"np.{name}(a, axis={axis})")
        try:
            expected = plain(a)
        except ValueError:
            with pytest.raises(ValueError, match=r"zero-size|empty"):
                f(a)
        else:
            same(f(a), expected)


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "sum", "any", "mean"])
def test_of_nans(name):
    a = numpy.arange(24.0).reshape(4, 6)
    a[1, 2] = a[3, 2] = a[0, 5] = numpy.nan
    for axis in ("0", "1", "None"):
        f, plain = compiled(f"np.{name}(a, {axis})")
        same(f(a), plain(a))
        same(f(a.T), plain(a.T))


def test_sums_have_numpys_bits():
    for shape, axis in [((1000, 37), 0), ((37, 1000), 1), ((9, 11, 500), 2), ((300, 5, 40), 0)]:
        a = numpy.random.default_rng(3).standard_normal(shape)
        f, plain = compiled(f"np.sum(a, axis={axis})")
        assert numpy.array_equal(numpy.asarray(f(a)), plain(a))


@pytest.mark.parametrize(
    "text", ["a.sum(axis=(0, 2))", "a.mean((0, -1), keepdims=True)", "np.max(a, axis=(2, 1, 0))"]
)
def test_several_axes(text):
    f, plain = compiled(text)
    for a in layouts((3, 4, 5), "f8"):
        same(f(a), plain(a))


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(a * a + 1, axis=1)",
        "(a - np.mean(a, axis=0)) / np.std(a, axis=0)",
        "np.exp(a - np.max(a, axis=-1, keepdims=True)).sum(axis=-1)",
        "np.var(a, axis=0, ddof=1)",
        "np.std(a, ddof=1)",
        "np.sum(np.sum(a, axis=0)[1:])",
        "np.amax(a, 1) - np.amin(a, 1)",
    ],
)
def test_in_expressions(text):
    f, plain = compiled(text)
    for a in layouts((30, 4), "f8"):
        same(f(a), plain(a))


def test_the_axis_may_be_a_default():
    def f(a, axis=1, keepdims=False):
        return np.sum(a, axis=axis, keepdims=keepdims)

    a = numpy.arange(12.0).reshape(3, 4)
    assert np.jit(f)(a).tolist() == a.sum(1).tolist()
    assert np.jit(f)(a, 0).tolist() == a.sum(0).tolist()


np = weft


@pytest.mark.parametrize(
    "text, message",
    [
        ("np.sum(a, axis=2)", "axis 2 is out of bounds for array of dimension 2"),
        ("a.max(axis=(0, 0))", "duplicate value in 'axis'"),
        ("np.max(a, axis=0, dtype=np.float32)", "takes no keyword 'dtype'"),
        ("np.transpose(a, (0, 0))", "axes don't match array"),
        ("np.flip(a, 5)", "axis 5 is out of bounds"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(np.CompileError, match=message):
        compiled(text)[0](numpy.ones((2, 3)))


@pytest.mark.parametrize(
    "text",
    [
        "np.reshape(a, (4, -1))",
        "np.reshape(a, 60)",
        "np.ravel(a)",
        "np.transpose(a)",
        "np.transpose(a, (2, 0, 1))",
        "a.transpose(1, 2, 0)",
        "a.transpose((0, 2, 1))",
        "np.swapaxes(a, 0, -1)",
        "a.swapaxes(1, 2)",
        "np.moveaxis(a, 0, -1)",
        "np.expand_dims(a, 1)",
        "np.expand_dims(a, axis=-1)",
        "np.flip(a)",
        "np.flip(a, 1)",
        "np.flip(a, axis=-1)",
        "np.flipud(a)",
        "np.fliplr(a)",
        "np.outer(a, a[0, 0])",
        "np.outer(a[0, :, 0], a[0, 0])",
    ],
)
def test_other_axes(text):
    f, plain = compiled(text)
    for dtype in ("?", "i2", "f8", "c8"):
        for a in layouts((3, 4, 5), dtype):
            same(f(a), plain(a))
    same(
        f(numpy.zeros((0, 4, 5)) if "4, -1" not in text and "60" not in text and "[0" not in text else a),
        plain(numpy.zeros((0, 4, 5)) if "4, -1" not in text and "60" not in text and "[0" not in text else a),
    )


def test_flipped_arrays_are_views():
    def f(a):
        np.flip(a)[0, 0] = 7
        np.fliplr(a)[0, 0] = 8
        np.swapaxes(a, 0, 1)[1, 0] = 9

    a, b = numpy.zeros((2, 3)), numpy.zeros((2, 3))
    np.jit(f)(a)
    b[-1, -1], b[0, -1], b[0, 1] = 7, 8, 9
    assert a.tolist() == b.tolist()


@np.jit
def least_and_most(a):
    return np.min(a), np.max(a), a.min(), a.max()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8"])
@pytest.mark.parametrize("count", [1, 7, 31, 32, 33, 40, 47, 129])
def test_least_and_most_of_rows(count, dtype):
    values = numpy.random.default_rng(count).integers(0, 200, count).astype(dtype)
    for place in range(count):
        given = numpy.roll(values, place)
        assert least_and_most(given) == (given.min(), given.max()) * 2
        assert least_and_most(numpy.repeat(given, 2)[::2]) == (given.min(), given.max()) * 2
        if given.dtype.kind == "f":
            given[place] = numpy.nan
            assert all(found != found for found in least_and_most(given))


@pytest.mark.parametrize(
    "axes", [(0, 1), (-3, 0, 3), (3, 3), (0, 0), (0, 1, 2, 0), (0, 1, 2, 3, 4), (-1, 1, 0), ()]
)
def test_axes_that_are_known_at_run_time_are_refused_as_by_numpy(axes):
    def total(a, axes):
        return a.sum(axis=axes)

    def told(function, a):
        try:
            return numpy.asarray(function(a, axes)).tolist()
        except ValueError as error:
            return type(error).__name__, str(error)

    a = numpy.arange(24).reshape(2, 3, 4)
    assert told(weft.jit(total), a) == told(total, a)
