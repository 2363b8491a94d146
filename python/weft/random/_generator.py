"""Generator: numbers of distributions from a stream."""

from operator import index as _index

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import array, asarray, ndarray
from weft._protocols import overrides
from weft._protocols.libraries import class_for
from weft.random import _choice, _integers, _vectors
from weft.random._bit_generators import PCG64, BitGenerator, unless_it_fails
from weft.random._distributions import Distributions
from weft.random._integers import shape_of

_UNIFORM, _NORMAL, _EXPONENTIAL, _EXPONENTIAL_BY_LOG = 1, 2, 3, 4  # Distribution
_INDEX = {name: k for k, name in enumerate(_core._distributions())}
_ONE_UNIFORM, _ONE_NORMAL = _INDEX["random"], _INDEX["standard_normal"]
_STANDARD_GAMMA = _INDEX["standard_gamma"]
_draw_by, _draw_plain = _core._draw_by, _core._draw_plain


def check_output(out, size, name, order=""):
    """Raises for an array into which no draws of that dtype can be written."""
    if not isinstance(out, ndarray):
        raise TypeError("out must be an array")
    contiguous = out.flags.c_contiguous or (not order and out.flags.f_contiguous)
    if not contiguous or not out.flags.writeable:
        raise ValueError(
            f"Supplied output array must be {order}contiguous, writable, aligned, and in machine byte-order."
        )
    if out.dtype != name:
        raise TypeError(f"Supplied output array has the wrong type. Expected {name}, got {out.dtype}")
    if size is not None and tuple(_core.broadcast_to(asarray(0), size).shape) != out.shape:
        raise ValueError("size must match out.shape when used together")


class Generator(Distributions):
    """Draws numbers from a bit generator; the same ones as NumPy's Generator from the same stream.

    >>> np.random.default_rng(1).random(2)
    array([0.51182162, 0.9504637 ])
    """

    __class__ = class_for("numpy.random._generator", "Generator")
    _poisson_lam_max = 2.0**63 - (2.0**63) ** 0.5 * 10

    def __init__(self, bit_generator):
        capsule = getattr(bit_generator, "capsule", None)
        if capsule is None or isinstance(bit_generator, type):
            raise ValueError("Bit generator must be instantiated")
        self._bit_generator = bit_generator
        self._stream = (
            bit_generator._stream
            if isinstance(bit_generator, BitGenerator)
            else _core._stream_of(capsule, bit_generator.lock)
        )

    @property
    def bit_generator(self):
        """Where the numbers come from: weft's bit generator, or another library's."""
        return self._bit_generator

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __str__(self):
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __getstate__(self):
        return None

    def __setstate__(self, state):
        if isinstance(state, dict):
            self._bit_generator.state = state

    def __reduce__(self):
        return Generator, (self._bit_generator,), None

    def spawn(self, n_children):
        """New generators from children of this one's seed."""
        return [type(self)(each) for each in self.bit_generator.spawn(n_children)]

    def _real(self, distribution, size, dtype, out, method):
        name = _core.dtype(dtype).name
        if name not in ("float64", "float32"):
            raise TypeError(f"Unsupported dtype {_core.dtype(dtype)!r} for {method}")
        if out is not None:
            check_output(out, size, name)
            with unless_it_fails(self._bit_generator):
                drawn = _core._draw(self._stream, distribution, out.shape, name)
                if not out.flags.c_contiguous:
                    drawn = drawn.ravel().reshape(out.shape, order="F")
                out[...] = drawn
            return out
        result = _core._draw(self._stream, distribution, shape_of(size), name)
        return result[()].item() if size is None else result

    def random(self, size=None, dtype="float64", out=None):
        """Numbers that are evenly distributed in [0, 1).

        >>> np.random.default_rng(42).random(3)
        array([0.77395605, 0.43887844, 0.85859792])
        """
        if out is None and dtype == "float64":
            if size is None:
                return _draw_by(self._stream, _ONE_UNIFORM, None)
            return _draw_plain(self._stream, _UNIFORM, size)
        return self._real(_UNIFORM, size, dtype, out, "random")

    def standard_normal(self, size=None, dtype="float64", out=None):
        """Numbers of the normal distribution around 0 with deviation 1.

        >>> np.random.default_rng(42).standard_normal(3)
        array([ 0.30471708, -1.03998411,  0.7504512 ])
        """
        if out is None and dtype == "float64":
            if size is None:
                return _draw_by(self._stream, _ONE_NORMAL, None)
            return _draw_plain(self._stream, _NORMAL, size)
        return self._real(_NORMAL, size, dtype, out, "standard_normal")

    def standard_exponential(self, size=None, dtype="float64", method="zig", out=None):
        """Numbers of the exponential distribution with mean 1, by a ziggurat, or with method='inv' by a logarithm."""
        if method == "zig":
            return self._real(_EXPONENTIAL, size, dtype, out, "standard_exponential")
        return self._real(_EXPONENTIAL_BY_LOG, size, dtype, out, "standard_exponential")

    def standard_gamma(self, shape, size=None, dtype="float64", out=None):
        """Numbers of the gamma distribution with scale 1.

        >>> np.random.default_rng(42).standard_gamma(2, 2)
        array([2.09181727, 2.83534559])
        """
        name = _core.dtype(dtype).name
        if name not in ("float64", "float32"):
            raise TypeError(f"Unsupported dtype {_core.dtype(dtype)!r} for standard_gamma")
        if out is not None:
            check_output(out, size, name, "C-")
        with unless_it_fails(self._bit_generator):
            wanted = size if out is None else out.shape
            if name == "float64":
                drawn = _draw_by(self._stream, _STANDARD_GAMMA, wanted, shape)
            else:
                drawn = _core._draw_standard_gamma32(self._stream, shape, wanted)
                drawn = drawn if drawn.ndim or wanted is not None else float(drawn)
            if out is None:
                return drawn
            out[...] = drawn
            return out

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
        """Integers from `low` on and below `high` (with `endpoint` up to it); from 0 on where only one bound is given.

        >>> np.random.default_rng(42).integers(0, 10, 5)
        array([0, 7, 6, 4, 4])
        """
        return _integers.draw(self._stream, low, high, size, dtype, endpoint, False, "integers")

    def multinomial(self, n, pvals, size=None):
        """How often each outcome comes in `n` trials.

        >>> np.random.default_rng(42).multinomial(10, [0.2, 0.8])
        array([3, 7])
        """
        return _vectors.multinomial(self._stream, n, pvals, size, False)

    def dirichlet(self, alpha, size=None):
        """Vectors of parts of 1, of the Dirichlet distribution.

        >>> np.random.default_rng(42).dirichlet([1, 2, 3])
        array([0.31747629, 0.08613713, 0.59638659])
        """
        return _vectors.dirichlet(self._stream, alpha, size, False)

    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
        """How many of each color a sample has, of so many that there are.

        >>> np.random.default_rng(42).multivariate_hypergeometric([3, 4, 5], 6)
        array([2, 1, 3])
        """
        return _vectors.colors(self._stream, colors, nsample, size, method)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
        """Vectors of the normal distribution.

        >>> np.random.default_rng(42).multivariate_normal([0, 1], [[2, 0], [0, 1]]).shape
        (2,)
        """
        if method not in ("eigh", "svd", "cholesky"):
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        with unless_it_fails(self._bit_generator):
            return _vectors.multivariate_normal(
                self.standard_normal, mean, cov, size, check_valid, tol, method
            )

    def bytes(self, length):
        """So many random bytes."""
        words = _core._draw_integers(self._stream, ((length - 1) // 4 + 1,), "uint32", 0, 0xFFFFFFFF, False)
        return bytes(words.tobytes()[:length])

    # ---- order ----

    def permutation(self, x, axis=0):
        """The numbers below `x`, or a copy of an array's parts along an axis, in random order."""
        if not isinstance(x, ndarray) and hasattr(x, "__index__") and not getattr(x, "shape", ()):
            return _core._draw_permutation(self._stream, _index(x))
        x = asarray(x)
        axis = normalize_axes(axis, x.ndim, None)[0]
        with unless_it_fails(self._bit_generator):
            order = _core._draw_permutation(self._stream, x.shape[axis])
            return x.take(order, axis)

    def shuffle(self, x, axis=0):
        """Puts an array's parts along an axis, or a list's elements, into random order, in place."""
        if type(x) is ndarray and x.ndim == 1 and type(axis) is int and axis in (0, -1):
            _core._shuffle(self._stream, x)
            return
        if isinstance(x, ndarray):
            if not x.flags.writeable:
                raise ValueError("array is read-only")
            axis = normalize_axes(_index(axis), x.ndim, None)[0]
            if x.size != 0:
                with unless_it_fails(self._bit_generator):
                    x[...] = self.permutation(x, axis)
            return
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        order = _core._draw_permutation(self._stream, len(x)).tolist()
        moved = [x[k] for k in order]
        for k, each in enumerate(moved):
            x[k] = each

    def permuted(self, x, *, axis=None, out=None):
        """A copy whose rows along an axis are each in an order of their own; without an axis all is one row."""
        x = asarray(x)
        if out is not None:
            if not isinstance(out, ndarray):
                raise TypeError("out must be an array")
            if out.shape != x.shape:
                raise ValueError("out must have the same shape as x")
        if out is None and type(x) is ndarray:
            with unless_it_fails(self._bit_generator):
                return _core._draw_permuted(self._stream, x, axis)
        result = array(x, copy=True) if out is None else out
        if out is not None and out is not x:
            overrides.public_function("copyto")(out, x, casting="safe")
        if axis is None:
            order = (
                "F"
                if result.ndim > 1 and result.flags.f_contiguous and not result.flags.c_contiguous
                else "C"
            )
            with unless_it_fails(self._bit_generator):
                mixed = self.permutation(result.ravel(order=order))
                result[...] = mixed.reshape(result.shape, order=order)
            return result
        axis = normalize_axes(axis, x.ndim, None)[0]
        if x.size != 0:
            rows = overrides.public_function("moveaxis")(result, axis, -1)
            with unless_it_fails(self._bit_generator):
                orders = _core._draw_permutation(
                    self._stream, x.shape[axis], x.size // x.shape[axis]
                ).reshape(rows.shape)
                rows[...] = overrides.public_function("take_along_axis")(rows, orders, -1)
        return result

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Elements of an array, or numbers below `a`, drawn with or without putting back, alike or with odds `p`.

        Without putting back and with `shuffle=False` the order is no random one.

        >>> np.random.default_rng(42).choice(5, 3, replace=False)
        array([4, 2, 3])
        """
        given, count = _choice.population_of(a, axis, size)
        with unless_it_fails(self._bit_generator):
            chosen = _choice.positions(self, count, size, replace, p, shuffle)
            return _choice.taken(given, chosen, axis, size is None)


def default_rng(seed=None):
    """A Generator over PCG64; a Generator is given back, a BitGenerator wrapped.

    >>> np.random.default_rng(42).random()
    0.7739560485559633
    """
    if isinstance(seed, Generator):
        return seed
    if hasattr(seed, "capsule"):
        return Generator(seed)
    if hasattr(seed, "_bit_generator") and type(seed).__name__ == "RandomState":
        return Generator(seed._bit_generator)
    return Generator(PCG64(seed))
