"""Products, norms and contractions of few elements: their fast paths give the bits, dtypes and layouts of nodes."""

import itertools

import numpy
import pytest
import weft

DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def values(shape, dtype, seed=0):
    found = 4 * numpy.random.default_rng([seed, *shape]).standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        found = found + 1j * found[::-1]
    return abs(found).astype(dtype) if numpy.dtype(dtype).kind == "u" else found.astype(dtype)


def laid_out(a, layout):
    if layout == "strided":
        return weft.array(numpy.repeat(a, 2, -1))[..., ::2]
    return weft.array(numpy.ascontiguousarray(a.T)).T if layout == "F" else weft.array(a)


def as_nodes(function, *arguments):
    with weft.config(small=0):
        result = function(*arguments)
        weft.eval(result)
    return result


def assert_same(function, *arguments):
    found, expected = function(*arguments), as_nodes(function, *arguments)
    assert type(found) is type(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()
    if isinstance(found, weft.ndarray):
        assert found.strides == expected.strides


PAIRS = [
    ((3,), (3,)),
    ((40,), (40,)),
    ((4, 3), (4, 3)),
    ((4, 3), (3,)),
    ((3,), (4, 3)),
    ((2, 5, 3), (2, 5, 3)),
]
PAIRS += [((2, 5, 3), (3,)), ((20, 25), (20, 25)), ((2, 1, 3), (5, 3)), ((5, 1), (5, 1)), ((1, 4), (5, 4))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_vecdot(dtype, shapes):
    for layouts in itertools.product(["C", "F", "strided"], repeat=2):
        a, b = (laid_out(values(shape, dtype, k), layouts[k]) for k, shape in enumerate(shapes))
        for function in (weft.vecdot, weft.linalg.vecdot):
            assert_same(function, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_vectors_and_matrices(dtype):
    for layout in ("C", "F", "strided"):
        a, v, w = (laid_out(values(s, dtype), layout) for s in ((5, 4), (4,), (5,)))
        assert_same(weft.matvec, a, v)
        assert_same(weft.vecmat, w, a)
        assert_same(weft.inner, v, v)
        assert_same(weft.vdot, a, a)
        assert_same(weft.dot, v, v)


@pytest.mark.parametrize("dtype", [each for each in DTYPES if each != "f2"])
@pytest.mark.parametrize("shape", [(1,), (3,), (33,), (300,), (2, 3), (17, 30), (2, 3, 4), (600,)], ids=str)
def test_norms(dtype, shape):
    for layout in ("C", "F", "strided"):
        a = laid_out(values(shape, dtype), layout)
        assert_same(weft.linalg.norm, a)
        assert_same(weft.linalg.vector_norm, a)
        if len(shape) == 1:
            assert_same(lambda x: weft.linalg.norm(x, 2), a)
            assert_same(lambda x: weft.linalg.norm(x, axis=0), a)
        else:
            assert_same(weft.linalg.matrix_norm, a)
    numpy.testing.assert_allclose(
        float(weft.linalg.norm(a)), numpy.linalg.norm(values(shape, dtype)), rtol=1e-6
    )


TEXTS = """ij,jk->ik ij,kj->ik ji,jk->ik ji,kj->ik ij,jk->ki ij,j->i ji,j->i j,jk->k j,kj->k ij,ij-> ij,ji-> ij,ij->ij
    ij,ij->i ij,ij->j i,i-> i,i->i i,j->ij ij,jk ij,jk->k ij,jj->i ii,ij->j ij,ik->jk""".split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", TEXTS)
def test_einsum(dtype, text):
    labels = text.split("->")[0].split(",")
    extents = {"i": 5, "j": 4, "k": 3}
    if any(len(set(each)) < len(each) for each in labels) or text == "ij,ji->":
        extents = dict.fromkeys(extents, 4)
    for layouts in itertools.product(["C", "F"], repeat=2):
        operands = [
            laid_out(values(tuple(extents[label] for label in each), dtype, k), layouts[k])
            for k, each in enumerate(labels)
        ]
        assert_same(lambda *given: weft.einsum(text, *given), *operands)


def test_what_the_fast_paths_do_not_take_is_refused_as_ever():
    a, b = weft.ones((2, 3)), weft.ones((2, 4))
    for call in (
        lambda: weft.einsum("ij,ij->", a, b),
        lambda: weft.einsum("ij,jk->ik", a, b),
        lambda: weft.einsum("ij,jk->iz", a, a.T),
        lambda: weft.einsum("i,j->", a, a),
        lambda: weft.vecdot(a, b),
        lambda: weft.matvec(a, b[0]),
        lambda: weft.vecmat(a[0], b),
        lambda: weft.linalg.matrix_norm(a[0]),
        lambda: weft.linalg.norm(a[0], axis=1),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(ValueError):
        weft.einsum("ij,jk->ik", a, a.T, optimize=["einsum_path", (0, 2)])


def test_errors_of_floating_point_are_still_seen():
    huge = weft.full((3,), 1e300)
    for function in (weft.linalg.norm, lambda x: weft.vecdot(x, x), lambda x: weft.matvec(x[None], x)):
        with weft.errstate(over="raise"), pytest.raises(FloatingPointError):
            function(huge)
