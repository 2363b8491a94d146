"""Measures the tables of NumPy's ziggurats and writes src/random/ziggurat_tables.inc.

weft.random gives NumPy's own numbers, so it needs the tables to the last bit, and NumPy's are not what the formulas
give: they carry the roundings of whoever computed them. A draw shows one factor: it is a known integer times it.
Thresholds and heights follow from the factors; there a last bit decides once in 2^52 draws.

Method: Marsaglia and Tsang, "The ziggurat method for generating random variables", 2000, with 256 layers.
"""

import math
import pathlib

import numpy

LAYERS = 256


def first_draws(method, dtype, bits):
    """{layer: [(integer, value)]} of the first draw of many seeds."""
    drawn = {}
    seed = 0
    while len(drawn) < LAYERS or min(map(len, drawn.values())) < 6:
        word = int(numpy.random.PCG64(seed).random_raw())
        generator = numpy.random.Generator(numpy.random.PCG64(seed))
        value = float(getattr(generator, method)(dtype=dtype))
        # The first draw of a generator is the first half of its first word, for float32.
        layer, integer = bits(word if dtype == "f8" else word & 0xFFFFFFFF)
        drawn.setdefault(layer, []).append((integer, abs(value)))
        seed += 1
    return drawn


def factor(pairs, dtype):
    """The factor that the most pairs agree upon; those that were refused went on to other numbers."""
    real = numpy.float64 if dtype == "f8" else numpy.float32
    votes = {}
    for integer, value in pairs:
        if integer == 0:
            continue
        middle = real(value / integer)
        near = [middle]
        for direction in (-numpy.inf, numpy.inf):
            other = middle
            for _ in range(3):
                other = numpy.nextafter(other, real(direction))
                near.append(other)
        for candidate in near:
            if real(integer) * candidate == real(value):
                votes[candidate] = votes.get(candidate, 0) + 1
    return max(votes, key=votes.get)


def normal_bits(word):
    return word & 0xFF, (word >> 9) & 0xFFFFFFFFFFFFF


def normal_bits32(word):
    return word & 0xFF, (word >> 9) & 0x7FFFFF


def exponential_bits(word):
    return (word >> 3) & 0xFF, word >> 11


def exponential_bits32(word):
    return (word >> 1) & 0xFF, word >> 9


def factors_of(method, dtype, bits):
    return [factor(pairs, dtype) for _, pairs in sorted(first_draws(method, dtype, bits).items())]


def thresholds_and_heights(edges, width, density):
    heights = [1.0] + [density(edge) for edge in edges[1:]]
    # Below the threshold a point lies under the next layer's corner: always inside.
    thresholds = [round(edges[-1] / edges[0] * 2.0**width), 0]
    thresholds += [round(edges[k - 1] / edges[k] * 2.0**width) for k in range(2, LAYERS)]
    return thresholds, heights


def write(name, values, kind, show):
    lines = [f"inline constexpr {kind} {name}[{LAYERS}] = {{"]
    line = "   "
    for value in values:
        text = " " + show(value) + ","
        if len(line) + len(text) > 110:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join([*lines, line, "};", ""])


def main():
    gauss = lambda x: math.exp(-0.5 * x * x)  # noqa: E731
    decay = lambda x: math.exp(-x)  # noqa: E731
    text = "// Written by tools/measure_ziggurat.py: NumPy's ziggurats as their draws show them.\n"
    for name, method, density, bits, width, bits32 in (
        ("kNormal", "standard_normal", gauss, normal_bits, 52, normal_bits32),
        ("kExponential", "standard_exponential", decay, exponential_bits, 53, exponential_bits32),
    ):
        factors = factors_of(method, "f8", bits)
        edges = [float(each) * 2.0**width for each in factors]
        thresholds, heights = thresholds_and_heights(edges, width, density)
        text += write(name + "Thresholds", thresholds, "uint64_t", hex)
        text += write(name + "Factors", factors, "double", lambda x: float(x).hex())
        text += write(name + "Heights", heights, "double", lambda x: float(x).hex())
        # Those of float32 belong to the same edges, rounded once.
        thresholds, heights = thresholds_and_heights(edges, 23, density)
        text += write(name + "FloatThresholds", thresholds, "uint32_t", hex)
        text += write(
            name + "FloatFactors", factors_of(method, "f4", bits32), "float", lambda x: float(x).hex() + "F"
        )
        rounded = [float(numpy.float32(each)) for each in heights]
        text += write(name + "FloatHeights", rounded, "float", lambda x: x.hex() + "F")
    path = pathlib.Path(__file__).parents[1] / "src" / "core" / "ziggurat_tables.inc"
    path.write_text(text)


if __name__ == "__main__":
    main()
