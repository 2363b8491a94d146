"""The kernels of examples/kernels*.py have no races, and are NumPy's when they are checked."""

import pathlib
import sys

import numpy
import pytest
import weft as np
from weft.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))

import kernels
import kernels_blocks
import kernels_physics
import kernels_random


@pytest.fixture(autouse=True)
def device():
    with np.device("cpu"):
        yield "cpu"


RNG = numpy.random.default_rng(7)


def of_smoothing():
    image = RNG.integers(0, 256, (35, 50))
    out = image.copy()
    kernels.smoothed[kernels.blocks_of(image.shape)](image, out)
    sums = sum(image[1 + dy : 34 + dy, 1 + dx : 49 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
    return out[1:-1, 1:-1], sums // 9


def of_product():
    a, b, c = RNG.random((35, 20)), RNG.random((20, 18)), numpy.zeros((35, 18))
    kernels.product[kernels.blocks_of(c.shape)](a, b, c)
    return c, a @ b


def of_mandelbrot():
    checked, steps = numpy.zeros((20, 30), int), numpy.zeros((20, 30), int)
    kernels.escaped[kernels.blocks_of(checked.shape)](checked, 50)
    x, y = numpy.meshgrid(numpy.arange(30), numpy.arange(20))
    c = (3.0 * x / 30 - 2.0) + 1j * (2.0 * y / 20 - 1.0)
    z = numpy.zeros_like(c)
    for _ in range(50):
        inside = z.real**2 + z.imag**2 < 4
        steps += inside
        z = numpy.where(inside, z * z + c, z)
    return checked, steps


def of_histogram():
    values, counts = RNG.integers(0, 64, 5000), numpy.zeros(64, "i4")
    kernels.counted[4, kernels.BLOCK](values, counts)
    return counts, numpy.bincount(values, minlength=64)


def of_prefix_sums():
    values, sums = RNG.random(2 * kernels.BLOCK), numpy.zeros(2 * kernels.BLOCK)
    kernels.running[2, kernels.BLOCK](values, sums)
    return sums.reshape(2, -1), values.reshape(2, -1).cumsum(axis=1)


def of_sort():
    values = RNG.random(2 * kernels.BLOCK)
    expected = numpy.sort(values.reshape(2, -1), axis=1).ravel()
    kernels.ordered[2, kernels.BLOCK](values)
    return values, expected


def of_last_block():
    values = RNG.integers(0, 99, 3000).astype(float)
    return kernels_blocks.sum_of(values, 12, numpy.zeros(1, "u4")), values.sum()


def of_sort_over_blocks():
    values = RNG.random(1000)
    return kernels_blocks.sort(values), numpy.sort(values)


def of_diffusion():
    u = RNG.random((20, 37))
    return kernels_physics.diffuse(u, 3)[0], kernels_physics.diffuse_by_numpy(u, 3)[0]


def of_bodies():
    places, masses = RNG.random((150, 3)), RNG.random(150)
    return kernels_physics.accelerate(places, masses), kernels_physics.accelerate_by_numpy(places, masses)


def of_moves():
    places, speeds, pulls = RNG.random((50, 3)), RNG.random((50, 3)), RNG.random((50, 3))
    expected = places + 0.5 * (speeds + 0.25 * pulls)
    kernels_physics.moved[(2, 1), (32, 4)](places, speeds, pulls, 0.25, 0.5)
    return places, expected


def of_spectrum():
    t, f = numpy.sort(RNG.random(150)) * 20, numpy.linspace(0.2, 3, 130)
    y = numpy.sin(8 * t)
    w = 2 * numpy.pi * f[:, None]
    fits = [
        numpy.linalg.lstsq(numpy.stack([numpy.cos(k * t), numpy.sin(k * t)], 1), y, rcond=None)[1][0]
        for k in w
    ]
    return kernels_physics.spectrum_of(t, y, f), 1 - numpy.array(fits) / (y * y).sum()


def of_hits_by_position():
    hits = numpy.zeros(1, int)
    kernels_random.hits_by_position[4, kernels_random.BLOCK](5, 2000, hits)
    return hits[0], kernels_random.hits_by_numpy(5, 2000)


def of_hits_by_state():
    hits, expected = numpy.zeros(70, int), numpy.zeros(70, int)
    kernels_random.hits_by_state[2, kernels_random.BLOCK](create_xoroshiro128p_states(70, seed=8), 20, hits)
    states = create_xoroshiro128p_states(70, seed=8).copy_to_host()
    for i in range(70):
        x, y = numpy.array([xoroshiro128p_uniform_float64(states, i) for _ in range(40)]).reshape(20, 2).T
        expected[i] = numpy.count_nonzero(x * x + y * y < 1)
    return hits, expected


def of_prices():
    terms = 100.0, 105.0, 0.03, 0.25, 1.5
    found, error = kernels_random.price(*terms, threads=200, paths=100)
    return abs(found - kernels_random.price_by_formula(*terms)) / error < 4, 1


def of_mean_payoffs():
    case = 9, 130, 12, 100.0, 100.0, 0.001, 0.05
    return kernels_random.mean_payoffs_of(*case), kernels_random.mean_payoffs_by_numpy(*case)


EXAMPLES = {
    of_smoothing: [kernels.smoothed],
    of_product: [kernels.product],
    of_mandelbrot: [kernels.escaped],
    of_histogram: [kernels.counted],
    of_prefix_sums: [kernels.running],
    of_sort: [kernels.ordered],
    of_last_block: [kernels_blocks.summed],
    of_sort_over_blocks: [kernels_blocks.compared_far, kernels_blocks.compared_near],
    of_diffusion: [kernels_physics.diffused],
    of_bodies: [kernels_physics.attracted],
    of_moves: [kernels_physics.moved],
    of_spectrum: [kernels_physics.spectrum],
    of_hits_by_position: [kernels_random.hits_by_position],
    of_hits_by_state: [kernels_random.hits_by_state],
    of_prices: [kernels_random.payoffs],
    of_mean_payoffs: [kernels_random.mean_payoffs, kernels_random.normals],
}


@pytest.mark.parametrize("work", EXAMPLES, ids=lambda work: work.__name__)
def test_the_examples_have_no_races(work, monkeypatch):
    monkeypatch.setenv("WEFT_CUDA_CHECK", "1")
    found, expected = work()
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-9, atol=1e-9)
    assert all("_checking_launcher" in vars(kernel) for kernel in EXAMPLES[work])


def test_all_kernels_of_the_examples_are_here():
    modules = kernels, kernels_blocks, kernels_physics, kernels_random
    there = {
        each for module in modules for each in vars(module).values() if type(each) is type(kernels.product)
    }
    assert there == {kernel for some in EXAMPLES.values() for kernel in some}
