"""Makes random programs over a pool of NumPy arrays: creation, views, writes, ufuncs, reductions, errors.

The generator runs each step on NumPy while it makes it, so it knows every shape and value. It keeps a tolerance for
each name whose value need not be equal bit for bit (`Tolerance` in execute.py): what comes from a transcendental
function or a floating-point sum. Such names take part in moves, sums and products, whose error can be bounded, but not
in comparisons, rounding or conversions to integers, which would turn a last bit into another number.
"""

import dataclasses
import random
from collections.abc import Callable

import numpy
from execute import EXACT, Step, namespace, run_step

ALL_DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES = (
    (), (1,), (3,), (4,), (8,), (17,), (0,), (2, 3), (3, 2), (3, 3), (4, 4), (1, 3), (4, 1), (2, 0), (5, 4),
    (2, 3, 4), (1, 4, 1), (2, 2, 2), (3, 1, 2),
)  # fmt: skip
LARGE_SHAPES = ((5000,), (70, 80), (4100,), (8, 25, 30), (3, 2000))
NAMES = {"?": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


@dataclasses.dataclass(frozen=True)
class Profile:
    """What the programs of a mode are made of. Compiled programs repeat dtypes and shapes: kernels cost time."""

    dtypes: tuple[str, ...] = ALL_DTYPES
    shapes: tuple[tuple[int, ...], ...] = SHAPES
    large: float = 0.03  # how often a new array is large
    steps: tuple[int, int] = (4, 16)
    missing: frozenset[str] = frozenset()  # names that the module under test does not have


COMPILED = Profile(
    dtypes=("f8", "f4", "i4", "i8", "u1", "?", "c16", "i2", "f2"),
    shapes=((3,), (4, 4), (2, 3), (0,), (5, 4), (), (2, 3, 4), (17,)),
    large=0.05,
    steps=(4, 10),
)

# Elementwise operations whose result is the same to the bit wherever it is computed.
UNARY_EXACT = (
    "negative positive absolute square sqrt floor ceil trunc rint sign isnan isinf isfinite signbit logical_not"
    " invert conjugate fabs"
).split()
BINARY_EXACT = (
    "add subtract multiply true_divide floor_divide remainder fmod maximum minimum fmax fmin equal not_equal less"
    " less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " left_shift right_shift copysign nextafter heaviside gcd lcm"
).split()
UNARY_INEXACT = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt"
    " degrees radians"
).split()
BINARY_INEXACT = "power hypot arctan2 logaddexp logaddexp2 float_power".split()
TWO_RESULTS = "modf frexp divmod".split()
OPERATORS = "+ - * / // % & | ^ << >> < <= == != > >=".split()
IN_PLACE = "+= -= *= /= //= %= &= |= ^= <<= >>= **=".split()
REDUCTIONS = "sum prod max min any all argmax argmin mean var std count_nonzero".split()
COMPLEX_EXACT = {"add", "subtract", "negative", "positive", "conjugate", "equal", "not_equal", "+", "-", "==", "!=",
                 "isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or", "logical_xor"}  # fmt: skip
COMPLEX_INEXACT = {"multiply": 8, "*": 8, "square": 8, "absolute": 8, "sqrt": 16, "exp": 32}
ZERO_SIGN_OPEN = {"maximum", "minimum", "fmax", "fmin", "sum", "max", "min", "prod", "mean"}
TINY = 5e-324


class RandomChooser:
    """Draws from a seeded generator."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)

    def pick(self, sequence):
        return self.random.choice(sequence)

    def chance(self, probability):
        return self.random.random() < probability


class HypothesisChooser:
    """Draws from hypothesis, which then shrinks what fails."""

    def __init__(self, draw, strategies):
        self.draw = draw
        self.strategies = strategies

    def integer(self, low, high):
        return self.draw(self.strategies.integers(low, high))

    def pick(self, sequence):
        return sequence[self.integer(0, len(sequence) - 1)]

    def chance(self, probability):
        return self.integer(0, 999) >= 1000 - int(1000 * probability)


@dataclasses.dataclass
class Operand:
    text: str
    value: object
    tolerance: tuple[float, float] = EXACT

    @property
    def exact(self):
        return self.tolerance == EXACT

    @property
    def kind(self):
        return numpy.asarray(self.value).dtype.kind


def finite(value):
    return bool(numpy.isfinite(value).all()) if numpy.asarray(value).dtype.kind in "fc" else True


def largest(value):
    value = numpy.asarray(value)
    if value.size == 0:
        return 0.0
    with numpy.errstate(all="ignore"):
        return float(numpy.abs(value.astype(complex if value.dtype.kind == "c" else float)).max())


def epsilon(value):
    dtype = numpy.asarray(value).dtype
    return float(numpy.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def converts(value, dtype):
    """Whether converting to `dtype` is defined: no float outside the range of an integer."""
    value, dtype = numpy.asarray(value), numpy.dtype(dtype)
    if dtype.kind not in "iu" or value.dtype.kind not in "fc" or value.size == 0:
        return True
    limits = numpy.iinfo(dtype)
    real = numpy.trunc(value.real.astype(float))
    return bool(numpy.isfinite(real).all() and (real >= limits.min).all() and (real <= limits.max / 2).all())


class Generator:
    """One program. `choose` is a chooser; `steps` grows, with `names` the state of NumPy after them."""

    def __init__(self, choose, profile):
        self.choose = choose
        self.profile = profile
        self.names = namespace(numpy)
        self.tolerances = {}
        self.steps: list[Step] = []
        self.count = 0
        self.dtypes = [choose.pick(profile.dtypes) for _ in range(3)]
        self.shapes = [choose.pick(profile.shapes) for _ in range(2)]
        self.productions: list[tuple[int, Callable[[], None]]] = [
            (8, self.create), (20, self.view), (14, self.assign), (12, self.in_place), (8, self.overlap),
            (14, self.binary), (8, self.unary), (8, self.chain), (4, self.out), (10, self.reduce), (6, self.convert),
            (4, self.join), (3, self.select), (5, self.observe), (3, self.mistake), (2, self.two_results),
            (2, self.forget), (3, self.checkpoint), (2, self.like),
        ]  # fmt: skip
        self.wheel = [p for weight, p in self.productions for _ in range(weight)]

    def program(self):
        self.create()
        self.create()
        low, high = self.profile.steps
        length = self.choose.integer(low, high)
        attempts = 0
        while len(self.steps) < length and attempts < 4 * length:
            attempts += 1
            self.choose.pick(self.wheel)()
            if len(self.pool()) > 9:
                self.forget()
        # Writing through every array at last shows who shares memory with whom.
        for number, name in enumerate(self.pool()):
            if isinstance(self.names[name], numpy.ndarray):
                self.steps.append(Step(f"{name}[...] = {number % 2 if self.names[name].dtype == bool else number + 20}"))
        self.steps[-1].check = True
        return self.steps

    # --- the pool ------------------------------------------------------------------------------------------

    def has(self, name):
        return name not in self.profile.missing

    def pool(self):
        return [n for n in self.names if n[0] == "x" and n[1:].isdigit()]

    def arrays(self):
        return [n for n in self.pool() if isinstance(self.names[n], numpy.ndarray)]

    def some(self, exact=False, minimum=0):
        """A name of the pool, or None."""
        names = [
            n for n in self.pool()
            if (not exact or n not in self.tolerances) and numpy.ndim(self.names[n]) >= minimum
        ]  # fmt: skip
        # The newest are the likeliest: long chains of dependent steps.
        if not names:
            return None
        return names[-1] if self.choose.chance(0.3) else self.choose.pick(names)

    def new(self, letter="x"):
        self.count += 1
        return f"{letter}{self.count}"

    def tolerance(self, name):
        return self.tolerances.get(name, EXACT)

    def add(self, source, tolerances=None, bind=()):
        """Runs the step on NumPy and records it; steps that make arrays beyond all bounds are left out."""
        error = run_step(source, self.names)
        if error is None:
            for name in bind:
                if getattr(self.names[name], "size", 0) > 30000:
                    for other in bind:
                        del self.names[other]
                    return False
                if isinstance(self.names[name], numpy.ndarray) and self.names[name].dtype.kind not in "?biufc":
                    for other in bind:
                        del self.names[other]
                    return False
        tolerances = {k: v for k, v in (tolerances or {}).items() if v != EXACT} if error is None else {}
        self.tolerances.update(tolerances)
        self.steps.append(Step(source, tolerances))
        return error is None

    def value_of(self, text):
        return eval(text, self.names)

    def operand(self, name=None, exact=False, like=None):
        """A name of the pool, often seen through an index, or a Python scalar; None when there is none.

        `like`: an array with whose shape it should broadcast, mostly.
        """
        if like is not None and self.choose.chance(0.2):
            return self.scalar()
        if name is None and like is not None:
            fitting = [
                n for n in self.pool()
                if (not exact or n not in self.tolerances) and broadcasts(numpy.shape(self.names[n]), numpy.shape(like))
            ]  # fmt: skip
            if fitting and self.choose.chance(0.9):
                name = self.choose.pick(fitting)
        name = name or self.some(exact)
        if name is None:
            return None
        text, value = name, self.names[name]
        if like is not None and not broadcasts(numpy.shape(value), numpy.shape(like)) and self.choose.chance(0.8):
            return self.scalar()
        if isinstance(value, numpy.ndarray) and value.ndim and self.choose.chance(0.25):
            wrapped = self.choose.pick(
                [f"{name}[::-1]", f"{name}.T", f"{name}[..., ::-1]", f"{name}[None]", f"{name}[-1:]", f"{name}[0]"]
            )
            try:
                seen = self.value_of(wrapped)
            except IndexError:
                seen = None
            if seen is not None and (like is None or broadcasts(seen.shape, numpy.shape(like))):
                text, value = wrapped, seen
        return Operand(text, value, self.tolerance(name))

    def scalar(self):
        text = self.choose.pick(
            ["0", "1", "2", "3", "-1", "7", "0.5", "-1.25", "2.0", "True", "1", "2", "0.25", "100", "300", "-129",
             "2**40", "1.5+2j", "nan", "inf", "-0.0"]
        )  # fmt: skip
        return Operand(text, self.value_of(text))

    # --- productions ---------------------------------------------------------------------------------------

    def shape(self):
        if self.choose.chance(self.profile.large):
            return self.choose.pick(LARGE_SHAPES)
        return self.choose.pick(self.shapes) if self.choose.chance(0.7) else self.choose.pick(self.profile.shapes)

    def dtype(self):
        return self.choose.pick(self.dtypes) if self.choose.chance(0.8) else self.choose.pick(self.profile.dtypes)

    def dtype_text(self):
        dtype = numpy.dtype(self.dtype())
        return self.choose.pick([repr(dtype.str.lstrip("<|=").replace("b1", "?")), f"np.{dtype.name}", repr(dtype.name)])

    def create(self):
        name, shape, choose = self.new(), self.shape(), self.choose
        which = choose.integer(0, 12)
        if which <= 7:
            special = ", special=True" if choose.chance(0.2) else ""
            source = f"data({self.dtype()!r}, {shape}, {choose.integer(0, 99)}{special})"
        elif which == 8:
            source = f"np.{choose.pick(['zeros', 'ones'])}({shape}, dtype={self.dtype_text()})"
        elif which == 9:
            source = f"np.full({shape}, {self.scalar().text}{choose.pick(['', ', dtype=' + self.dtype_text()])})"
        elif which == 10:
            start, stop = choose.integer(-5, 5), choose.integer(-5, 20)
            step = choose.pick(["", ", 1", ", 2", ", -1", ", 0.5", ", 3"])
            source = f"np.arange({start}, {stop}{step}{choose.pick(['', ', dtype=' + self.dtype_text()])})"
            if step and ("0.5" in step) and "dtype" in source:
                source = f"np.arange({stop})"
        elif which == 11:
            source = f"np.eye({choose.integer(0, 4)}{choose.pick(['', ', 3', ', k=1', ', k=-1'])})"
        else:
            source = choose.pick(
                ["np.array([1, 2, 3])", "np.array([[1.5, 2], [3, 4]])", "np.array(7)", "np.array([True, False])",
                 "np.array([1, 2.5, 3j])", "np.array([])", "np.array([[], []])", "np.linspace(0, 2, 9)",
                 "np.array([[1, 2, 3], [4, 5, 6]], dtype='f4')", "np.array([0, 255], dtype='u1')",
                 "np.linspace(-1, 1, 5, dtype='f4')", "np.array(2.5, dtype='f4')"]
            )  # fmt: skip
        try:
            made = self.value_of(source)
        except Exception:
            made = None
        if "full" in source and "dtype" in source and made is not None:
            fill = self.value_of(source.split(", ")[-2] if "dtype" in source else "0")
            if not converts(fill, made.dtype):
                return
        inexact = {name: (1e-15, 1e-15)} if "linspace" in source and "f4" not in source else {}
        self.add(f"{name} = {source}", inexact, [name])

    def like(self):
        source = self.some()
        if source is None:
            return
        function = self.choose.pick(
            ["np.zeros_like({})", "np.ones_like({})", "np.full_like({}, 3)", "np.zeros_like({}, dtype='f4')",
             "np.array({})", "np.asarray({})", "np.array({}, dtype='f8')", "np.array({}, copy=True)",
             "np.full_like({}, 2, dtype='i8')", "np.copy({})", "np.ones_like({}, shape=(2, 3))"]
        )  # fmt: skip
        if not self.has(function.split("(")[0].removeprefix("np.")):
            return
        name = self.new()
        keeps = function.startswith(("np.array", "np.asarray", "np.copy"))
        self.add(f"{name} = {function.format(source)}", {name: self.tolerance(source)} if keeps else {}, [name])

    def index(self, shape):
        """The text of a basic index for `shape`: mostly right, sometimes out of bounds or too long."""
        choose = self.choose
        items = []
        ellipsis = False
        for n in shape:
            which = choose.integer(0, 11)
            if which <= 2:
                items.append(":")
            elif which <= 7:
                items.append(self.slice(n))
            elif which <= 9:
                if n:
                    items.append(str(choose.integer(-n, n - 1)))
                else:
                    items.append(":")
            elif which == 10 and not ellipsis:
                items.append("...")
                ellipsis = True
                break
            else:
                break
            if choose.chance(0.08):
                items.append("None")
        if choose.chance(0.03):
            items.append("0")
        if choose.chance(0.03) and shape:
            items.insert(0, str(shape[0] + choose.integer(0, 2)))
        if not items:
            return choose.pick(["...", "None", ":" if shape else "()"])
        return ", ".join(items)

    def slice(self, n):
        choose = self.choose
        if choose.chance(0.5):
            return choose.pick(["1:", ":-1", "::-1", "::2", "1:-1", "2:", ":-2", ":1", "-2:", "1::2", "::-2"])
        ends = [str(choose.integer(-n - 1, n + 1)) if choose.chance(0.6) else "" for _ in range(2)]
        step = choose.pick(["", "", ":2", ":-1", ":-2", ":3", ":1"])
        if choose.chance(0.005):
            step = ":0"
        return ":".join(ends) + step

    def view(self):
        source = self.some(minimum=1 if self.choose.chance(0.8) else 0)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        tolerance = self.tolerance(source)
        which = choose.integer(0, 19)
        if which <= 8:
            text = f"{source}[{self.index(value.shape)}]"
        elif which <= 10:
            shape = self.other_shape(value.size)
            text = choose.pick([f"{source}.reshape({shape})", f"np.reshape({source}, {shape})"])
        elif which == 11:
            text = choose.pick(
                [f"{source}.ravel()", f"np.ravel({source})", f"{source}.flatten()", f"{source}.reshape(-1)",
                 f"{source}.ravel('F')", f"{source}.ravel('K')", f"{source}.flatten('F')",
                 f"{source}.reshape(-1, order='F')"]
            )  # fmt: skip
        elif which == 12:
            axes = list(range(value.ndim))
            for i in range(len(axes)):
                j = choose.integer(0, len(axes) - 1)
                axes[i], axes[j] = axes[j], axes[i]
            text = choose.pick([f"{source}.T", f"np.transpose({source})", f"{source}.transpose({tuple(axes)})"])
        elif which == 13:
            a, b = (choose.integer(-value.ndim, max(value.ndim - 1, 0)) for _ in range(2))
            text = choose.pick([f"np.swapaxes({source}, {a}, {b})", f"{source}.swapaxes({a}, {b})"])
        elif which == 14:
            axis = choose.pick(["", f", axis={choose.integer(-value.ndim, max(value.ndim - 1, 0))}"])
            text = choose.pick([f"np.squeeze({source}{axis})", f"np.expand_dims({source}, 0)", f"{source}.squeeze()"])
        elif which == 15:
            lead = choose.pick([(2,), (3,), ()])
            shape = tuple(choose.integer(2, 3) if n == 1 and choose.chance(0.6) else n for n in value.shape)
            text = f"np.broadcast_to({source}, {lead + shape})"
        elif which == 16:
            axis = choose.pick(["", ", 0", ", axis=-1", ", axis=(0, 1)"])
            text = f"np.flip({source}{axis})"
        elif which == 17:
            if tolerance != EXACT:
                return
            text = f"{source}.view({self.dtype_text()})"
            try:
                seen = self.value_of(text)
            except (TypeError, ValueError):
                seen = None
            if seen is not None and seen.dtype.kind == "b" and not set(seen.tobytes()) <= {0, 1}:
                return  # a bool of neither 0 nor 1
        elif which == 18:
            text = choose.pick([f"{source}.real", f"{source}.imag"])
            if self.has("real"):
                text = choose.pick([text, f"np.real({source})", f"np.imag({source})"])
        else:
            text = choose.pick([f"{source}[...]", f"{source}[()]", f"{source}.view()", f"{source}[None]"])
        if text.startswith("np.") and not self.has(text[3 : text.index("(")]):
            return
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def other_shape(self, size):
        choose = self.choose
        if choose.chance(0.05):
            return (size + 1,)
        shape = []
        rest = size
        for divisor in (2, 3, 4, 5, 10):
            if rest and rest % divisor == 0 and choose.chance(0.5):
                shape.append(divisor)
                rest //= divisor
        shape.insert(choose.integer(0, len(shape)), rest)
        if choose.chance(0.2):
            shape.insert(choose.integer(0, len(shape)), 1)
        if choose.chance(0.2):
            shape[choose.integer(0, len(shape) - 1)] = -1
        return tuple(shape)

    def spread(self, target, tolerance, source):
        """Tolerances after a write to `target`: every name that shares its memory may hold the written values."""
        if tolerance == EXACT:
            return {}
        return {
            name: worse(self.tolerance(name), tolerance)
            for name in self.arrays()
            if name == target or numpy.may_share_memory(self.names[name], self.names[target])
        }

    def may_store(self, value, tolerance, dtype):
        """Whether storing into `dtype` is defined, and stays comparable."""
        if not converts(value, dtype):
            return False
        return tolerance == EXACT or dtype.kind in "fc"

    def assign(self):
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None:
            return
        value = self.names[target]
        index = self.index(value.shape) if self.choose.chance(0.7) else "..."
        try:
            part = value[eval(f"numpy.s_[{index}]", {"numpy": numpy})]
        except Exception:
            part = value
        operand = self.operand(like=part)
        if operand is None or (operand.kind == "c" and value.dtype.kind != "c"):
            return
        text = operand.text
        if self.choose.chance(0.3) and operand.exact and operand.kind in "iuf":
            text = self.choose.pick([f"{text} + 1", f"{text} * 2", f"-{text}", f"{text} - {target}[{index}]"])
            try:
                if target in text and target in self.tolerances:
                    return
                operand = Operand(text, self.value_of(text))
            except Exception:
                operand = Operand(text, 0)
        tolerance = operand.tolerance
        if tolerance != EXACT:
            tolerance = (0.0, error_bound(operand) + epsilon(value) * largest(operand.value))
            if not finite(operand.value):
                return
        if not self.may_store(operand.value, tolerance, value.dtype):
            return
        self.add(f"{target}[{index}] = {text}", self.spread(target, tolerance, operand.text))

    def in_place(self):
        arrays = self.arrays()
        target = self.some() if self.choose.chance(0.1) else (self.choose.pick(arrays) if arrays else None)
        if target is None or target in self.tolerances:
            return
        value = self.names[target]
        operator = self.choose.pick(IN_PLACE) if self.choose.chance(0.5) else self.choose.pick(["+=", "-=", "*="])
        place, part = target, value
        if isinstance(value, numpy.ndarray) and self.choose.chance(0.4):
            index = self.index(value.shape)
            place = f"{target}[{index}]"
            try:
                part = self.value_of(place)
            except Exception:
                part = value
        operand = self.operand(exact=True, like=part)
        if operand is None or not self.result_is_exact(operator.removesuffix("="), Operand(place, part), operand):
            return
        self.add(f"{place} {operator} {operand.text}")

    def result_is_exact(self, operator, left, right):
        """Whether the operator gives the same bits everywhere; decides powers by their effect too."""
        if "c" in (left.kind, right.kind) and operator not in COMPLEX_EXACT:
            return False
        if operator == "**":
            if left.kind in "f" or right.kind in "fc":
                return False
            exponents = numpy.asarray(right.value)
            return exponents.size == 0 or exponents.dtype.kind in "bu" or int(exponents.min()) >= 0
        return True

    def overlap(self):
        """Reads and writes of one storage that overlap."""
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None or self.names[target].ndim == 0 or target in self.tolerances:
            return
        value, x, choose = self.names[target], target, self.choose
        if value.dtype.kind == "b":
            pairs = [(f"{x}[1:]", f"{x}[:-1]"), (f"{x}[...]", f"{x}[::-1]")]
            left, right = choose.pick(pairs)
            self.add(f"{left} {choose.pick(['=', '|=', '&=', '^='])} {right}")
            return
        pairs = [
            (f"{x}[1:]", f"{x}[:-1]"), (f"{x}[:-1]", f"{x}[1:]"), (f"{x}[...]", f"{x}[::-1]"), (f"{x}[::-1]", f"{x}"),
            (f"{x}[1:-1]", f"{x}[2:]"), (f"{x}[1:-1]", f"{x}[:-2]"), (f"{x}[...]", f"{x}[:1]"), (f"{x}[...]", f"{x}[-1]"),
            (f"{x}[..., 1:]", f"{x}[..., :-1]"), (f"{x}[..., ::-1]", f"{x}[...]"), (f"{x}[::2]", f"{x}[-1]"),
        ]  # fmt: skip
        if value.ndim == 2 and value.shape[0] == value.shape[1]:
            pairs += [(f"{x}[...]", f"{x}.T"), (f"{x}.T[...]", f"{x}[::-1]"), (f"{x}[1:, 1:]", f"{x}[:-1, :-1]")]
        if value.ndim >= 2:
            pairs += [(f"{x}[1:, ...]", f"{x}[:-1, ...]"), (f"{x}[:, 1:]", f"{x}[:, :-1]"), (f"{x}[...]", f"{x}[:, :1]")]
        left, right = choose.pick(pairs)
        sharing = [
            n for n in self.arrays()
            if n != x and n not in self.tolerances and numpy.may_share_memory(self.names[n], value)
            and self.names[n].shape == value.shape and self.names[n].dtype == value.dtype
        ]  # fmt: skip
        if sharing and choose.chance(0.6):
            left, right = f"{x}[...]", choose.pick(sharing)
        operator = choose.pick(["=", "=", "+=", "-=", "*="] if value.dtype.kind != "c" else ["=", "+=", "-="])
        which = choose.integer(0, 5)
        if which == 0:
            function = choose.pick(["np.add", "np.subtract", "np.maximum"])
            if function == "np.maximum" and value.dtype.kind == "f":
                function = "np.add"
            self.add(f"{function}({right}, {left}, out={left})")
        elif which == 1 and value.ndim >= 1:
            self.add(f"{x}[1:-1] = {x}[2:] + {x}[:-2] - {x}[1:-1]")
        elif which == 2:
            self.add(f"{left} {operator} {right} + {x}")
        else:
            self.add(f"{left} {operator} {right}")

    def loose_zero(self, value):
        """The tolerance of a result whose zeros may have either sign."""
        value = numpy.asarray(value)
        if value.dtype.kind in "fc" and bool((value == 0).any()):
            return (0.0, TINY)
        return EXACT

    def binary(self):
        choose = self.choose
        left = self.operand()
        if left is None:
            return
        right = self.operand(like=left.value)
        if right is None:
            return
        if choose.chance(0.2):
            left, right = right, left
        which = choose.integer(0, 9)
        name = self.new()
        if which <= 4:
            operator = choose.pick(OPERATORS) if choose.chance(0.6) else choose.pick(["+", "-", "*"])
            self.finish(name, f"{left.text} {operator} {right.text}", operator, [left, right])
        elif which <= 8:
            function = choose.pick(BINARY_EXACT)
            if not self.has(function):
                return
            extra = ""
            if choose.chance(0.08):
                extra = f", dtype={self.dtype_text()}"
                if choose.chance(0.5):
                    extra += ", casting='unsafe'"
                    if not (converts_exactly(left, right)):
                        return
            self.finish(name, f"np.{function}({left.text}, {right.text}{extra})", function, [left, right])
        else:
            function = choose.pick(BINARY_INEXACT)
            if self.has(function):
                self.finish(name, f"np.{function}({left.text}, {right.text})", function, [left, right])

    def unary(self):
        operand = self.operand()
        if operand is None:
            return
        name = self.new()
        if self.choose.chance(0.6):
            function = self.choose.pick(UNARY_EXACT)
        else:
            function = self.choose.pick(UNARY_INEXACT)
        if not self.has(function):
            return
        text = f"np.{function}({operand.text})"
        if function == "negative" and self.choose.chance(0.5):
            text = f"-{operand.text}"
        elif function == "invert" and self.choose.chance(0.5):
            text = f"~{operand.text}"
        elif function == "absolute" and self.choose.chance(0.5):
            text = f"abs({operand.text})"
        self.finish(name, text, function, [operand])

    def finish(self, name, text, function, operands):
        """Records `name = text` when the result can be compared, with its tolerance."""
        try:
            result = self.value_of(text)
        except Exception:
            if all(o.exact for o in operands):
                self.add(f"{name} = {text}")
            return
        if isinstance(result, (bool, int, float, complex)):
            return  # of Python scalars alone
        tolerance = self.result_tolerance(function, operands, result)
        if tolerance is not None:
            self.add(f"{name} = {text}", {name: tolerance}, [name])

    def result_tolerance(self, function, operands, result):
        """The tolerance of an elementwise result; None when it cannot be compared."""
        is_complex = any(o.kind == "c" for o in operands) or numpy.asarray(result).dtype.kind == "c"
        eps = epsilon(result)
        if not all(o.exact for o in operands):
            return self.propagated(function, operands, result)
        if is_complex:
            if function in COMPLEX_EXACT:
                return EXACT
            if function not in COMPLEX_INEXACT or not finite(result) or not all(finite(o.value) for o in operands):
                return None
            bound = numpy.prod([max(largest(o.value), 1e-300) for o in operands]) if function in ("*", "multiply") else 0
            return (COMPLEX_INEXACT[function] * eps, COMPLEX_INEXACT[function] * eps * bound)
        if function in UNARY_INEXACT or function in BINARY_INEXACT:
            if numpy.asarray(result).dtype.kind in "iub":
                return EXACT
            ulps = 2 if numpy.asarray(result).dtype == numpy.float16 else 8
            smallest = float(numpy.finfo(numpy.asarray(result).dtype).smallest_subnormal)
            # Cancellation: logaddexp of values of which one nearly undoes the other is accurate to the larger.
            size = largest(result) if function.startswith("logaddexp") and finite(result) else 0.0
            return (ulps * eps, 4 * smallest + ulps * eps * size)
        if function in ZERO_SIGN_OPEN:
            return self.loose_zero(result)
        return EXACT

    def propagated(self, function, operands, result):
        """Tolerance of sums, differences, products and moves of inexact operands; None for anything else."""
        if not finite(result) or not all(finite(o.value) for o in operands):
            return None
        if numpy.asarray(result).dtype.kind not in "fc":
            return None
        rounding = epsilon(result) * largest(result)
        errors = [error_bound(o) for o in operands]
        if function in ("+", "-", "add", "subtract"):
            bound = sum(errors) + rounding
        elif function in ("*", "multiply"):
            sizes = [largest(o.value) for o in operands]
            bound = errors[0] * sizes[1] + errors[1] * sizes[0] + errors[0] * errors[1] + 4 * rounding
        elif function in ("negative", "positive", "absolute", "maximum", "minimum", "fabs", "conjugate"):
            bound = max(errors) + rounding
        else:
            return None
        return (0.0, 2 * bound + 1e-300) if bound < 1e30 else None

    def chain(self):
        """One expression of several operations: what fusion makes one kernel of."""
        choose = self.choose
        first = self.operand(exact=True)
        if first is None or first.kind == "c":
            return
        text, value = first.text, first.value
        for _ in range(choose.integer(2, 4)):
            operand = self.operand(exact=True, like=value)
            if operand is None or operand.kind == "c":
                return
            operator = choose.pick(["+", "-", "*", "+", "-", "*", "/", "//", "%", "<", "&", "|"])
            left, right = (text, operand.text) if choose.chance(0.7) else (operand.text, text)
            candidate = f"({left} {operator} {right})"
            if choose.chance(0.15):
                function = choose.pick(["np.sqrt", "np.floor", "abs", "np.isnan", "-", "np.sign"])
                candidate = f"{function}({candidate})"
            elif choose.chance(0.1):
                candidate = f"{candidate}.astype({self.dtype_text()})"
                try:
                    if not converts(self.value_of(f"({left} {operator} {right})"), self.value_of(candidate).dtype):
                        return
                except Exception:
                    return
            try:
                value = self.value_of(candidate)
            except Exception:
                break
            text = candidate
        if not isinstance(value, (numpy.ndarray, numpy.generic)) or value.dtype.kind == "c" or value.size > 30000:
            return
        name = self.new()
        self.add(f"{name} = {text}", {}, [name])

    def out(self):
        """A ufunc that writes into an array of the pool, or a part of it."""
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None or target in self.tolerances:
            return
        value = self.names[target]
        place = target if self.choose.chance(0.6) else f"{target}[{self.index(value.shape)}]"
        try:
            part = self.value_of(place)
        except Exception:
            part = value
        left = self.operand(exact=True, like=part)
        right = self.operand(exact=True, like=part)
        if left is None or right is None or "c" in (left.kind, right.kind):
            return
        extra = ", casting='unsafe'" if self.choose.chance(0.15) else ""
        function = self.choose.pick(BINARY_EXACT) if self.choose.chance(0.6) else "add"
        if not self.has(function) or function in ZERO_SIGN_OPEN:
            return
        text = f"np.{function}({left.text}, {right.text}"
        if extra:
            try:
                if not converts(self.value_of(text + ")"), value.dtype):
                    return
            except Exception:
                return
        if self.choose.chance(0.3):
            name = self.new()  # the result is the array itself
            self.add(f"{name} = {text}, out={place}{extra})", {}, [name])
        else:
            self.add(f"{text}, out={place}{extra})")

    def axis(self, ndim):
        choose = self.choose
        which = choose.integer(0, 9)
        if which <= 2 or ndim == 0:
            return choose.pick(["", "", ", axis=None"]) if ndim or choose.chance(0.8) else ", axis=0"
        if which <= 6:
            return f", axis={choose.integer(-ndim, ndim - 1)}"
        if which == 7:
            return f", axis={tuple(sorted({choose.integer(0, ndim - 1) for _ in range(2)}))}"
        if which == 8:
            return f", axis={choose.pick([(), (0, -1), tuple(range(ndim)), (0, 0)])}"
        return f", axis={choose.pick([ndim, -ndim - 1, ndim - 1, 0])}"

    def reduce(self):
        choose = self.choose
        source = self.operand(exact=True)
        if source is None or (not isinstance(source.value, numpy.ndarray) and choose.chance(0.7)):
            return
        function = choose.pick(REDUCTIONS) if choose.chance(0.6) else choose.pick(["sum", "max", "any", "mean"])
        if not self.has(function):
            return
        value = numpy.asarray(source.value)
        if value.dtype.kind == "c" and function not in ("sum", "any", "all", "mean", "count_nonzero"):
            return
        arguments = self.axis(value.ndim)
        if function in ("argmax", "argmin", "count_nonzero") and "(" in arguments:
            arguments = ""
        if choose.chance(0.25):
            arguments += ", keepdims=True"
        if function in ("sum", "prod", "mean") and choose.chance(0.15):
            arguments += f", dtype={self.dtype_text()}"
        if function in ("sum", "prod", "max", "min") and choose.chance(0.12):
            arguments += f", initial={choose.pick(['0', '1', '3', '-2'])}"
        if function in ("sum", "max", "any", "all", "mean") and choose.chance(0.12):
            masks = [
                n for n in self.arrays()
                if self.names[n].dtype == bool and broadcasts_to(self.names[n].shape, value.shape)
            ]  # fmt: skip
            if masks:
                arguments += f", where={choose.pick(masks)}"
        if function in ("var", "std") and choose.chance(0.4):
            arguments += ", ddof=1"
        if choose.chance(0.5) and function != "count_nonzero" and isinstance(source.value, numpy.ndarray):
            text = f"{source.text}.{function}({arguments.removeprefix(', ')})"
        else:
            text = f"np.{function}({source.text}{arguments})"
        name = self.new()
        try:
            result = self.value_of(text)
        except Exception:
            self.add(f"{name} = {text}")
            return
        tolerance = self.reduction_tolerance(function, value, result, text)
        if tolerance is None:
            return
        if choose.chance(0.1) and function in ("sum", "max", "min", "any", "all", "prod"):
            self.reduce_into(text, result, tolerance)
            return
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def reduce_into(self, text, result, tolerance):
        targets = [
            n for n in self.arrays()
            if n not in self.tolerances and self.names[n].shape == numpy.shape(result)
            and self.names[n].dtype == numpy.asarray(result).dtype
        ]  # fmt: skip
        if targets:
            target = self.choose.pick(targets)
            self.add(f"{text[:-1]}, out={target})".replace("(, ", "("), self.spread(target, tolerance, text))

    def reduction_tolerance(self, function, value, result, text):
        """None when order of summation decides about overflow or the dtype argument's conversion is undefined."""
        kind = numpy.asarray(result).dtype.kind
        if "dtype=" in text and not converts(value, numpy.asarray(result).dtype):
            return None
        if value.dtype.kind == "c" and kind != "c" and "dtype=" in text:
            return None
        if function in ("any", "all", "argmax", "argmin", "count_nonzero") or kind in "iub":
            return EXACT
        if function in ("max", "min"):
            return self.loose_zero(result)
        eps = epsilon(result)
        if value.dtype.kind in "fc":
            eps = max(eps, epsilon(value)) if "dtype=" not in text else max(eps, epsilon(value) if value.size else 0)
        n = value.size + 2
        size = value.astype(complex if value.dtype.kind == "c" else float)
        if "dtype=" in text and kind in "fc":
            size = size.astype(numpy.asarray(result).dtype).astype(size.dtype)
            if not finite(size) and finite(value):
                return None
        known = numpy.abs(size[numpy.isfinite(size)])
        limit = float(numpy.finfo(numpy.asarray(result).dtype).max) / 64
        total, top = (float(known.sum()), float(known.max())) if known.size else (0.0, 0.0)
        if function in ("sum", "mean"):
            if total > limit:
                return None
            return (2 * eps, 2 * n * eps * total + TINY)
        if function == "prod":
            grown = float(numpy.maximum(known, 1).prod()) if known.size else 1.0
            shrunk = float(numpy.where(known == 0, 1, numpy.minimum(known, 1)).prod()) if known.size else 1.0
            info = numpy.finfo(numpy.asarray(result).dtype)
            if not finite(value) or grown > limit or shrunk < float(info.tiny) * 64 or grown != grown:
                return None
            return (2 * n * eps, TINY)
        error = 8 * n * eps * (top**2 + 1)
        if top**2 * value.size > limit:
            return None
        return (4 * eps, error if function == "var" else error**0.5)

    def convert(self):
        source = self.operand()
        if source is None or not isinstance(source.value, (numpy.ndarray, numpy.generic)):
            return
        dtype = self.dtype_text()
        target = numpy.dtype(self.value_of(dtype))
        extra = self.choose.pick(["", "", "", ", copy=False", ", casting='safe'", ", casting='same_kind'"])
        if source.kind == "c" and target.kind != "c" and target.kind != "b":
            return
        if not self.may_store(source.value, source.tolerance, target):
            return
        name = self.new()
        tolerance = source.tolerance
        if tolerance != EXACT:
            if not finite(source.value):
                return
            tolerance = (tolerance[0], tolerance[1] + 2 * float(numpy.finfo(target).eps) * largest(source.value))
        if self.choose.chance(0.15):
            self.add(f"{name} = {source.text}.copy()", {name: source.tolerance}, [name])
        else:
            self.add(f"{name} = {source.text}.astype({dtype}{extra})", {name: tolerance}, [name])

    def join(self):
        first = self.some()
        if first is None:
            return
        value = self.names[first]
        others = [
            n for n in self.pool()
            if numpy.ndim(self.names[n]) == numpy.ndim(value)
            and (numpy.shape(self.names[n])[1:] == numpy.shape(value)[1:] or self.choose.chance(0.2))
        ]  # fmt: skip
        names = [first, *(self.choose.pick(others) for _ in range(self.choose.integer(0, 2)))]
        parts = "[" + ", ".join(names) + "]"
        text = self.choose.pick(
            ["np.concatenate({})", "np.concatenate({}, axis=-1)", "np.stack({})", "np.stack({}, axis=1)",
             "np.concatenate({}, axis=None)", "np.stack({}, axis=-1)", "np.concatenate({}, axis=1)"]
        ).format(parts)  # fmt: skip
        name = self.new()
        tolerance = (0.0, 0.0)
        for part in names:
            tolerance = worse(tolerance, self.tolerance(part))
        if tolerance != EXACT:
            try:
                result = self.value_of(text)
            except Exception:
                return
            if not finite(result) or result.dtype.kind not in "fc":
                return
            tolerance = worse(tolerance, (0.0, 2 * epsilon(result) * largest(result)))
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def select(self):
        name = self.new()
        a = self.operand(exact=True)
        if a is None:
            return
        b = self.operand(exact=True, like=a.value)
        c = self.operand(exact=True, like=a.value)
        if b is None or c is None or a.kind == "c":
            return
        text = self.choose.pick(
            [f"np.where({a.text}, {b.text}, {c.text})", f"np.where({a.text} > 1, {b.text}, {c.text})",
             f"np.clip({a.text}, -2, 3)", f"np.clip({a.text}, {b.text}, None)", f"np.clip({a.text}, 0, 1)"]
        )  # fmt: skip
        if "clip" in text and (not self.has("clip") or b.kind == "c"):
            return
        try:
            result = self.value_of(text)
        except Exception:
            self.add(f"{name} = {text}")
            return
        tolerance = self.loose_zero(result) if "clip" in text else EXACT
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def two_results(self):
        function = self.choose.pick(TWO_RESULTS)
        left = self.operand(exact=True)
        if left is None or left.kind == "c" or not self.has(function):
            return
        right = self.operand(exact=True, like=left.value)
        if right is None or right.kind == "c":
            return
        first, second = self.new(), self.new()
        text = f"divmod({left.text}, {right.text})" if function == "divmod" else f"np.{function}({left.text})"
        try:
            results = self.value_of(text)
        except Exception:
            self.add(f"{first}, {second} = {text}")
            return
        if isinstance(results[0], (int, float)):
            return
        if function == "frexp" and not finite(left.value):
            return  # the exponent of a number without one is open
        self.add(f"{first}, {second} = {text}", {}, [first, second])

    def observe(self):
        """Python values of an array, which a lazy array has to compute for."""
        source = self.some(exact=True)
        if source is None:
            return
        value = self.names[source]
        forms = ["{}.shape", "{}.ndim", "{}.size", "{}.nbytes", "{}.itemsize", "{}.dtype.name", "{}.tolist()",
                 "len({})", "bool({})", "{}.item()", "str({}.dtype)", "{}.flags.c_contiguous", "{}.flags.f_contiguous",
                 "3 in {}", "float({})", "int({})", "len(list({}))", "np.ndim({})", "np.shape({})"]  # fmt: skip
        if numpy.size(value) < 40:
            forms += ["repr({})", "str({})", "repr({})"]
        if isinstance(value, numpy.generic) or numpy.ndim(value) == 0:
            forms += ["float({})", "int({})", "bool({})", "{}.item()", "format({}, '')", "complex({})"]
        if isinstance(value, numpy.generic):
            forms += ["hash({})", "repr({})", "{} == {}.item()", "[10, 20, 30, 40][{}]"]
        form = self.choose.pick(forms)
        if value.dtype.kind == "c" and form.startswith(("int", "float")):
            return
        if form.startswith("hash") and value != value:
            return
        name = self.new("p")
        self.add(f"{name} = {form.replace('{}', source)}")

    def mistake(self):
        """A step that NumPy refuses, mostly."""
        a = self.some(exact=True)
        b = self.some(exact=True)
        if a is None or b is None:
            return
        name = self.new()
        text = self.choose.pick(
            ["{a}[99]", "{a}[0, 0, 0, 0, 0]", "{a}.reshape(7, 11)", "{a}.transpose(0, 0)", "np.swapaxes({a}, 0, 5)",
             "np.add({a}, {b}, out=np.zeros((9, 9, 9, 9)))", "np.concatenate([{a}, {b}], axis=7)", "np.stack([])",
             "np.broadcast_to({a}, (7, 7, 7, 7, 2))", "{a}.sum(axis=9)", "np.zeros((2, -3))", "np.zeros(3, dtype='q9')",
             "{a}.astype('nonsense')", "{a} + 'text'", "np.add({a})", "np.sqrt({a}, {b}, {a}, {b})", "{a}[1.5]",
             "{a}['name']", "{a}.squeeze(axis=0)", "{a}.view('V3x')", "np.expand_dims({a}, 9)", "np.flip({a}, axis=8)",
             "{a}.nonsense", "np.max(np.zeros(0))", "np.zeros(3)[5]", "np.ones((2, 3)) + np.ones((4, 3))",
             "np.add({a}, 1, dtype='c16').astype('f4', casting='safe')", "np.arange(3).reshape(2, -1)",
             "np.zeros(3, 'i1') + 300", "np.zeros(3, 'u1') - (-1)", "{a}[::0]"]
        ).format(a=a, b=b)  # fmt: skip
        error = run_step(f"{name} = {text}", dict(self.names))
        if error is None:
            return
        self.add(f"{name} = {text}")

    def forget(self):
        pool = self.pool()
        if len(pool) > 3:
            name = self.choose.pick(pool)
            self.add(f"del {name}")
            self.tolerances.pop(name, None)

    def checkpoint(self):
        if self.steps:
            self.steps[-1].check = True


def converts_exactly(*operands):
    """Whether an unsafe conversion of the operands is out of the question."""
    return all(o.kind in "biu" for o in operands)


def worse(a, b):
    return (max(a[0], b[0]), max(a[1], b[1]))


def error_bound(operand):
    """The largest absolute error of any element of the operand."""
    relative, absolute = operand.tolerance
    return (relative * largest(operand.value) if relative else 0.0) + absolute


def broadcasts(left, right):
    return all(a == b or a == 1 or b == 1 for a, b in zip(left[::-1], right[::-1]))


def broadcasts_to(shape, target):
    return len(shape) <= len(target) and all(a == b or a == 1 for a, b in zip(shape[::-1], target[::-1]))


def generate(seed, profile):
    """The program of a seed; it depends on nothing but NumPy, so that a crash can be told by its seed alone."""
    return Generator(RandomChooser(seed), profile).program()
