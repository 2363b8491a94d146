"""What random programs are made of: dtypes, shapes, operations, and who draws among them."""

import dataclasses
import random

ALL_DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES = (
    (), (1,), (3,), (4,), (8,), (17,), (0,), (2, 3), (3, 2), (3, 3), (4, 4), (1, 3), (4, 1), (2, 0), (5, 4),
    (2, 3, 4), (1, 4, 1), (2, 2, 2), (3, 1, 2),
)  # fmt: skip
LARGE_SHAPES = ((5000,), (70, 80), (4100,), (8, 25, 30), (3, 2000))


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


# Steps that NumPy refuses, mostly.
MISTAKES = """
{a}[99]
{a}[0, 0, 0, 0, 0]
{a}.reshape(7, 11)
{a}.transpose(0, 0)
np.swapaxes({a}, 0, 5)
np.add({a}, {b}, out=np.zeros((9, 9, 9, 9)))
np.concatenate([{a}, {b}], axis=7)
np.stack([])
np.broadcast_to({a}, (7, 7, 7, 7, 2))
{a}.sum(axis=9)
np.zeros((2, -3))
np.zeros(3, dtype='q9')
{a}.astype('nonsense')
{a} + 'text'
np.add({a})
np.sqrt({a}, {b}, {a}, {b})
{a}[1.5]
{a}['name']
{a}.squeeze(axis=0)
{a}.view('V3x')
np.expand_dims({a}, 9)
np.flip({a}, axis=8)
{a}.nonsense
np.max(np.zeros(0))
np.zeros(3)[5]
np.ones((2, 3)) + np.ones((4, 3))
np.add({a}, 1, dtype='c16').astype('f4', casting='safe')
np.arange(3).reshape(2, -1)
np.zeros(3, 'i1') + 300
np.zeros(3, 'u1') - (-1)
{a}[::0]
{a}[[99]]
{a}[[0, 1], [0, 1, 2]]
np.take({a}, [0], axis=9)
""".strip().splitlines()

# Python values of any array.
OBSERVATIONS = """
{}.shape
{}.ndim
{}.size
{}.nbytes
{}.itemsize
{}.dtype.name
{}.tolist()
len({})
bool({})
{}.item()
str({}.dtype)
{}.flags.c_contiguous
{}.flags.f_contiguous
{}.flags.owndata
{}.base is None
3 in {}
float({})
int({})
len(list({}))
np.ndim({})
np.shape({})
""".strip().splitlines()

# Arrays made after another.
LIKE = """
np.zeros_like({})
np.ones_like({})
np.full_like({}, 3)
np.zeros_like({}, dtype='f4')
np.array({})
np.asarray({})
np.array({}, dtype='f8')
np.array({}, copy=True)
np.full_like({}, 2, dtype='i8')
np.copy({})
np.ones_like({}, shape=(2, 3))
""".strip().splitlines()

# Arrays written out.
LITERALS = """
np.array([1, 2, 3])
np.array([[1.5, 2], [3, 4]])
np.array(7)
np.array([True, False])
np.array([1, 2.5, 3j])
np.array([])
np.array([[], []])
np.linspace(0, 2, 9)
np.array([[1, 2, 3], [4, 5, 6]], dtype='f4')
np.array([0, 255], dtype='u1')
np.linspace(-1, 1, 5, dtype='f4')
np.array(2.5, dtype='f4')
""".strip().splitlines()

# Python and NumPy scalars.
SCALARS = """
0
1
1
2
2
3
-1
7
0.5
-1.25
2.0
True
0.25
100
300
-129
2**40
np.float32(1.5)
np.int8(3)
np.float64(0.5)
np.uint8(200)
np.bool_(True)
1.5+2j
nan
inf
-0.0
""".strip().splitlines()
