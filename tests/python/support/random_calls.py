"""Random calls of a function of NumPy and of weft: arguments, the call, and whether the results are the same.

An argument that is an array is described once and made twice, for NumPy and for weft, with the same layout in memory.
"""

import warnings

import numpy
import weft
from comparing import exception_kind, visible_strides

KINDS = "?bBhHiIlLefdFD"


class Array:
    """An array of either library: values in C order, and a view of them, which `text` says as a program would."""

    def __init__(self, base, view, text="{}"):
        self.base, self.view, self.text = base, view, text

    @property
    def sample(self):
        return self.view(self.base)

    def make(self, np):
        return self.view(np.array(self.base))

    def source(self):
        """As an expression of a program in which `np` is the library."""
        code = self.base.dtype.char
        values = f"np.array({self.base.tolist()!r}, {code!r})"
        return self.text.format(values if self.base.size else f"np.empty({self.base.shape}, {code!r})")

    def __repr__(self):
        x = self.sample
        return f"array({x.tolist()!r}, {x.dtype.char!r}, shape={x.shape}, strides={x.strides})"


def made(argument, np):
    """The argument with its arrays made by `np`."""
    if isinstance(argument, Array):
        return argument.make(np)
    if isinstance(argument, (list, tuple)):
        return type(argument)(made(item, np) for item in argument)
    if isinstance(argument, dict):
        return {key: made(item, np) for key, item in argument.items()}
    return argument


class Draw:
    """Random arguments."""

    def __init__(self, *key):
        self.tame = False  # complex numbers without nan and infinities
        self.rng = numpy.random.default_rng(
            [ord(c) if isinstance(c, str) else c for part in key for c in _items(part)]
        )

    def chance(self, part):
        return self.rng.random() < part

    def choice(self, *options):
        return options[self.rng.integers(len(options))]

    def number(self, low, high):
        """An integer, both ends among them."""
        return int(self.rng.integers(low, high + 1))

    def real(self):
        return self.choice(
            0.0, -0.0, 0.5, 1.0, -1.5, 2.25, 3.0, float("nan"), float("inf"), self.number(-5, 5)
        )

    def shape(self, low=0, high=3, least=0):
        extents = [self.number(max(least, 1), 4) for _ in range(self.number(low, high))]
        if least == 0 and extents and self.chance(0.12):
            extents[self.rng.integers(len(extents))] = 0
        return tuple(extents)

    def dtype(self, kinds=KINDS):
        return self.choice(*kinds)

    def numbers(self, shape, dtype, special=True, low=-5, high=5):
        dtype = numpy.dtype(dtype)
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.kind == "u":
            low = max(low, 0)
        whole = self.rng.integers(low, high + 1, shape)
        if dtype.kind in "iu":
            return whole.astype(dtype)
        values = whole / 4 if self.chance(0.5) else whole * 1.0
        if special and self.chance(0.3) and not (dtype.kind == "c" and self.tame):
            odd = numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0])[self.rng.integers(0, 4, shape)]
            values = numpy.where(self.rng.random(shape) < 0.25, odd, values)
        if dtype.kind == "c" and self.chance(0.8):
            result = numpy.empty(shape, dtype)
            result.real, result.imag = values, self.rng.integers(low, high + 1, shape)
            return result
        return values.astype(dtype)

    def array(
        self, kinds=KINDS, shape=None, *, low=0, high=3, least=0, special=True, values=(-5, 5), layout=None
    ):
        """An array in one of many layouts."""
        shape = self.shape(low, high, least) if shape is None else tuple(shape)
        dtype = self.dtype(kinds)
        layouts = ["C", "C", "C"] + (["F", "sliced", "reversed", "broadcast", "swapped"] if shape else [])
        layout = layout or self.choice(*layouts)

        def base(extents):
            return numpy.asarray(self.numbers(extents, dtype, special, *values), dtype)

        if layout == "F":
            return Array(base(shape[::-1]), lambda x: x.T, "{}.T")
        if layout == "sliced":
            key = tuple(slice(1, None, 2) for _ in shape)
            text = ", ".join(["1::2"] * len(shape))
            return Array(base([2 * n + 1 for n in shape]), lambda x: x[key], f"{{}}[{text}]")
        if layout == "reversed":
            axis = self.number(0, len(shape) - 1)
            key = tuple(slice(None, None, -1 if d == axis else 1) for d in range(len(shape)))
            text = ", ".join("::-1" if d == axis else ":" for d in range(len(shape)))
            return Array(base(shape), lambda x: x[key], f"{{}}[{text}]")
        if layout == "swapped":
            order = self.rng.permutation(len(shape)).tolist()
            back = [order.index(d) for d in range(len(shape))]
            text = f"{{}}.transpose({back})"
            return Array(base([shape[d] for d in order]), lambda x: x.transpose(back), text)
        if layout == "broadcast":
            axis = self.number(0, len(shape) - 1)
            own = tuple(1 if d == axis else n for d, n in enumerate(shape))
            text = f"np.broadcast_to({{}}, {shape})"
            return Array(base(own), lambda x: _library(x).broadcast_to(x, shape), text)
        return Array(base(shape), lambda x: x)

    def vector(self, kinds=KINDS, least=0, most=6, **options):
        return self.array(kinds, (self.number(least, most),), **options)

    def matrix(self, kinds=KINDS, least=0, **options):
        return self.array(kinds, self.shape(2, 2, least), **options)

    def partner(self, x, kinds=KINDS, **options):
        """An array that broadcasts with another, most of the time."""
        shape = list(x.sample.shape)
        if self.chance(0.05):
            return self.array(kinds, **options)
        shape = [1 if self.chance(0.2) else n for n in shape]
        return self.array(kinds, shape[self.number(0, len(shape)) if self.chance(0.2) else 0 :], **options)

    def axis(self, x, wrong=0.04):
        """An axis, sometimes from the end, sometimes beyond it."""
        ndim = x.sample.ndim if isinstance(x, Array) else x
        if self.chance(wrong) or ndim == 0:
            return self.choice(ndim, -ndim - 1, 0)
        return self.number(-ndim, ndim - 1)

    def axes(self, x):
        """None, an axis, or several."""
        ndim = x.sample.ndim
        kind = self.choice("none", "one", "one", "some")
        if kind == "none":
            return None
        if kind == "one" or ndim < 2:
            return self.axis(x)
        return tuple(self.rng.permutation(ndim)[: self.number(0, ndim)].tolist())

    def indices(self, extent, shape=None, wrong=0.05, kinds="l"):
        shape = self.shape(0, 2) if shape is None else shape
        extra = 1 if self.chance(wrong) else 0
        values = (
            self.rng.integers(-extent - extra, extent + extra, shape)
            if extent + extra
            else numpy.zeros(shape)
        )
        return Array(numpy.asarray(values, kinds), lambda x: x)

    def listed(self, x):
        """An array, or the same as a list."""
        return x.sample.tolist() if self.chance(0.15) else x


def _items(part):
    return part if isinstance(part, str) else [part]


def _library(x):
    return weft if isinstance(x, weft.ndarray) else numpy


class Call:
    """A call of a function of either library by name."""

    def __init__(self, *arguments, **options):
        self.arguments = arguments
        self.options = {key: value for key, value in options.items() if value is not OMIT}

    def run(self, name, np):
        """The result and what the arguments are afterwards, or the exception."""
        arguments, options = made(self.arguments, np), made(self.options, np)
        return self._outcome(getattr(np, name), arguments, options)

    def run_method(self, name, np):
        """The same, of the method of the first argument."""
        (first, *rest), options = made(self.arguments, np), made(self.options, np)
        return self._outcome(getattr(first, name, None), rest, options)

    @staticmethod
    def _outcome(function, arguments, options):
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                result = function(*arguments, **options)
                if type(result).__name__ in ("generator", "map", "zip"):
                    result = list(result)
            except Exception as error:
                return error, []
        changed = [x for x in (*arguments, *options.values()) if isinstance(x, (numpy.ndarray, weft.ndarray))]
        return result, changed

    def __repr__(self):
        words = [repr(x) for x in self.arguments] + [
            f"{key}={value!r}" for key, value in self.options.items()
        ]
        return f"({', '.join(words)})"

    @property
    def repeats(self):
        """Whether an array repeats its elements: how NumPy's composed functions lay out what follows is an accident."""
        samples = [x.sample for x in self.arguments if isinstance(x, Array)]
        return any(0 in [s for s, n in zip(x.strides, x.shape) if n > 1] for x in samples)


class _Omit:
    def __repr__(self):
        return "OMIT"


OMIT = _Omit()


class Difference(AssertionError):
    """What NumPy gives and weft does not."""


def coarsest(call):
    """The epsilon of the shortest floats that a ufunc may compute in, whatever the result is stored as."""
    if not {"out", "dtype"} & set(call.options):
        return 0.0
    kinds = {x.sample.dtype.char for x in call.arguments if isinstance(x, Array)}
    kinds |= {str(call.options.get("dtype", ""))}
    return 1e-3 if kinds & set("?bBe") else 1.2e-7 if kinds & set("hHfF") else 0.0


def compare(result, expected, tolerance=0.0, *, strides=True, coarse=0.0):
    """Raises Difference where type, dtype, shape, values, memory order or the kind of error differ."""
    if isinstance(expected, Exception):
        if not isinstance(result, Exception):
            raise Difference(f"NumPy raises {type(expected).__name__}: {expected}; weft gives {result!r}")
        if exception_kind(result) != exception_kind(expected):
            raise Difference(
                f"{type(result).__name__}: {result}; NumPy {type(expected).__name__}: {expected}"
            )
        return
    if isinstance(result, Exception):
        raise Difference(f"{type(result).__name__}: {result}; NumPy gives {expected!r}")
    if isinstance(expected, (tuple, list)):
        if not isinstance(result, (tuple, list)) or isinstance(expected, list) != isinstance(result, list):
            raise Difference(f"a {type(result).__name__}, NumPy a {type(expected).__name__}")
        if len(result) != len(expected):
            raise Difference(f"{len(result)} results, NumPy {len(expected)}")
        for mine, other in zip(result, expected):
            compare(mine, other, tolerance, strides=strides, coarse=coarse)
        return
    if isinstance(expected, dict):
        if result != expected:
            raise Difference(f"{result!r}; NumPy {expected!r}")
        return
    if isinstance(expected, numpy.dtype):
        if getattr(result, "str", None) != expected.str:
            raise Difference(f"{result!r}; NumPy {expected!r}")
        return
    if not isinstance(expected, (numpy.ndarray, numpy.generic)):
        if type(result) is not type(expected) or not (result == expected or result != result):
            raise Difference(
                f"{type(result).__name__} {result!r}; NumPy {type(expected).__name__} {expected!r}"
            )
        return
    scalar = isinstance(expected, numpy.generic)
    if scalar != isinstance(result, weft.generic) or scalar == isinstance(result, weft.ndarray):
        raise Difference(
            f"a {type(result).__name__}, NumPy a {type(expected).__name__}: {result!r}, {expected!r}"
        )
    if result.shape != expected.shape or result.dtype.str != expected.dtype.str:
        raise Difference(
            f"{result.dtype}{result.shape}, NumPy {expected.dtype}{expected.shape}: {result!r}, {expected!r}"
        )
    if not scalar and strides and expected.size and visible_strides(result) != visible_strides(expected):
        raise Difference(f"strides {result.strides}, NumPy {expected.strides} of shape {expected.shape}")
    mine, other = numpy.asarray(result), numpy.asarray(expected)
    if not near(mine, other, tolerance, coarse):
        raise Difference(f"{mine.tolist()!r}, NumPy {other.tolist()!r}")


def near(mine, other, tolerance, coarse=0.0):
    """Equal, or within `tolerance` roundings of the largest number there is."""
    if other.dtype.kind == "c":
        return all(
            near(getattr(mine, part), getattr(other, part), tolerance, coarse) for part in ("real", "imag")
        )
    with numpy.errstate(all="ignore"):
        same = (mine == other) | ((mine != mine) & (other != other))
        if tolerance and other.dtype.kind == "f" and other.size:
            finite = abs(other[numpy.isfinite(other)]).astype("d")
            scale = max(finite.max(initial=0), 1)
            distance = abs(mine.astype("d") - other.astype("d"))
            same |= distance <= tolerance * scale * max(float(numpy.finfo(other.dtype).eps), coarse)
    return bool(same.all())
