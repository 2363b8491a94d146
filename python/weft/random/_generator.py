"""Generator: numbers of distributions from a stream."""

import math
from operator import index as _index

from weft import _core
from weft._array.axes import broadcast_shapes, moveaxis, normalize_axes
from weft._core import array, asarray, ndarray
from weft._protocols import overrides
from weft.random import _by_numpy, _choice
from weft.random._bit_generators import PCG64, BitGenerator
from weft.random._seed_sequence import SeedSequence

_UNIFORM, _NORMAL, _EXPONENTIAL, _EXPONENTIAL_BY_LOG = 1, 2, 3, 4  # Distribution


def _shape_of(size):
    if size is None:
        return ()
    if any(extent < 0 for extent in ((size,) if isinstance(size, int) else size)):
        raise ValueError("negative dimensions are not allowed")
    return size


def _sized(size, *parameters):
    """The shape of draws: `size`, or what the parameters' shapes give together."""
    shape = broadcast_shapes(*(each.shape for each in parameters))
    if size is None:
        return shape
    wanted = _core.broadcast_to(asarray(0), size).shape
    if broadcast_shapes(wanted, shape) != wanted:
        raise ValueError(
            f"Output size {wanted} is not compatible with broadcast dimensions of inputs {shape}."
        )
    return wanted


class Generator:
    """Draws numbers from a bit generator; the same ones as NumPy's Generator from the same stream.

    >>> np.random.default_rng(1).random(2)
    array([0.51182162, 0.9504637 ])
    """

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, BitGenerator):
            raise ValueError("Bit generator must be instantiated")
        self.bit_generator = bit_generator

    def __repr__(self):
        return f"Generator({type(self.bit_generator).__name__})"

    __str__ = __repr__

    def __reduce__(self):
        return Generator, (self.bit_generator,)

    def spawn(self, n_children):
        """New generators from children of this one's seed."""
        return [type(self)(each) for each in self.bit_generator.spawn(n_children)]

    def _real(self, distribution, size, dtype, out):
        name = _core.dtype(dtype).name
        if name not in ("float64", "float32"):
            raise TypeError(f"Unsupported dtype {_core.dtype(dtype)!r} for random numbers")
        if out is not None:
            if out.dtype != name:
                raise TypeError(f"Supplied output array has the wrong type. Expected {name}, got {out.dtype}")
            if not out.flags.c_contiguous or not out.flags.writeable:
                raise ValueError(
                    "Supplied output array must be contiguous, writable, aligned, and in machine byte-order."
                )
            if size is not None and tuple(_core.broadcast_to(asarray(0), size).shape) != out.shape:
                raise ValueError("size must match out.shape when used together")
            with self.bit_generator._unless_it_fails():
                out[...] = self.bit_generator._draw(_core._draw, distribution, out.shape, name)
            return out
        result = self.bit_generator._draw(_core._draw, distribution, _shape_of(size), name)
        return result[()].item() if size is None else result

    def random(self, size=None, dtype="float64", out=None):
        """Numbers that are evenly distributed in [0, 1).

        >>> np.random.default_rng(42).random(3)
        array([0.77395605, 0.43887844, 0.85859792])
        """
        return self._real(_UNIFORM, size, dtype, out)

    def standard_normal(self, size=None, dtype="float64", out=None):
        """Numbers of the normal distribution around 0 with deviation 1.

        >>> np.random.default_rng(42).standard_normal(3)
        array([ 0.30471708, -1.03998411,  0.7504512 ])
        """
        return self._real(_NORMAL, size, dtype, out)

    def standard_exponential(self, size=None, dtype="float64", method="zig", out=None):
        """Numbers of the exponential distribution with mean 1, by a ziggurat, or with method='inv' by a logarithm."""
        if method == "zig":
            return self._real(_EXPONENTIAL, size, dtype, out)
        return self._real(_EXPONENTIAL_BY_LOG, size, dtype, out)

    def _scaled(self, distribution, size, combine, *parameters):
        """Draws for the shape that `size` or the parameters say, and combines them."""

        def drawn(shape):
            return self.bit_generator._draw(_core._draw, distribution, shape, "float64")

        if all(not isinstance(each, ndarray) or each.ndim == 0 for each in parameters):
            result = combine(drawn(_shape_of(size)), *map(float, parameters))
            return float(result) if size is None else asarray(result)
        shape = _sized(size, *(each for each in parameters if isinstance(each, ndarray)))
        return combine(drawn(shape), *parameters)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers that are evenly distributed from `low` to `high`.

        >>> np.random.default_rng(42).uniform(10, 20, 2)
        array([17.73956049, 14.3887844 ])
        """
        low, high = _parameter(low), _parameter(high)
        span = high - low
        if not bool(asarray(abs(span) < float("inf")).all()):
            raise OverflowError("high - low range exceeds valid bounds")
        if bool(asarray(span < 0).any()):
            raise ValueError("high < low")
        return self._scaled(_UNIFORM, size, lambda x, low, span: low + span * x, low, span)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the normal distribution around `loc` with deviation `scale`."""
        loc, scale = _parameter(loc), _not_negative("scale", scale)
        return self._scaled(_NORMAL, size, lambda x, loc, scale: loc + scale * x, loc, scale)

    def exponential(self, scale=1.0, size=None):
        """Numbers of the exponential distribution with mean `scale`."""
        scale = _not_negative("scale", scale)
        return self._scaled(_EXPONENTIAL, size, lambda x, scale: scale * x, scale)

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
        """Integers from `low` on and below `high` (with `endpoint` up to it); from 0 on where only one bound is given.

        >>> np.random.default_rng(42).integers(0, 10, 5)
        array([0, 7, 6, 4, 4])
        """
        if high is None:
            low, high = 0, low
        target = _core.dtype(dtype)
        if target.kind not in "iub":
            raise TypeError(f"Unsupported dtype {target!r} for integers")
        if size is not None and math.prod(_choice.extents(size)) == 0:
            return asarray([], target).reshape(size)
        if target.kind == "b":
            least, most = 0, 1
        else:
            bits = 8 * target.itemsize
            least, most = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if target.kind == "i" else (0, (1 << bits) - 1)
            )
        numbers = [asarray(each) if not isinstance(each, (int, float)) else each for each in (low, high)]
        if any(isinstance(each, ndarray) and each.size != 1 for each in numbers):
            return self._integers_between(*map(asarray, numbers), size, target, (least, most), endpoint)
        low, high = (int(each.reshape(())) if isinstance(each, ndarray) else int(each) for each in numbers)
        high -= not endpoint
        if low < least:
            raise ValueError(f"low is out of bounds for {target.name}")
        if high > most:
            raise ValueError(f"high is out of bounds for {target.name}")
        if low > high:
            raise ValueError("low > high" if endpoint else "low >= high")
        mask = (1 << 64) - 1
        shape = _shape_of(size)
        if size is None and any(isinstance(each, ndarray) and each.ndim for each in numbers):
            shape = size = (1,)
        result = self.bit_generator._draw(_core._draw_integers, shape, target.name, low & mask, high - low)
        if size is not None:
            return result
        scalar = result[()]
        return scalar if not _is_plain(dtype) else type(scalar)(scalar)

    def _integers_between(self, low, high, size, target, bounds, endpoint):
        """Bounds that differ: one number after another."""
        shape = _sized(size, low, high)
        lows, highs = (
            [int(each) for each in _core.broadcast_to(one, shape).ravel().tolist()] for one in (low, high)
        )
        least, most = bounds
        if any(each < least for each in lows):
            raise ValueError(f"`low` is out of bounds for {target.name}")
        if any(each - (not endpoint) > most for each in highs):
            raise ValueError(f"`high` is out of bounds for {target.name}")
        ranges = [b - a - (not endpoint) for a, b in zip(lows, highs)]
        if any(each < 0 for each in ranges):
            raise ValueError("low > high" if endpoint else "low >= high")
        lows = [each & ((1 << 64) - 1) for each in lows]
        return self.bit_generator._draw(_core._draw_integers_between, shape, target.name, lows, ranges)

    def bytes(self, length):
        """So many random bytes."""
        words = self.bit_generator._draw(
            _core._draw_integers, ((length - 1) // 4 + 1,), "uint32", 0, 0xFFFFFFFF
        )
        return bytes(words.tobytes()[:length])

    # ---- order ----

    def permutation(self, x, axis=0):
        """The numbers below `x`, or a copy of an array's parts along an axis, in random order."""
        if not isinstance(x, ndarray) and hasattr(x, "__index__") and not getattr(x, "shape", ()):
            return self.bit_generator._draw(_core._draw_permutation, _index(x))
        x = asarray(x)
        axis = normalize_axes(axis, x.ndim, None)[0]
        with self.bit_generator._unless_it_fails():
            order = self.bit_generator._draw(_core._draw_permutation, x.shape[axis])
            return _core._take(x, order, axis, None, "raise")

    def shuffle(self, x, axis=0):
        """Puts an array's parts along an axis, or a list's elements, into random order, in place."""
        if isinstance(x, ndarray):
            if not x.flags.writeable:
                raise ValueError("array is read-only")
            axis = normalize_axes(axis, x.ndim, None)[0]
            if x.size != 0:
                with self.bit_generator._unless_it_fails():
                    x[...] = self.permutation(x, axis)
            return
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        order = self.bit_generator._draw(_core._draw_permutation, len(x)).tolist()
        moved = [x[k] for k in order]
        for k, each in enumerate(moved):
            x[k] = each

    def permuted(self, x, *, axis=None, out=None):
        """A copy whose rows along an axis are each in an order of their own; without an axis all is one row."""
        from weft._functions.indexing import take_along_axis

        x = asarray(x)
        if out is not None:
            if not isinstance(out, ndarray):
                raise TypeError("out must be an array")
            if out.shape != x.shape:
                raise ValueError("out must have the same shape as x")
        result = array(x, copy=True) if out is None else out
        if out is not None and out is not x:
            overrides.public_function("copyto")(out, x, casting="safe")
        if axis is None:
            order = (
                "F"
                if result.ndim > 1 and result.flags.f_contiguous and not result.flags.c_contiguous
                else "C"
            )
            with self.bit_generator._unless_it_fails():
                mixed = self.permutation(result.ravel(order=order))
                result[...] = mixed.reshape(result.shape, order=order)
            return result
        axis = normalize_axes(axis, x.ndim, None)[0]
        if x.size != 0:
            rows = moveaxis(result, axis, -1)
            with self.bit_generator._unless_it_fails():
                orders = self.bit_generator._draw(
                    _core._draw_permutation, x.shape[axis], x.size // x.shape[axis]
                ).reshape(rows.shape)
                rows[...] = take_along_axis(rows, orders, -1)
        return result

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Elements of an array, or numbers below `a`, drawn with or without putting back, alike or with odds `p`.

        Without putting back and with `shuffle=False` the order is no random one.

        >>> np.random.default_rng(42).choice(5, 3, replace=False)
        array([4, 2, 3])
        """
        given, count = _choice.population_of(a, axis, size)
        with self.bit_generator._unless_it_fails():
            chosen = _choice.positions(self, count, size, replace, p, shuffle)
            return _choice.taken(given, chosen, axis, size is None)


for _name, _method in _by_numpy.methods().items():
    setattr(Generator, _name, _method)


def _parameter(value):
    """A parameter as float64: an array, or a number for one without dimensions."""
    if isinstance(value, (int, float, str)):
        return float(value)
    value = asarray(value).astype("float64", copy=False)
    return value if value.ndim else float(value)


def _not_negative(name, value):
    value = _parameter(value)
    if bool(asarray(asarray(value) < 0).any()) or (
        isinstance(value, float) and value == 0 and str(value)[0] == "-"
    ):
        raise ValueError(f"{name} < 0")
    return value


def _is_plain(dtype):
    return dtype in (int, bool)


def default_rng(seed=None):
    """A Generator over PCG64; a Generator is given back, a BitGenerator wrapped.

    >>> np.random.default_rng(42).random()
    0.7739560485559633
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed)
    if seed is not None and not isinstance(seed, SeedSequence):
        seed = seed.tolist() if isinstance(seed, ndarray) else seed
    return Generator(PCG64(seed))
