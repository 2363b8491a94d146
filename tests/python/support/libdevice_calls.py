"""What tests of cuda.libdevice share: its functions over arrays, and numbers for them."""

import numpy
from weft import cuda
from weft.cuda.libdevice._table import TABLE

TYPES = {"d": "f8", "f": "f4", "i": "i4", "l": "i8", "h": "i2"}
INFINITY, NAN = numpy.inf, numpy.nan
RANDOM = numpy.random.default_rng(11)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, INFINITY, -INFINITY, NAN]
EDGES = [
    5e-324,
    -5e-324,
    2.0**-1022,
    1e-300,
    1e-45,
    -1e-45,
    2.0**-126,
    3.4e38,
    -3.4e38,
    1e300,
    1.7e308,
    -1.7e308,
]
EDGES += [
    0.49999999999999994,
    4503599627370497.5,
    2.0**31,
    2.0**31 - 1,
    -(2.0**31),
    2.0**32,
    2.0**63,
    -(2.0**63),
]
EDGES += [-(2.0**31) - 0.5, 2.0**31 - 0.5, 2.0**32 - 0.5, 2.0**64, 1e19, 8388607.5, 2147483520.0]
SPREAD = numpy.exp(RANDOM.uniform(-12, 12, 120)) * RANDOM.choice([-1, 1], 120)
REALS = numpy.array([*SPECIAL, *EDGES, *SPREAD])
WORDS = numpy.array([0, 1, -1, 2, 7, 255, 1 << 23, (1 << 24) - 1, -(1 << 23), (1 << 31) - 1, -(1 << 31)])
INT32 = numpy.array([*WORDS, *RANDOM.integers(-(1 << 31), 1 << 31, 100)], "i4")
INT64 = numpy.array([*WORDS, (1 << 63) - 1, -(1 << 63), *RANDOM.integers(-(1 << 62), 1 << 62, 100)], "i8")
UNSIGNED32, UNSIGNED64 = INT32.view("u4"), INT64.view("u8")


def computed(names, *arrays):
    """What functions of the same types give, by their names."""
    results, arguments, _ = TABLE[names[0]]
    assert all(TABLE[name][:2] == (results, arguments) for name in names)
    given = [
        numpy.ascontiguousarray(array).astype(TYPES[kind])
        for array, kind in zip(arrays, arguments, strict=True)
    ]
    passed = ", ".join(f"{each}[i]" for each in "abc"[: len(given)])
    lines = [f"def kernel({', '.join('abc'[: len(given)])}, first, second):", "    i = cuda.grid(1)"]
    lines.append("    if i < a.size:")
    for k, name in enumerate(names):
        targets = ", ".join(f"{each}[{k}, i]" for each in ("first", "second")[: len(results)])
        lines.append(f"        {targets} = cuda.libdevice.{name}({passed})")
    text = "\n".join(lines) + "\n"
    scope = {"cuda": cuda}
    exec(text, scope)
    kernel = cuda.jit(scope["kernel"], source=text)
    size = len(given[0])
    found = [numpy.zeros((len(names), size), TYPES[kind]) for kind in (results * 2)[:2]]
    kernel[-(-size // 64), 64](*given, *found)
    cuda.synchronize()
    assert kernel._refusal is None  # no GPU left it to the CPU
    if len(results) == 1:
        return dict(zip(names, found[0], strict=True))
    return dict(zip(names, zip(*found, strict=True), strict=True))
