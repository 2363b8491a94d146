"""The error of every mathematical function of the op table against mpmath: at most what the table says, and 4 ULP.

Complex results are judged by norm. Arguments are bit patterns at random, moderate numbers, and the places where
methods change. docs/reference/accuracy.md lists what was measured, by
`python tests/python/numpy/ufuncs/test_accuracy.py [count]`.
"""

import sys
from pathlib import Path

import numpy
import pytest
import weft

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from exact import LIMIT, TABLE, bound, error, mp, unit_in_last_place
from ufunc_values import generator, special_floats

COUNT = 240


def real_cube_root(x):
    return mp.cbrt(x) if x >= 0 else -mp.cbrt(-x)


REAL = {
    "sqrt": mp.sqrt,
    "cbrt": real_cube_root,
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "exp10": lambda x: mp.mpf(10) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "arcsin": mp.asin,
    "arccos": mp.acos,
    "arctan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "arcsinh": mp.asinh,
    "arccosh": mp.acosh,
    "arctanh": mp.atanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "deg2rad": mp.radians,
    "rad2deg": mp.degrees,
    "radians": mp.radians,
    "degrees": mp.degrees,
    "reciprocal": lambda x: 1 / x,
    "power": mp.power,
    "float_power": mp.power,
    "arctan2": mp.atan2,
    "hypot": mp.hypot,
    "divide": lambda x, y: x / y,
    "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
    "logaddexp2": lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y) / mp.log(2),
}
COMPLEX = {
    name: REAL[name]
    for name in (
        *(
            "sqrt",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "arcsin",
            "arccos",
        ),
        *("arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "reciprocal", "divide"),
    )
}
# Where samples of a million numbers found the largest errors.
WORST = {
    "sin": (["0x1.4dff98p+13"], ["0x1.c6ac7bee8bc13p+39"]),
    "cos": (["0x1.9c8fc2p+16"], ["0x1.3329ce11b4c7cp+44"]),
    "exp": (["-0x1.1bfbeep+6"], ["-0x1.1f52a51a7b15p+2"]),
    "expm1": (["0x1.92cb86p-2"], ["0x1.725b6a6af19p-2"]),
    "sinh": (["-0x1.fa9468p-4"], ["0x1.7666001999a3p-2"]),
    "cosh": (["0x1.3d874ap+1"], ["0x1.3db2597559f48p+1"]),
    "tanh": (["-0x1.ea7508p-5"], ["-0x1.be6e86620189p-3"]),
    "erf": (["0x1.11cddep+0"], ["0x1.f01cf24031e13p-1"]),
    "erfc": (["0x1.e963fep+2"], ["0x1.c92a83f152481p+1"]),
}
# Results here mean that the exact one needs more digits than are worth computing.
HUGE = 20000


def mathematical():
    return [name for name, row in TABLE.items() if row["kind"] == "mathematical"]


def real_arguments(dtype, count, key):
    rng = generator("accuracy", dtype, key)
    bits = {2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}[numpy.dtype(dtype).itemsize]
    pattern = rng.integers(0, numpy.iinfo(bits).max, count // 3, dtype=bits, endpoint=True).view(dtype)
    scale = rng.choice([1e-3, 0.1, 1, 10, 300], count // 3)
    moderate = (rng.standard_normal(count // 3) * scale).astype(dtype)
    unit = rng.uniform(-1.1, 1.1, count // 3).astype(dtype)
    near_one = (1 + rng.standard_normal(30) * 1e-3).astype(dtype)
    x = numpy.concatenate([pattern, moderate, unit, near_one, special_floats(dtype)])
    return rng.permutation(x[numpy.isfinite(x)])


def digits_for(name, arguments):
    if name in ("sin", "cos", "tan") and any(abs(x) > 1e10 for x in arguments):
        return 380
    return 60


def measure_real(name, character, count):
    """The largest error of the function in ULP, and where it is."""
    row = TABLE[name]
    info = numpy.finfo(character)
    inputs = [real_arguments(character, count, f"{name}{i}") for i in range(row["in"])]
    if name in WORST and character in "fd":
        found = [float.fromhex(x) for x in WORST[name][character == "d"]]
        inputs[0] = numpy.concatenate([inputs[0], numpy.array(found, character)])
    length = min(map(len, inputs))
    inputs = [x[:length] for x in inputs]
    if name in ("power", "float_power"):
        inputs[0] = numpy.abs(inputs[0])
    ufunc = weft._core._ufuncs[name]
    with weft.config(small=0):
        got = numpy.asarray(ufunc(*map(weft.asarray, inputs)))
    worst, where = 0.0, None
    for k in range(length):
        arguments = [mp.mpf(float(x[k])) for x in inputs]
        grows = name in ("exp", "exp2", "exp10", "expm1", "sinh", "cosh", "logaddexp", "logaddexp2")
        if grows and any(abs(x) > HUGE for x in arguments):
            continue
        if name == "arctan2" and arguments[0] == 0:
            continue  # the sign of zero decides, which mpmath does not have
        if name == "erfc" and abs(arguments[0]) > 1000:
            continue
        if "power" in name and (arguments[0] == 0 or abs(arguments[1] * mp.log(arguments[0])) > HUGE):
            continue
        with mp.workdps(digits_for(name, arguments)):
            try:
                exact = REAL[name](*arguments)
            except (ZeroDivisionError, ValueError):
                continue  # a pole or outside the domain: test_op_table.py compares with NumPy
            if not isinstance(exact, mp.mpf) or not mp.isfinite(exact):
                continue
            if name in ("logaddexp", "logaddexp2") and abs(exact) < max(map(abs, arguments)):
                continue  # cancels: the error is relative to the operands
            off = error(got[k], exact, info)
        if off > worst:
            worst, where = off, [x[k] for x in inputs]
    return worst, where


def measure_complex(name, character, count):
    row = TABLE[name]
    part = "f" if character == "F" else "d"
    info = numpy.finfo(part)
    inputs = []
    for i in range(row["in"]):
        rng = generator("complex", name, i)
        scale = rng.choice([1e-8, 1e-3, 0.3, 1, 3, 20], (2, count))
        re, im = rng.standard_normal((2, count)) * scale
        z = (re + 1j * im).astype(character)
        z[: count // 8] = (numpy.exp(1j * re[: count // 8])).astype(character)  # near the unit circle
        inputs.append(z)
    with weft.config(small=0):
        got = numpy.asarray(weft._core._ufuncs[name](*map(weft.asarray, inputs)))
    worst, where = 0.0, None
    for k in range(count):
        arguments = [mp.mpc(complex(x[k])) for x in inputs]
        with mp.workdps(60):
            try:
                exact = mp.mpc(COMPLEX[name](*arguments))
            except (ZeroDivisionError, ValueError):
                continue
            off = abs(mp.mpc(complex(got[k])) - exact) / unit_in_last_place(abs(exact), info)
        if not off <= worst:
            worst, where = float(off), [x[k] for x in inputs]
    return worst, where


def test_every_function_is_measured():
    assert set(mathematical()) <= set(REAL)


@pytest.mark.parametrize("character", "efd")
@pytest.mark.parametrize("name", REAL)
def test_real(name, character):
    if not any(types.startswith(character) for types in weft._core._ufuncs[name].types):
        pytest.skip("no loop of this dtype")
    worst, where = measure_real(name, character, COUNT)
    # float16 is float32 rounded: the second rounding moves a result by half a unit at most.
    allowed = 0.51 if character == "e" else bound(name) + 1e-6
    assert worst <= min(allowed, LIMIT), f"{name} is off by {worst:.2f} ULP at {where}"


@pytest.mark.parametrize("character", "fd")
def test_powers_up_to_the_largest_number(character):
    """Results near the largest number: finite as long as the nearest number is, and as exact as elsewhere."""
    info = numpy.finfo(character)
    rng = generator("largest powers", character)
    limit = numpy.log(info.max)
    x = numpy.exp(rng.uniform(-limit / 2, limit / 2, 4 * COUNT))
    x[::3] = 1 + rng.standard_normal(x[::3].size) * 1e-3
    x[::20] = info.smallest_subnormal * rng.integers(1, 99, x[::20].size)
    x = x.astype(character)
    x = x[x != 1]
    closeness = rng.choice([1e-2, 1e-4, 1e-6, 1e-7], x.size) if character == "d" else 1e-2
    y = ((1 + rng.uniform(-1, 0.2, x.size) * closeness) * limit / numpy.log(x.astype("f8"))).astype(character)
    with numpy.errstate(all="ignore"), weft.config(small=0):
        got = numpy.asarray(weft.power(weft.asarray(x), weft.asarray(y)))
    assert numpy.isinf(got).any() and (numpy.isfinite(got)).sum() > x.size // 2
    worst = 0.0
    for base, exponent, result in zip(x, y, got, strict=True):
        with mp.workdps(60):
            exact = mp.power(mp.mpf(float(base)), mp.mpf(float(exponent)))
            off = error(result, exact, info)
        worst = max(worst, off)
        assert off <= bound("power"), f"{base!r} ** {exponent!r} is {result!r}, off by {off:.2f} ULP"
    with weft.config(small=1 << 20):
        assert numpy.asarray(weft.power(weft.asarray(x), weft.asarray(y))).tobytes() == got.tobytes()


def test_powers_of_negative_numbers_near_overflow():
    x = [
        -2.0,
        -2,
        -2,
        -10,
        -10,
        -10,
        -0.0,
        -0.0,
        -numpy.inf,
        -numpy.inf,
        -1e300,
        -numpy.finfo("d").max,
        2,
        -5e-324,
    ]
    y = [1023.0, 1024, 1023.5, 308, 307, 307.5, -3, -2, 3, 2.5, 1.01, 1, 1024, -0.9]
    with numpy.errstate(all="ignore"):
        expected = numpy.power(x, y)
    for small in (0, 4096):
        with weft.config(small=small):
            numpy.testing.assert_array_max_ulp(numpy.asarray(weft.power(x, y)), expected, 2)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("character", "FD")
def test_complex_power(character, whole):
    """docs/reference/accuracy.md states how far the error grows: with abs(y * log(x)), or with a whole exponent."""
    info = numpy.finfo("f" if character == "F" else "d")
    rng = generator("complex power", character, whole)
    size = 2 * COUNT
    x = numpy.exp(rng.uniform(-3, 3, size) * rng.choice([1, 0.05], size) + 1j * rng.uniform(-3.1, 3.1, size))
    y = (rng.standard_normal((2, size)) * rng.choice([0.1, 1, 10, 100], size)).T.copy().view("D")[:, 0]
    if whole:
        y = rng.integers(-99, 100, size).astype("D")
    x, y = x.astype(character), y.astype(character)
    got = numpy.asarray(weft.power(weft.asarray(x), weft.asarray(y)))
    measured = 0
    for base, exponent, result in zip(x, y, got, strict=True):
        with mp.workdps(60):
            b, e = mp.mpc(complex(base)), mp.mpc(complex(exponent))
            exact = mp.power(b, e)
            if not info.tiny * 16 < abs(exact) < info.max / 16:
                continue
            off = float(abs(mp.mpc(complex(result)) - exact) / unit_in_last_place(abs(exact), info))
            allowed = abs(e) + 1 if whole else 4 + 3 * abs(e * mp.log(b))
        measured += 1
        assert off <= (1 if character == "F" else allowed), (
            f"{base!r} ** {exponent!r} is off by {off:.2f} ULP"
        )
    assert measured > size // 2


@pytest.mark.parametrize("character", "FD")
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, character):
    worst, where = measure_complex(name, character, COUNT // 2)
    assert worst <= bound(name, "ulp_complex"), f"{name} is off by {worst:.2f} ULP at {where}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    print("| function | float32 | float64 | complex64 | complex128 |")
    print("| --- | --- | --- | --- | --- |")
    for name in REAL:
        cells = []
        for character in "fd":
            has_loop = any(types.startswith(character) for types in weft._core._ufuncs[name].types)
            cells.append(f"{measure_real(name, character, count)[0]:.2f}" if has_loop else "")
        for character in "FD":
            cells.append(f"{measure_complex(name, character, count // 3)[0]:.2f}" if name in COMPLEX else "")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
