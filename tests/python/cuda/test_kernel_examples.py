"""The kernels of examples/kernels_*.py, on fields, bodies, samples and arrays that are no multiples of a block."""

import pathlib
import sys

import numpy
import pytest
import scipy.signal
import weft
from weft import cuda

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))

import kernels_blocks
import kernels_physics
import kernels_random

# --- physics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (33, 1), (16, 16), (17, 15), (40, 50)])
def test_diffusion_in_tiles(shape):
    u = numpy.random.default_rng(1).random(shape)
    field, laplacian = kernels_physics.diffuse(u, 7)
    expected, kept = kernels_physics.diffuse_by_numpy(u, 7)
    numpy.testing.assert_allclose(field, expected, rtol=1e-13)
    numpy.testing.assert_allclose(laplacian, kept, rtol=0, atol=1e-13)
    assert field.sum() == pytest.approx(u.sum(), rel=1e-13)


def test_diffusion_comes_to_the_mean():
    u = numpy.random.default_rng(1).random((9, 12))
    field, laplacian = kernels_physics.diffuse(u, 3000)
    numpy.testing.assert_allclose(field, u.mean(), rtol=1e-9)
    assert abs(laplacian).max() < 1e-10


@pytest.mark.parametrize("count", [1, 2, 127, 128, 129, 300])
def test_attraction_of_bodies(count):
    rng = numpy.random.default_rng(count)
    places, masses = rng.standard_normal((count, 3)), rng.random(count)
    found = kernels_physics.accelerate(cuda.to_device(places), cuda.to_device(masses)).copy_to_host()
    expected = kernels_physics.accelerate_by_numpy(places, masses)
    numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_two_bodies_on_a_circle():
    # Each has half of the mass and moves around the middle, at a distance of 1 from the other one.
    softened = 1 + 1e-2  # what the square of the distance becomes
    speed = numpy.sqrt(0.25 / softened**1.5)  # so that the pull of 0.5 / softened**1.5 keeps a radius of 0.5
    places = numpy.array([[0.5, 0, 0], [-0.5, 0, 0]])
    speeds = numpy.array([[0, speed, 0], [0, -speed, 0]])
    steps = 400
    dt = 2 * numpy.pi * 0.5 / speed / steps
    later, faster = kernels_physics.orbit(places, speeds, numpy.array([0.5, 0.5]), steps, dt)
    numpy.testing.assert_allclose(later, places, atol=1e-3)
    numpy.testing.assert_allclose(faster, speeds, atol=1e-3)


@pytest.mark.parametrize(("samples", "steps"), [(10, 1), (127, 129), (128, 128), (300, 50)])
def test_periodogram_of_uneven_samples(samples, steps):
    rng = numpy.random.default_rng(samples)
    t, f = numpy.sort(rng.random(samples)) * 20, numpy.linspace(0.2, 3, steps)
    y = numpy.sin(2 * numpy.pi * 1.3 * t) + rng.standard_normal(samples)
    found = kernels_physics.spectrum_of(t, y, f)
    expected = scipy.signal.lombscargle(t, y, 2 * numpy.pi * f, normalize=True)
    numpy.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


# --- random numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "points"), [(0, 1), (1, 63), (2, 1280), (3, 30_001)])
def test_points_in_the_circle_are_numpys(key, points):
    hits = numpy.zeros(1, int)
    kernels_random.hits_by_position[20, kernels_random.BLOCK](key, points, hits)
    assert hits[0] == kernels_random.hits_by_numpy(key, points)


def test_states_go_on_where_they_were():
    states = cuda.random.create_xoroshiro128p_states(70, seed=8)
    both, first, second = (numpy.zeros(70, int) for _ in range(3))
    launch = kernels_random.hits_by_state[2, kernels_random.BLOCK]
    launch(states, 50, first)
    launch(states, 50, second)
    launch(cuda.random.create_xoroshiro128p_states(70, seed=8), 100, both)
    assert (first + second == both).all() and (first != second).any()


@pytest.mark.parametrize("strike", [80.0, 100.0, 140.0])
def test_the_price_of_a_call(strike):
    terms = 100.0, strike, 0.03, 0.25, 1.5
    found, error = kernels_random.price(*terms, threads=500, paths=200)
    assert 0 < error < 0.1 and abs(found - kernels_random.price_by_formula(*terms)) < 4 * error


def test_a_call_on_the_mean_of_a_path():
    case = 9, 130, 12, 100.0, 100.0, 0.001, 0.05
    found, expected = kernels_random.mean_payoffs_of(*case), kernels_random.mean_payoffs_by_numpy(*case)
    numpy.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)
    assert 30 < numpy.count_nonzero(found) < 100


# --- blocks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("blocks", [1, 2, 127, 128, 129, 300])
def test_the_last_block_sums_what_all_have_stored(blocks, threads):
    values = numpy.random.default_rng(blocks).integers(-1000, 1000, 40_000).astype(float)
    tickets = numpy.zeros(1, "u4")
    with weft.config(num_threads=threads):
        for size in (40_000, 1, 0):
            assert kernels_blocks.sum_of(values[:size], blocks, tickets) == values[:size].sum()
            assert tickets[0] == 0


SIZES = [0, 1, 2, 255, 256, 257, 1000, 1024, 3000]


@pytest.mark.parametrize("size", SIZES)
def test_bitonic_sort_over_blocks(size):
    rng = numpy.random.default_rng(size)
    for values in (
        rng.standard_normal(size),
        rng.integers(0, 3, size).astype(float),
        numpy.arange(size)[::-1].astype(float),
        numpy.where(rng.random(size) < 0.3, numpy.nan, rng.standard_normal(size)),
        numpy.where(rng.random(size) < 0.3, numpy.inf, -numpy.inf),
    ):
        numpy.testing.assert_array_equal(kernels_blocks.sort(values), numpy.sort(values))
