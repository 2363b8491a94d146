"""Operands for tests of the op table: for each dtype the numbers at which implementations differ."""

import numpy

RNG_SEED = 20240611


def generator(*key):
    return numpy.random.default_rng([RNG_SEED, *(ord(c) for part in key for c in str(part))])


def special_floats(dtype):
    info = numpy.finfo(dtype)
    values = [
        0.0,
        1.0,
        2.0,
        0.5,
        3.0,
        1.5,
        2.5,
        1e-3,
        numpy.pi,
        100.0,
        1000.0,
        88.7,
        89.3,
        103.9,
        709.7,
        710.4,
        745.1,
    ]
    values += [5.5, 3.95, 26.5, 27.2, 1e22, numpy.inf, info.max, info.tiny, info.smallest_subnormal]
    values += [1 + float(info.eps), 1 - float(info.epsneg)]
    with numpy.errstate(over="ignore"):
        values = numpy.array(values, dtype=dtype)
    return numpy.concatenate([values, -values, numpy.array([numpy.nan], dtype)])


def values(character, count, *key):
    """`count` elements of the dtype: special ones, small ones and any bit pattern, in random order."""
    rng = generator(character, count, *key)
    dtype = numpy.dtype(character)
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if dtype.kind == "c":
        part = "f" if character == "F" else "d"
        result = numpy.empty(count, dtype)
        result.real = values(part, count, "real", *key)
        result.imag = values(part, count, "imag", *key)
        return result
    if dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        special = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, info.max, info.max - 1, info.min, info.min + 1]
        special += [-1, -2, -3, -7] if dtype.kind == "i" else []
        special = numpy.array([x for x in special if info.min <= x <= info.max], dtype)
        small = rng.integers(-20 if dtype.kind == "i" else 0, 20, count).astype(dtype)
        wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    else:
        bits = {2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}[dtype.itemsize]
        special = special_floats(dtype)
        whole = rng.integers(-30, 30, count)
        small = numpy.where(rng.random(count) < 0.5, rng.standard_normal(count) * 10, whole).astype(dtype)
        wide = rng.integers(0, numpy.iinfo(bits).max, count, dtype=bits, endpoint=True).view(dtype)
        wide[numpy.isnan(wide)] = (
            numpy.nan
        )  # quiet ones only: of others NumPy's loops differ among themselves
    choice = rng.random(count)
    result = numpy.where(choice < 0.4, small, wide)
    return numpy.where(choice > 0.7, special[rng.integers(0, len(special), count)], result)


def units_in_last_place(ours, theirs):
    """How far `ours` is from `theirs`, in units of the last place of `theirs`; 0 for equal infinities and nans."""
    info = numpy.finfo(theirs.dtype)
    with numpy.errstate(all="ignore"):
        same = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
        unit = numpy.abs(numpy.spacing(numpy.where(numpy.isfinite(theirs), theirs, 1)))
        unit = numpy.where(
            numpy.isfinite(unit), unit, numpy.spacing(numpy.nextafter(info.max, info.dtype.type(0)))
        )
        distance = numpy.abs(ours.astype(numpy.longdouble) - theirs) / unit.astype(numpy.longdouble)
        return numpy.where(same, 0, numpy.where(numpy.isnan(distance), numpy.inf, distance)).astype(float)
