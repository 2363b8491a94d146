"""einsum against NumPy: syntax, values, errors, the order of products, einsum_path."""

import numpy
import pytest
import weft
from comparing import assert_same_kind, exception_kind, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "i": 2, "j": 3, "k": 4, "l": 5, "m": 3, "n": 1}


def operand(term, dtype="f8", seed=0, broadcast=(2, 3)):
    shape = []
    for letter in term.replace("...", "."):
        shape += list(broadcast) if letter == "." else [SIZES[letter]]
    generator = numpy.random.default_rng([seed, *map(ord, term)])
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return generator.integers(0, 100, shape).astype(dtype)
    real = generator.standard_normal(shape)
    return (real + 1j * generator.standard_normal(shape) if dtype.kind == "c" else real).astype(dtype)


def assert_close(result, expected):
    result, expected = numpy.asarray(result), numpy.asarray(expected)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    if expected.dtype.kind in "biu":
        assert (result == expected).all()
    elif expected.size:
        bound = 200 * max(float(abs(expected).max()), 1) * numpy.finfo(expected.dtype).eps
        assert abs(result - expected).max() <= bound


def compare(subscripts, dtype="f8", **options):
    terms = subscripts.partition("->")[0].replace(" ", "").split(",")
    arrays = [operand(term, dtype, k) for k, term in enumerate(terms)]
    expected = numpy.einsum(subscripts, *arrays, **options)
    result = weft.einsum(subscripts, *(weft.array(a) for a in arrays), **options)
    if not options.get("optimize"):  # with it, NumPy gives a 0-d array now and then
        assert_same_kind(result, expected)
    assert_close(result, expected)


SUBSCRIPTS = [
    "i", "ij", "ij->ji", "ij->", "ij->i", "ij->j", "ii", "ii->i", "iij->j", "iij->ij", "ijij->ij", "iiii->i",
    "i,i", "i,j", "i,j->ji", "ij,j", "ij,jk", "ij,jk->ki", "ij,kj->ik", "ji,jk", "ij,ij->", "ij,ij->i", "ij,ij->j",
    "ij,jk->k", "ij,jk->i", "ij,jk->", "ij,jk->ijk", "abc,cd->adb", "abc,acd->abd", "abc,acd->dba", "abc,bcd->ad",
    "bij,bjk->ikb", "bij,bjk->bik", "ii,ij->j", "iij,jk->ik", "ij,jj->i", "i,ij,j", "i,i,i->i", "ij,jk,kl->il",
    "ij,jk,kl,lm->im", "ij,jk,ki", "abc,bcd,cda->abd", "a,b,c,d->dcba", "ab,bc,cd,da->", "n,n", "nij,njk->ik",
    "...i->...", "...ij,...jk", "...ij,...jk->...ki", "i...,i...->...", "...,...", "...i,i", "i...,ij->j...",
    "ij,jk->...k", "...ii->...i", "...ii", " i j , j k -> i k ", "ij...,jk...->ik...", "ij,k->ijk", "ij,k->kj",
]  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True, "optimal"])
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_subscripts(subscripts, optimize):
    compare(subscripts, optimize=optimize)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "i8", "f2", "f4", "c8", "c16"])
@pytest.mark.parametrize(
    "subscripts", ["ij,jk", "ij,jk->k", "ij,ij->j", "i,i", "ij->j", "ij,jk,kl->il", "iij->j"]
)
def test_dtypes(subscripts, dtype):
    compare(subscripts, dtype)


def test_large_operands_as_nodes():
    a, b = operand("ij"), operand("jk")
    with weft.config(small=0):
        for subscripts in ("ij,jk", "ij,jk->k", "ij,jk->ki", "ij,jk->"):
            assert_close(
                weft.einsum(subscripts, weft.array(a), weft.array(b)), numpy.einsum(subscripts, a, b)
            )


@pytest.mark.parametrize(
    "subscripts", ["ij,jk", "ij,jk->ki", "bij,bjk->ikb", "bij,bjk->bki", "ij,kj->ik", "i,j"]
)
def test_memory_order_is_numpys(subscripts):
    terms = subscripts.partition("->")[0].split(",")
    arrays = [operand(term, seed=k) for k, term in enumerate(terms)]
    expected = numpy.einsum(subscripts, *arrays)
    assert weft.einsum(subscripts, *map(weft.array, arrays)).strides == expected.strides
    for order in "CF":
        expected = numpy.einsum(subscripts, *arrays, order=order)
        assert weft.einsum(subscripts, *map(weft.array, arrays), order=order).strides == expected.strides


def test_axes_of_one_broadcast():
    a, b = operand("ij"), operand("jk")
    for x, y in [(a[:, :1], b), (a, b[:1]), (a[:1], b), (a[:1, :1], b[:1])]:
        for subscripts in ("ij,jk", "ij,jk->k", "ij,jk->j", "ij,jk->ijk"):
            assert_close(
                weft.einsum(subscripts, weft.array(x), weft.array(y)), numpy.einsum(subscripts, x, y)
            )
    x, y = operand("...ij"), operand("ij")
    assert_close(
        weft.einsum("...ij,...jk", weft.array(x[:1]), weft.array(b)), numpy.einsum("...ij,...jk", x[:1], b)
    )
    assert_close(weft.einsum("...ij,ij", weft.array(x), weft.array(y)), numpy.einsum("...ij,ij", x, y))


def test_lists_of_labels():
    a, b = operand("ij"), operand("jk")
    x, y = weft.array(a), weft.array(b)
    for form in [
        lambda a, b: (a, [0, 1], b, [1, 2]),
        lambda a, b: (a, [0, 1], b, [1, 2], [2, 0]),
        lambda a, b: (a, [..., 1], b, [1, 2]),
        lambda a, b: (a, [0, ...]),
        lambda a, b: (a, [51, 3], b, [3, 27], []),
        lambda a, b: (a, [30, 3], b, [3, 2]),
    ]:
        assert_close(weft.einsum(*form(x, y)), numpy.einsum(*form(a, b)))


def test_views():
    x = weft.zeros((3, 3))
    weft.einsum("ii->i", x)[...] = 1
    assert x.tolist() == numpy.eye(3).tolist()
    weft.einsum("ij->ji", x)[0, 2] = 5
    assert x[2, 0] == 5
    assert weft.einsum("ij->ij", x).flags.owndata is False


WRONG = [
    ("ij,jk", [(2, 3), (4, 5)]), ("ij,jk", [(2, 3)]), ("ij", [(2, 3), (2, 3)]), ("ijk", [(2, 3)]), ("i", [(2, 3)]),
    ("ij->k", [(2, 3)]), ("ij->ii", [(2, 3)]), ("i$", [(2, 3)]), ("i..", [(2, 3)]), ("...i...", [(2, 3)]),
    ("ii", [(2, 3)]), ("...->", [(2, 3)]), ("ij,jk->ik", [(2, 3), (4, 5)]), ("abc,bcd->ad", [(2, 3, 4), (3, 5, 2)]),
    ("i,ij->j", [(3,), (2, 3)]),
]  # fmt: skip


@pytest.mark.parametrize("subscripts, shapes", WRONG)
def test_errors_are_numpys(subscripts, shapes):
    expected = outcome(numpy.einsum, subscripts, *map(numpy.ones, shapes))
    result = outcome(weft.einsum, subscripts, *map(weft.ones, shapes))
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected)
    assert str(result) == str(expected)


def test_other_errors():
    x = weft.ones((2, 3))
    for arguments in [(), (x, [0, 99]), (x, [0, 1, 2])]:
        with pytest.raises(ValueError):
            weft.einsum(*arguments)
    with pytest.raises(TypeError, match="each subscript must be either an integer or an ellipsis"):
        weft.einsum(x, [0, "a"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        weft.einsum("ij", x, foo=1)
    with pytest.raises(ValueError, match="order must be one of"):
        weft.einsum("ij->", x, order="X")
    with pytest.raises(TypeError, match="could not be cast"):
        weft.einsum("ij->", x, dtype="i4")
    with pytest.raises(TypeError, match="could not be cast"):
        weft.einsum("ij->i", x, out=weft.ones(2, "i4"))
    with pytest.raises(ValueError):
        weft.einsum("ij->i", x, out=weft.ones(3))
    for path in ([(0, 1)], ["einsum_path", (0, 2)], "nonsense", 3):
        with pytest.raises((TypeError, KeyError, ValueError)):
            weft.einsum("ij,jk->ik", x, weft.ones((3, 2)), optimize=path)


def test_dtype_casting_and_out():
    a, b = operand("ij", "i4"), operand("jk", "f4")
    x, y = weft.array(a), weft.array(b)
    assert_close(weft.einsum("ij,jk", x, y), numpy.einsum("ij,jk", a, b))
    assert_close(weft.einsum("ij,jk", x, y, dtype="c16"), numpy.einsum("ij,jk", a, b, dtype="c16"))
    assert_close(
        weft.einsum("ij,jk", x, y, dtype="i4", casting="unsafe"),
        numpy.einsum("ij,jk", a, b, dtype="i4", casting="unsafe"),
    )
    out = weft.zeros((2, 4), "f8")
    assert weft.einsum("ij,jk", x, y, out=out) is out
    assert_close(out, numpy.einsum("ij,jk", a, b).astype("f8"))
    z = weft.array(operand("ii"))
    expected = numpy.einsum("ij,jk", operand("ii"), operand("ii"))
    weft.einsum("ij,jk", z, z, out=z)
    assert_close(z, expected)


def test_paths():
    terms = ["ij", "jk", "kl", "lm"]
    arrays = [operand(term, seed=k) for k, term in enumerate(terms)]
    ours = [weft.array(a) for a in arrays]
    subscripts = "ij,jk,kl,lm->im"
    expected = numpy.einsum(subscripts, *arrays)
    for path in (
        ["einsum_path", (0, 1), (0, 1), (0, 1)],
        ["einsum_path", (2, 3), (0, 1), (0, 1)],
        ["einsum_path", (0, 1, 2, 3)],
        ["einsum_path", (1, 2)],
        "greedy",
        "optimal",
        ("greedy", 1000),
    ):
        assert_close(weft.einsum(subscripts, *ours, optimize=path), expected)
    for optimize in ("greedy", "optimal", True, False, ("optimal", 500)):
        path, text = weft.einsum_path(subscripts, *ours, optimize=optimize)
        assert path[0] == "einsum_path"
        assert_close(weft.einsum(subscripts, *ours, optimize=path), expected)
        assert_close(numpy.einsum(subscripts, *arrays, optimize=path), expected)
        assert text.startswith("  Complete contraction:  ij,jk,kl,lm->im\n")


@pytest.mark.parametrize(
    "subscripts, shapes, optimize",
    [
        ("ij,jk,kl->il", [(2, 30), (30, 5), (5, 60)], "optimal"),
        ("ij,jk,kl->il", [(2, 30), (30, 5), (5, 60)], "greedy"),
        ("ij,jk->ik", [(2, 30), (30, 5)], "greedy"),
        ("ij,jk,kl->il", [(2, 30), (30, 5), (5, 60)], False),
        ("ij,jk,kl->", [(2, 30), (30, 5), (5, 60)], False),
    ],
)
def test_path_reads_as_numpys(subscripts, shapes, optimize):
    path, text = numpy.einsum_path(subscripts, *map(numpy.ones, shapes), optimize=optimize)
    assert weft.einsum_path(subscripts, *map(weft.ones, shapes), optimize=optimize) == (path, text)


@pytest.mark.host
def test_the_cheapest_order_is_found():
    """A chain that is 300 times dearer from the left than from the right."""
    a, b, c = weft.ones((300, 300)), weft.ones((300, 300)), weft.ones(300)
    weft.clear_kernel_history()
    weft.eval(weft.einsum("ij,jk,k->i", a, b, c))
    assert all("product" not in kernel["name"] for kernel in weft.kernel_history())


@pytest.mark.host
def test_a_lonely_index_is_summed_first():
    a, b = weft.ones((300, 200), "f4"), weft.ones((200, 250), "f4")
    weft.clear_kernel_history()
    result = weft.einsum("ij,jk->...k", a, b)
    assert (result == 60000).all()
    assert not any("product" in kernel["name"] for kernel in weft.kernel_history())
    assert any("gemv" in kernel["name"] for kernel in weft.kernel_history())


@st.composite
def calls(draw):
    terms = [
        "".join(draw(st.lists(st.sampled_from("abcd"), max_size=3))) for _ in range(draw(st.integers(1, 3)))
    ]
    used = sorted({letter for term in terms for letter in term})
    subscripts = ",".join(terms)
    if draw(st.booleans()):
        output = draw(st.permutations(used))[: draw(st.integers(0, len(used)))] if used else []
        subscripts += "->" + "".join(output)
    return subscripts, draw(st.sampled_from("?ilfdD"))


@settings(max_examples=300, deadline=None)
@given(calls())
def test_any_subscripts(call):
    compare(*call)
