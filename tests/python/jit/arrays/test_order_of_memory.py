"""Results of compiled functions lie in memory as NumPy's do: as the arrays that they are made of."""

import numpy
import pytest
import weft

np = weft
# Of arrays `a` and `b` of one shape, `v` of its last axis, `m` of three dimensions and `x` of one.
TEXTS = [
    "a + 1",
    "-a * 2 + abs(a)",
    "a + b",
    "(a + b) * a",
    "a * (b + 1) - v",
    "v * a",
    "a + a[:, :1]",
    "a[:1] * b",
    "a[:, None] * b[None]",
    "a[::-1] + 1",
    "a[:, ::2] * 2",
    "a[::2, ::-1] + 0",
    "a.T + b.T",
    "a.T * v[:, None]",
    "np.sqrt(a)",
    "np.maximum(a, b)",
    "np.where(a > 2, a, b)",
    "np.where(a > 2, 1, b)",
    "np.where(a > 2, v, 0)",
    "np.clip(a, 1, v)",
    "a > b",
    "np.round(a, 1)",
    "np.nan_to_num(a)",
    "np.modf(a)",
    "np.isclose(a, b)",
    "a.copy()",
    "a.T.copy()",
    "np.copy(a)",
    "np.array(a)",
    "a.astype(np.float32)",
    "np.asarray(a, dtype=np.complex128)",
    "np.empty_like(a)",
    "np.zeros_like(a)",
    "np.ones_like(a.T)",
    "np.full_like(m, 2)",
    "np.ascontiguousarray(a)",
    "np.asfortranarray(a)",
    "a.flatten()",
    "a.flatten('F')",
    "m.ravel(order='F')",
    "np.ravel(m, 'F')",
    "a.copy('F')",
    "m.copy(order='C')",
    "np.copy(m, order='F')",
    "np.copy(a, 'C')",
    "np.array(m, order='F')",
    "np.array(a, dtype=np.float32, order='C')",
    "np.zeros((2, 3, 4), order='F')",
    "np.full((2, 3), 1.5, order='F')",
    "np.ones_like(m, order='F')",
    "np.zeros_like(m, order='C')",
    "np.reshape(m, (6, -1), order='F')",
    "m.reshape(2, -1, 2, order='F')",
    "a.reshape((3, 8), order='F')",
    "a.ravel()",
    "np.broadcast_to(v, (4, v.size)) + 1",
    "np.copy(np.broadcast_to(v, (4, v.size)))",
    "m + 1",
    "m * 2 + m[:1]",
    "m.T + m.T",
    "np.swapaxes(m, 0, 1) - 1",
    "np.moveaxis(m, 0, -1) * 2",
    "m[..., 0] + 1",
    "m[:, 1] * 2",
    "m.real + m.imag",
    "np.copy(m)",
    "np.transpose(m, (1, 0, 2)).astype(np.int64)",
    "np.sum(m, axis=())",
    "np.sum(m, axis=0)",
    "m.mean(axis=1)",
    "np.max(m, axis=2)",
    "np.any(m > 3, axis=1)",
    "np.std(m, axis=1)",
    "np.argmax(m, axis=1)",
    "np.sum(m, axis=0, keepdims=True)",
    "np.cumsum(m, axis=1)",
    "np.sort(m, axis=0)",
    "np.argsort(m, axis=0)",
    "np.roll(m, 1, axis=1)",
    "np.roll(m, 1)",
    "np.diff(m, axis=0)",
    "np.add(m, m)",
    "np.add.reduce(m, axis=1)",
    "(a + b).reshape(-1)",
    "(a + b).reshape(2, -1, 2)",
    "np.ones_like(m).reshape(2, 2, -1)",
    "(m + 1).reshape(m.shape[0] * m.shape[1], -1)",
    "(a * 2).T.ravel()",
]


def layouts(values):
    yield values
    yield numpy.asfortranarray(values)
    yield numpy.moveaxis(numpy.ascontiguousarray(numpy.moveaxis(values, 0, -1)), -1, 0)
    yield numpy.ascontiguousarray(values.swapaxes(0, 1)).swapaxes(0, 1)[::-1]
    yield numpy.repeat(values, 2, axis=-1)[..., ::2]
    yield numpy.asfortranarray(numpy.repeat(values, 2, axis=0))[::-2]


def strides(array):
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


@pytest.mark.parametrize("text", TEXTS)
def test_strides_are_numpys(text):
    source = f"f = lambda a, b, v, m: {text}"
    names = {"np": numpy}
    exec(source, names)
    f = weft.jit(names["f"], source=source)
    a = numpy.arange(24.0).reshape(4, 6) % 7
    m = numpy.arange(48.0).reshape(4, 2, 6) % 11
    given = list(zip(layouts(a), layouts(m), strict=True))
    for k, (first, cube) in enumerate(given):
        for second in (first, given[0][0], given[(k + 1) % len(given)][0]):
            expected = names["f"](first, second, a[0], cube)
            found = f(first, second, a[0], cube)
            for each, other in zip(
                found if isinstance(found, tuple) else (found,),
                expected if isinstance(expected, tuple) else (expected,),
                strict=True,
            ):
                assert each.shape == other.shape and each.dtype == other.dtype
                assert strides(each) == strides(other), (first.strides, second.strides, cube.strides)
                if "empty" not in text:
                    numpy.testing.assert_allclose(numpy.asarray(each), other, rtol=1e-12)


def test_views_and_copies():
    def shown(a):
        return numpy.ascontiguousarray(a), numpy.asfortranarray(a)

    f = weft.jit(shown)
    for a, b in zip(layouts(numpy.ones((3, 4))), layouts(numpy.ones((3, 4))), strict=True):
        for found, expected in zip(f(a), shown(b), strict=True):
            found[...] = 2
            expected[...] = 2
        assert a.tolist() == b.tolist()


def test_what_is_reshaped_is_shared_where_it_can_be():
    def changed(a, n):
        b = a * 2
        c = b.reshape(2, n, -1)
        c[0] = -1
        return b, c

    f = weft.jit(changed)
    for a in (numpy.arange(24.0).reshape(4, 6), numpy.arange(24.0).reshape(6, 4).T):
        for n in (1, 2, 3):
            for found, expected in zip(f(a, n), changed(a, n), strict=True):
                assert found.tolist() == expected.tolist() and strides(found) == strides(expected)
        with pytest.raises(ValueError, match="reshape"):
            f(a, 5)


def test_arrays_of_c_are_not_asked_for_their_order():
    f = weft.jit(lambda a, m: (a * 2 + 1, m * 2), source="f = lambda a, m: (a * 2 + 1, m * 2)")
    f(numpy.ones((3, 4)), numpy.ones((2, 3, 4)))
    (text,) = f.inspect_ir().values()
    assert "absolute" not in text and "select" not in text
