"""Generator: numbers of distributions from a stream."""

from weft import _core
from weft._core import array, asarray, ndarray
from weft.random._bit_generators import PCG64, BitGenerator
from weft.random._seed_sequence import SeedSequence

_UNIFORM, _NORMAL, _EXPONENTIAL, _EXPONENTIAL_BY_LOG = 1, 2, 3, 4  # Distribution


def _shape_of(size):
    if size is None:
        return ()
    if any(extent < 0 for extent in ((size,) if isinstance(size, int) else size)):
        raise ValueError("negative dimensions are not allowed")
    return size


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

    def _scaled(self, drawn, size, combine, *parameters):
        """Draws for the shape that `size` or the parameters say, and combines them."""
        numbers = all(isinstance(each, (int, float)) for each in parameters)
        if numbers:
            result = combine(drawn(_shape_of(size)), *map(float, parameters))
            return result[()].item() if size is None else asarray(result)
        parameters = [asarray(each).astype("float64", copy=False) for each in parameters]
        shape = _core_shape(*(each.shape for each in parameters))
        if size is not None:
            wanted = _core.broadcast_to(asarray(0), size).shape
            if _core_shape(wanted, shape) != wanted:
                raise ValueError(
                    f"Output size {wanted} is not compatible with broadcast dimensions of inputs {shape}."
                )
            shape = wanted
        result = combine(drawn(shape), *parameters)
        if size is None and shape == ():
            return asarray(result).item()
        return asarray(result)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers that are evenly distributed from `low` to `high`.

        >>> np.random.default_rng(42).uniform(10, 20, 2)
        array([17.73956049, 14.3887844 ])
        """
        span = asarray(high).astype("float64") - asarray(low).astype("float64")
        if not bool(asarray(abs(span) < float("inf")).all()):
            raise OverflowError("high - low range exceeds valid bounds")
        if bool(asarray(span < 0).any()):
            raise ValueError("high < low")

        def drawn(shape):
            return self.bit_generator._draw(_core._draw, _UNIFORM, shape, "float64")

        return self._scaled(drawn, size, lambda x, low, high: low + (high - low) * x, low, high)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the normal distribution around `loc` with deviation `scale`."""
        if bool(asarray(asarray(scale) < 0).any()):
            raise ValueError("scale < 0")

        def drawn(shape):
            return self.bit_generator._draw(_core._draw, _NORMAL, shape, "float64")

        return self._scaled(drawn, size, lambda x, loc, scale: loc + scale * x, loc, scale)

    def exponential(self, scale=1.0, size=None):
        """Numbers of the exponential distribution with mean `scale`."""
        if bool(asarray(asarray(scale) < 0).any()):
            raise ValueError("scale < 0")

        def drawn(shape):
            return self.bit_generator._draw(_core._draw, _EXPONENTIAL, shape, "float64")

        return self._scaled(drawn, size, lambda x, scale: scale * x, scale)

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
        if target.kind == "b":
            least, most = 0, 1
        else:
            bits = 8 * target.itemsize
            least, most = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if target.kind == "i" else (0, (1 << bits) - 1)
            )
        numbers = [asarray(each) if not isinstance(each, (int, float)) else each for each in (low, high)]
        if any(isinstance(each, ndarray) and each.size != 1 for each in numbers):
            return self._integers_between(*map(asarray, numbers), size, target, endpoint)
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

    def _integers_between(self, low, high, size, target, endpoint):
        """Bounds that differ: one number after another."""
        shape = (
            _core_shape(low.shape, high.shape) if size is None else _core.broadcast_to(asarray(0), size).shape
        )
        lows = _core.broadcast_to(low, shape).ravel().tolist()
        highs = _core.broadcast_to(high, shape).ravel().tolist()
        if any(int(a) >= int(b) + endpoint for a, b in zip(lows, highs)):
            raise ValueError("low > high" if endpoint else "low >= high")
        drawn = [self.integers(int(a), int(b), dtype=target, endpoint=endpoint) for a, b in zip(lows, highs)]
        return asarray([int(each) for each in drawn], target).reshape(shape)

    def bytes(self, length):
        """So many random bytes."""
        words = self.bit_generator._draw(
            _core._draw_integers, ((length - 1) // 4 + 1,), "uint32", 0, 0xFFFFFFFF
        )
        return bytes(words.tobytes()[:length])

    # ---- order ----

    def permutation(self, x, axis=0):
        """The numbers below `x`, or a copy of an array's parts along an axis, in random order."""
        if isinstance(x, int) or (hasattr(x, "__index__") and getattr(x, "ndim", 0) == 0):
            return self.bit_generator._draw(_core._draw_permutation, x.__index__())
        x = asarray(x)
        axis = _axis_of(axis, x.ndim)
        order = self.bit_generator._draw(_core._draw_permutation, x.shape[axis])
        return _core._take(x, order, axis, None, "raise")

    def shuffle(self, x, axis=0):
        """Puts an array's parts along an axis, or a list's elements, into random order, in place."""
        if isinstance(x, ndarray):
            if x.ndim == 0:
                raise TypeError("x must have ndim >= 1")
            x[...] = self.permutation(x, axis)
            return
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        order = self.bit_generator._draw(_core._draw_permutation, len(x)).tolist()
        x[:] = [x[k] for k in order]

    def permuted(self, x, axis=None, out=None):
        """A copy whose rows along an axis are each in an order of their own."""
        x = asarray(x)
        if axis is None:
            result = self.permutation(x.ravel()).reshape(x.shape)
        else:
            axis = _axis_of(axis, x.ndim)
            rows = array(_moved(x, axis, -1), copy=True, order="C")
            flat = rows.reshape(-1, x.shape[axis])
            for k in range(flat.shape[0]):
                flat[k] = self.permutation(flat[k])
            result = _moved(flat.reshape(rows.shape), -1, axis)
        if out is None:
            return result
        out[...] = result
        return out

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Elements of an array, or numbers below `a`, drawn with or without putting back, alike or with odds `p`.

        Without putting back, and not alike, or few of many, draws as NumPy's in distribution, not in numbers.
        """
        given = a if not isinstance(a, int) else None
        if given is not None:
            given = asarray(given)
            if given.ndim == 0:
                raise ValueError("a must be a sequence or an integer, not " + type(a).__name__)
        count = a if given is None else given.shape[axis]
        wanted = 1
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        for extent in shape:
            wanted *= extent
        if count == 0 and wanted > 0:
            raise ValueError("a cannot be empty unless no samples are taken")
        if isinstance(a, int) and a < 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        if p is not None:
            p = asarray(p).astype("float64", copy=False)
            if p.ndim != 1:
                raise ValueError("p must be 1-dimensional")
            if p.size != count:
                raise ValueError("a and p must have same size")
            if bool((p < 0).any()):
                raise ValueError("Probabilities are not non-negative")
            if abs(float(p.sum()) - 1) > 1e-8:
                raise ValueError(
                    "Probabilities do not sum to 1. See Notes section of docstring for more information."
                )
        if replace and p is None:
            positions = asarray(self.integers(0, count, shape))
        elif replace:
            from weft._functions import cumsum
            from weft._order import searchsorted

            edges = cumsum(p)
            edges = edges / edges[-1]
            positions = asarray(searchsorted(edges, asarray(self.random(shape)), "right")).reshape(shape)
        else:
            if wanted > count:
                raise ValueError("Cannot take a larger sample than population when replace is False")
            if p is None:
                positions = self.bit_generator._draw(_core._draw_permutation, count)[:wanted].reshape(shape)
            else:
                from weft._order import argsort

                if int((p > 0).sum()) < wanted:
                    raise ValueError("Fewer non-zero entries in p than size")
                # The smallest of exponential times (Efraimidis and Spirakis, 2006).
                times = self.standard_exponential(count) / p
                positions = argsort(times)[:wanted].reshape(shape)
        if given is None:
            return positions if shape else positions.reshape(())[()]
        result = _core._take(given, positions, axis, None, "raise")
        return result if result.ndim else result[()]


def _is_plain(dtype):
    return dtype in (int, bool)


def _core_shape(*shapes):
    from weft._functions import broadcast_shapes

    return broadcast_shapes(*shapes)


def _axis_of(axis, ndim):
    from weft._functions import _normal_axes

    return _normal_axes(axis, ndim, None)[0]


def _moved(x, source, target):
    from weft._functions import moveaxis

    return moveaxis(x, source, target)


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
