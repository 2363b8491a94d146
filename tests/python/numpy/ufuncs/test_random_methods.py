"""Random calls of the methods of all ufuncs, with dtypes, axes and outputs of every kind, beside NumPy's.

Values, dtypes and shapes agree, or the kinds of error do.
"""

import random
import zlib

import numpy
import pytest
import weft
from comparing import outcome

UFUNCS = sorted(
    name
    for name in dir(numpy)
    if isinstance(getattr(numpy, name), numpy.ufunc)
    and type(getattr(weft, name, None)) is weft.ufunc
    and getattr(numpy, name).__name__ == name
)
DTYPES = "?bBhiIlLefdFDOg"
SHAPES = [(3,), (2, 3), (0,), (2, 0), (), (4, 2, 2)]


class Case:
    """A call, made from random choices once, run with both."""

    def __init__(self, choices, name):
        self.name, self.choices = name, choices
        self.ufunc = getattr(numpy, name)
        self.method = choices.choice(["reduce", "reduce", "accumulate", "reduceat", "outer", "at"])
        self.x = self.numbers(choices.choice(SHAPES))
        self.options = {}
        if self.method in ("reduce", "accumulate", "reduceat") and choices.random() < 0.6:
            self.options["axis"] = choices.choice([0, -1, 1, None, (0, 1), (0,), (0, 0), 5])
        if self.method != "at" and choices.random() < 0.6:
            self.options["dtype"] = choices.choice(DTYPES)
        if self.method == "reduce":
            self.options["keepdims"] = choices.choice([True, False])
            if choices.random() < 0.2:
                self.options["initial"] = choices.choice([0, 1, 2.5])
        self.index = {
            "reduceat": choices.choice([[0], [0, 2], [1, 0, 1], [5], [-1], []]),
            "at": choices.choice([0, [0], [0, 1], [0, 0, 1], [7], slice(None), ...]),
        }.get(self.method)
        self.other = (
            self.numbers(choices.choice([(), (3,), (1,), (2,)])) if self.method in ("outer", "at") else None
        )
        self.out = None
        if self.method != "at" and choices.random() < 0.6:
            self.out = self.output()

    def numbers(self, shape):
        # NumPy's `at` loses references of objects.
        dtype = self.choices.choice(DTYPES.replace("O", "") if self.method == "at" else DTYPES)
        drawn = [self.choices.randint(0, 3) for _ in range(int(numpy.prod(shape)))]
        return numpy.array(drawn, int).reshape(shape).astype(dtype)

    def output(self):
        if self.choices.random() < 0.1:
            return self.choices.choice(["3", "(None, None)"])
        shape = self.x.shape
        found = outcome(lambda np: self.call(np, numpy.add, plain=True), numpy)
        if not isinstance(found, Exception):
            shape = numpy.shape(found)
        if self.choices.random() < 0.15:
            shape = self.choices.choice([(), (3,), (1, *shape), (5,)])
        # What is folded into a bool on the way is not defined.
        return shape, self.choices.choice(DTYPES[1:]), self.choices.random() < 0.3

    def call(self, np, ufunc, plain=False):
        x = numpy.ones(self.x.shape) if plain else np.array(self.x)
        options = {
            key: value for key, value in self.options.items() if not plain or key in ("axis", "keepdims")
        }
        if isinstance(getattr(self, "out", None), str):
            options["out"] = eval(self.out)
        elif getattr(self, "out", None) is not None:
            shape, dtype, in_tuple = self.out
            out = np.zeros(shape, dtype)
            options["out"] = (out,) if in_tuple else out
        method = getattr(ufunc, self.method)
        if self.method == "reduceat":
            return method(x, self.index, **options)
        if self.method == "outer":
            return method(x, np.array(self.other), **options)
        if self.method == "at":
            method(x, self.index, *[np.array(self.other)] * (ufunc.nin - 1))
            return x
        return method(x, **options)

    def run(self, np):
        return outcome(lambda np: self.call(np, getattr(np, self.name)), np)

    def __repr__(self):
        parts = [
            f"{self.name}.{self.method}({self.x!r}",
            f"{self.index}",
            f"{self.other!r}",
            f"{self.options}",
        ]
        return ", ".join(parts) + f", out={self.out})"


def is_kind_of(error):
    for kind in (numpy.exceptions.AxisError, weft.exceptions.AxisError):
        if isinstance(error, kind):
            return "AxisError"
    for kind in (TypeError, IndexError, ValueError, OverflowError, AttributeError, ZeroDivisionError):
        if isinstance(error, kind):
            return kind
    return type(error)


def agree(expected, result):
    if isinstance(expected, Exception) or isinstance(result, Exception):
        return is_kind_of(expected) is is_kind_of(result)
    expected, result = numpy.asarray(expected), numpy.asarray(result)
    if (expected.dtype, expected.shape) != (result.dtype, result.shape):
        return False
    if expected.dtype == object:
        return str(expected) == str(result)
    if expected.dtype.kind in "fc":
        with numpy.errstate(all="ignore"):
            return numpy.allclose(
                expected, result, rtol=1e-2 if expected.dtype.itemsize == 2 else 1e-5, equal_nan=True
            )
    return bool((expected == result).all())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UFUNCS)
def test_methods(name):
    choices = random.Random(zlib.crc32(name.encode()))
    for _ in range(60):
        case = Case(choices, name)
        with numpy.errstate(all="ignore"):
            expected, result = case.run(numpy), case.run(weft)
        if case.out and case.out[0] == (5,) and isinstance(result, ValueError):
            continue  # NumPy writes into the beginning of an output that is too long
        assert agree(expected, result), f"{case}\nNumPy: {expected!r}\nweft: {result!r}"


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_logical_folds_are_of_bool(name, method):
    for np in (numpy, weft):
        fold = getattr(getattr(np, name), method)
        with pytest.raises(TypeError, match=f"No loop matching .* for ufunc {name}"):
            fold(np.arange(3), dtype=int, out=np.zeros((3,) if method == "accumulate" else (), int))
        assert fold(np.arange(3), dtype=bool).dtype == bool


def test_sums_into_longer_outputs_are_theirs():
    for np in (numpy, weft):
        x, out = np.full(1000, 0.1, "f4"), np.zeros(())
        np.add.reduce(x, out=out)
        assert out == pytest.approx(float(numpy.float32(0.1)) * 1000, rel=1e-14)
        assert np.sum(x, out=out) == pytest.approx(float(numpy.float32(0.1)) * 1000, rel=1e-14)
