"""weft.config.fast_math: off, nothing changes; on, a product and its sum may be one rounding."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import weft

HAS_FMA = " fma " in pathlib.Path("/proc/cpuinfo").read_text()


@pytest.fixture(autouse=True)
def compiled():
    weft._core._forget_kernels()
    with weft.config(tier="jit", small=0):
        yield
    weft._core._forget_kernels()


def operands(dtype, count=20000):
    generator = numpy.random.default_rng(3)
    return [generator.standard_normal(count).astype(dtype) for _ in range(3)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_off_each_operation_rounds(dtype):
    assert not weft.config.fast_math
    x, y, z = operands(dtype)
    assert numpy.array_equal(numpy.asarray(weft.asarray(x) * weft.asarray(y) + weft.asarray(z)), x * y + z)


@pytest.mark.host
@pytest.mark.skipif(not HAS_FMA, reason="the CPU has no fma")
def test_on_a_product_and_its_sum_are_one_rounding():
    x, y, z = operands("float32")
    exact = (x.astype("f8") * y + z).astype("f4")  # the product is exact, the sum nearly
    with weft.config(fast_math=True):
        found = numpy.asarray(weft.asarray(x) * weft.asarray(y) + weft.asarray(z))
    assert (found != x * y + z).any()
    assert (numpy.abs(found - exact) <= numpy.spacing(numpy.abs(exact))).all()
    assert (found == exact).mean() > 0.999


def test_a_sum_of_products_is_within_its_bound():
    x, y, _ = operands("float32", 100000)
    exact = (x.astype("f8") * y).sum()
    with weft.config(fast_math=True):
        found = float((weft.asarray(x) * weft.asarray(y)).sum())
    assert abs(found - exact) <= 1e-6 * numpy.abs(x * y).sum()


def test_a_change_finds_another_kernel():
    """In plans that are kept, in the process and on disk."""
    x, y, z = operands("float32")
    a, b, c = map(weft.asarray, (x, y, z))
    found = []
    for fast in (False, True, False, True):
        with weft.config(fast_math=fast):
            found.append(numpy.asarray(a * b + c).tobytes())
    assert found[0] == found[2] == (x * y + z).tobytes()
    assert found[1] == found[3]
    if HAS_FMA and os.environ.get("WEFT_DEVICE", "cpu") in ("", "cpu"):
        assert found[0] != found[1]


@pytest.mark.host
def test_the_environment_says_so_and_the_disk_tells_them_apart(new_cache):
    program = (
        "import weft, numpy\n"
        "x, y, z = (numpy.random.default_rng(k).standard_normal(9000).astype('f4') for k in range(3))\n"
        "r = numpy.asarray(weft.asarray(x) * weft.asarray(y) + weft.asarray(z))\n"
        "print(weft.config.fast_math, (r == x * y + z).all(), weft.cache_info()['compiled'])\n"
    )
    lines = []
    for fast in ("0", "1", "0", "1"):
        environment = {
            **os.environ,
            "WEFT_FAST_MATH": fast,
            "WEFT_TIER": "jit",
            "WEFT_CACHE_DIR": str(new_cache),
        }
        result = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
        )
        lines.append(result.stdout.split())
    assert [line[0] for line in lines] == ["False", "True"] * 2
    assert [line[2] for line in lines] == ["1", "1", "0", "0"]
    assert [line[1] for line in lines] == ["True", str(not HAS_FMA)] * 2
