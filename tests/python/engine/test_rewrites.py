"""The rewrites of docs/reference/rewrites.md: when they are made, hold their bounds, and can be switched off."""

import os
import re
import subprocess
import sys

import numpy
import pytest
import weft

SUM, CHAIN = "sum_of_product", "product_chain"


def some(shape, dtype="f4", seed=0):
    generator = numpy.random.default_rng([seed, *shape])
    real = generator.standard_normal(shape)
    return (real + 1j * generator.standard_normal(shape) if dtype in ("c8", "c16") else real).astype(dtype)


def of_matrices(names):
    """Whether a kernel multiplied two matrices. On a GPU a vector is a matrix of one row or column there."""
    found = (re.search(r"(?:gemm|product_float\d+) (?:\d+\*)?(\d+)x\d+@\d+x(\d+)", name) for name in names)
    return any("1" not in match.groups() for match in found if match)


def ran(function):
    """The names of the kernels that ran for a result, and its value."""
    weft.clear_kernel_history()
    result = function()
    weft.eval(result)
    return [kernel["name"] for kernel in weft.kernel_history()], numpy.asarray(result)


SUMS = {
    "axis 0": lambda a, b: (a @ b).sum(axis=0),
    "axis 1": lambda a, b: (a @ b).sum(axis=1),
    "all": lambda a, b: (a @ b).sum(),
    "keepdims": lambda a, b: (a @ b).sum(axis=0, keepdims=True),
    "mean": lambda a, b: (a @ b).mean(axis=1),
    "transposed": lambda a, b: (a @ b).T.sum(axis=0),
    "of a transposed": lambda a, b: (b.T @ a.T).sum(axis=0),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("form", SUMS)
def test_the_sum_of_a_product(form, dtype):
    a, b = some((200, 150), dtype), some((150, 180), dtype, 1)
    x, y = weft.array(a), weft.array(b)
    function = SUMS[form]
    assert SUM in weft.explain(function(x, y))
    names, result = ran(lambda: function(x, y))
    assert not of_matrices(names)
    with weft.config(rewrite=False):
        assert SUM not in weft.explain(function(x, y))
        off_names, off = ran(lambda: function(x, y))
    assert of_matrices(off_names)
    with weft.config(fuse=False):
        naive_names, naive = ran(lambda: function(x, y))
    assert of_matrices(naive_names)
    assert off.tobytes() == naive.tobytes()
    assert result.dtype == off.dtype and result.shape == off.shape
    # the bound of docs/reference/rewrites.md: u times the depth of the sums times the sum of magnitudes
    wide = [abs(z).astype("f8") for z in (a, b)]
    exact = function(*(z.astype("c16" if dtype[0] == "c" else "f8") for z in (a, b)))
    scale = function(*wide) * numpy.finfo(dtype).eps * 4
    assert (abs(result - exact) <= (200 + 150 + 180) * scale).all()
    assert (abs(result - off) <= 2 * (200 + 150 + 180) * scale).all()


def test_sums_that_stay():
    a, b = weft.array(some((100, 90))), weft.array(some((90, 80)))
    product = a @ b  # somebody else may look at it
    for function in (
        lambda: product.sum(0),
        lambda: (a @ b).max(0),
        lambda: (a @ b).sum(0, dtype="f8"),
        lambda: (a.astype("f2") @ b.astype("f2")).sum(0),
        lambda: (a.astype("i4") @ b.astype("i4")).sum(0),
        lambda: (a @ b + 1).sum(0),
        lambda: (a @ b)[1:].sum(0),
        lambda: (weft.ones((5, 30, 40)) @ weft.ones((5, 40, 30))).sum(0),
    ):
        assert SUM not in weft.explain(function())
    assert numpy.allclose(product.sum(0), numpy.asarray(product).sum(0), atol=1e-3)
    twice = (lambda p: p.sum(0) + p.sum(1)[:80])(a @ b)
    assert SUM not in weft.explain(twice)


def test_sums_over_rows_of_a_batch():
    a, b = some((5, 60, 50), "f8"), some((5, 50, 40), "f8", 1)
    x, y = weft.array(a), weft.array(b)
    for axis in (1, 2, (1, 2)):
        total = (x @ y).sum(axis)  # in an assertion, pytest would hold the product
        assert SUM in weft.explain(total)
        assert numpy.allclose((x @ y).sum(axis), (a @ b).sum(axis), rtol=1e-10, atol=1e-10)


CHAINS = {
    "from the left": lambda a, b, c, v: a @ b @ c @ v,
    "vector first": lambda a, b, c, v: v @ (a @ (b @ c)),
    "a column": lambda a, b, c, v: (b @ c @ v[:, None]).T,
    "transposed": lambda a, b, c, v: (b @ c).T @ a[0],
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("form", CHAINS)
def test_a_chain(form, dtype):
    arrays = [some(s, dtype, k) for k, s in enumerate([(150, 140), (140, 160), (160, 150), (150,)])]
    ours = [weft.array(a) for a in arrays]
    function = CHAINS[form]
    assert CHAIN in weft.explain(function(*ours))
    names, result = ran(lambda: function(*ours))
    assert not of_matrices(names)
    with weft.config(rewrite=False):
        off_names, off = ran(lambda: function(*ours))
    assert of_matrices(off_names)
    with weft.config(fuse=False):
        assert off.tobytes() == ran(lambda: function(*ours))[1].tobytes()
    scale = function(*(abs(a).astype("f8") for a in arrays)) * numpy.finfo(dtype).eps * 4
    assert (abs(result - off) <= 2 * 600 * scale).all()


def test_chains_that_stay():
    x = [weft.array(some((130, 130), seed=k)) for k in range(4)]
    held = x[0] @ x[1]
    v = weft.array(some((130,)))
    for function in (
        lambda: x[0] @ x[1] @ x[2] @ x[3],  # no order is cheaper
        lambda: held @ v,
        lambda: x[0].astype("i4") @ x[1].astype("i4") @ v.astype("i4"),
        lambda: (x[0] @ x[1])[1:] @ v,
        lambda: (x[0] @ x[1] + 1) @ v,
    ):
        assert CHAIN not in weft.explain(function())


def test_a_chain_of_four_takes_the_cheapest_order():
    shapes = [(10, 300), (300, 20), (20, 300), (300, 15)]
    a = [some(shape, "f8", k) for k, shape in enumerate(shapes)]
    x = [weft.array(m) for m in a]
    with weft.config(small=0):
        result = x[0] @ (x[1] @ x[2]) @ x[3]
        assert CHAIN in weft.explain(result)
        assert numpy.allclose(result, a[0] @ a[1] @ a[2] @ a[3], rtol=1e-10, atol=1e-8)


def test_the_sum_of_a_chain():
    shapes = [(150, 140), (140, 160), (160, 150)]
    a, b, c = (some(shape, "f8", k) for k, shape in enumerate(shapes))
    x, y, z = map(weft.array, (a, b, c))
    names, result = ran(lambda: (x @ y @ z).sum(0))
    assert not of_matrices(names)
    assert numpy.allclose(result, (a @ b @ c).sum(0), rtol=1e-9, atol=1e-9)
    names, result = ran(lambda: (x @ y @ z).sum() + 1)
    assert not of_matrices(names)
    assert numpy.allclose(result, (a @ b @ c).sum() + 1, rtol=1e-9, atol=1e-9)


def test_rewritten_nodes_can_wait():
    """A rewritten node that another evaluation needs, and memory that is written meanwhile."""
    a, b = some((150, 140), "f8"), some((140, 160), "f8", 1)
    x, y = weft.array(a), weft.array(b)
    total = (x @ y).sum(0)
    more = total * 2
    weft.explain(more)
    x[...] = 0
    numpy.asarray(y)[...] = 1
    assert numpy.allclose(more, (a @ b).sum(0) * 2)
    assert numpy.allclose(total, (a @ b).sum(0))


def test_the_environment_switches_them_off():
    program = (
        "import weft\n"
        "assert weft.config.rewrite is False\n"
        "x = weft.ones((100, 100))\n"
        "assert 'sum_of_product' not in weft.explain((x @ x).sum(0))\n"
    )
    environment = {**os.environ, "WEFT_REWRITE": "0"}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_nothing_is_kept():
    """Whatever vanished in a rewrite is freed."""
    import gc

    x = weft.array(some((300, 300), "f8"))
    weft.eval((x @ x).sum(0))
    gc.collect()
    for _ in range(50):
        weft.eval((x @ x @ x[0]).sum())
    assert weft.explain(x) == "nothing is pending: the values are in memory\n"
