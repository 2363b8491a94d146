"""sin and cos where it is hard: beside multiples of pi/2, of every size; zeros, infinities, nan; and that an element's
bits depend on nothing but its value, though angles from 2**47 on (float32: 2**17) are computed in another way, for a
whole vector in which there is one.
"""

import numpy
import pytest
import weft
from exact import bound, error, mp

ENOUGH = 1300  # bits of pi for any float64
FUNCTIONS = {"sin": mp.sin, "cos": mp.cos}
LARGE = {"f": 2.0**17, "d": 2.0**47}


def nearest_to_multiples(character):
    """For each exponent the numbers m * 2**e that come nearest to a multiple of pi/2: m is the denominator of a
    convergent of 2**e / (pi/2), or a multiple of one."""
    digits = {"f": 24, "d": 53}[character]
    largest = {"f": 128, "d": 1024}[character]
    found = []
    with mp.workprec(2 * ENOUGH):
        for exponent in range(-digits, largest - digits):
            rest = mp.ldexp(2 / mp.pi, exponent)
            before, denominator = 1, 0
            while True:
                whole = mp.floor(rest)
                before, denominator = denominator, int(whole) * denominator + before
                if denominator >= 2**digits:
                    break
                if denominator >= 2 ** (digits // 2):
                    scale = 2**digits // denominator
                    found += [(denominator * k, exponent) for k in {1, scale}]
                rest = 1 / (rest - whole)
    return numpy.array([numpy.ldexp(float(m), e) for m, e in found]).astype(character)


def beside_multiples(character):
    rng = numpy.random.default_rng(5)
    powers = [2**k + d for k in range(60) for d in (-1, 0, 1)]
    multiples = [*range(1, 100), *powers, *rng.integers(1, 2**20, 200).tolist()]
    with mp.workprec(200):
        near = numpy.array([float(k * mp.pi / 2) for k in multiples]).astype(character)
    return numpy.concatenate([near, numpy.nextafter(near, 0), numpy.nextafter(near, near * 2)])


def angles(character):
    info = numpy.finfo(character)
    rng = numpy.random.default_rng(6)
    border = numpy.array([LARGE[character]], character)
    near_border = [border, numpy.nextafter(border, 0), numpy.nextafter(border, border * 2)]
    tiny = numpy.array([0, info.smallest_subnormal, info.tiny, 3e-30, 1e-9], character)
    eighths = (numpy.arange(1, 65) * (numpy.pi / 8)).astype(
        character
    )  # where one polynomial follows the other
    spread = numpy.exp(rng.uniform(-20, numpy.log(float(info.max)) - 1, 300)).astype(character)
    parts = [beside_multiples(character), nearest_to_multiples(character), *near_border, tiny, eighths]
    x = numpy.concatenate([*parts, numpy.nextafter(eighths, 0), spread, numpy.array([info.max], character)])
    return numpy.unique(x[numpy.isfinite(x)])


def computed(name, x, small=0, **settings):
    with weft.config(small=small, **settings):
        return numpy.asarray(getattr(weft, name)(weft.asarray(x)))


@pytest.mark.parametrize("character", "fd")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hard_angles(name, character):
    x = angles(character)
    assert x.size > 1000 and x.max() == numpy.finfo(character).max
    got = computed(name, x)
    worst, where = 0.0, None
    for angle, result in zip(x, got, strict=True):
        with mp.workprec(ENOUGH if angle > 1e10 else 300):
            off = error(result, FUNCTIONS[name](mp.mpf(float(angle))), numpy.finfo(character))
        if not off <= worst:
            worst, where = off, angle
    assert worst <= bound(name), f"{name}({where!r}) is off by {worst:.2f} ULP"
    mirrored = computed(name, -x)
    assert (mirrored if name == "cos" else -mirrored).tobytes() == got.tobytes()


@pytest.mark.parametrize("character", "efd")
def test_signs_and_what_has_no_angle(character):
    x = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan] * 5, character)
    for small in (0, 4096):
        sine, cosine = computed("sin", x, small), computed("cos", x, small)
        assert numpy.array_equal(sine[:2], [0, 0]) and numpy.signbit(sine[:2]).tolist() == [False, True]
        assert numpy.array_equal(cosine[:2], [1, 1])
        assert numpy.isnan(sine[2:5]).all() and numpy.isnan(cosine[2:5]).all()


@pytest.mark.parametrize("character", "efdFD")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_angles_among_others_have_the_same_bits_everywhere(name, character):
    """One in a vector, a few, all: in loops of every kind and length."""
    rng = numpy.random.default_rng(7)
    with numpy.errstate(over="ignore"):
        every = numpy.concatenate([angles("f"), -angles("f")]).astype(character)
    size = 5003
    common = rng.uniform(-50, 50, size).astype(character)
    for part in (0.0, 0.01, 0.5, 1.0):
        x = numpy.where(rng.random(size) < part, rng.choice(every, size), common)
        expected = numpy.concatenate([computed(name, one, small=4096) for one in x.reshape(-1, 1)])
        for settings in (
            {"small": 1 << 20},
            {"tier": "jit"},
            {"tier": "block"},
            {"tier": "jit", "fuse": False},
        ):
            got = computed(name, x, **settings)
            assert got.tobytes() == expected.tobytes(), (part, settings)
        for start, stop, step in ((1, None, 1), (0, 37, 1), (3, 20, 1), (0, None, 3)):
            got = computed(name, x[start:stop:step], tier="jit")
            assert got.tobytes() == expected[start:stop:step].tobytes(), (part, start, stop, step)


def test_both_of_an_angle_are_those_of_each():
    rng = numpy.random.default_rng(8)
    x = numpy.concatenate([rng.uniform(-1000, 1000, 9000), angles("d")])
    rng.shuffle(x)
    for character in "df":
        with numpy.errstate(over="ignore"):
            angle = weft.asarray(x.astype(character))
        for tier in ("jit", "block"):
            with weft.config(small=0, tier=tier):
                both = numpy.asarray(weft.sin(angle) + 2 * weft.cos(angle))
                sine, cosine = weft.sin(angle), weft.cos(angle)
                weft.eval(sine)
                weft.eval(cosine)
                assert numpy.asarray(sine + 2 * cosine).tobytes() == both.tobytes(), (character, tier)
