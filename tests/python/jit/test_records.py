"""NamedTuples, dataclasses and enumerations in compiled functions."""

import collections
import dataclasses
import enum
from typing import NamedTuple

import numpy
import pytest
import weft as np


class Point(NamedTuple):
    x: float
    y: float = 2.0


Pair = collections.namedtuple("Pair", "first second", defaults=(7,))


@dataclasses.dataclass(frozen=True)
class Ball:
    mass: float
    place: Point = Point(0.0, 1.0)  # noqa: RUF009
    tag: int = dataclasses.field(default=3, kw_only=True)


@dataclasses.dataclass(order=True)
class Version:
    major: int
    minor: int = 0


@dataclasses.dataclass
class Grown:
    size: int
    half: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.half = self.size // 2


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    a: object
    b: int = 1


class Colour(enum.Enum):
    RED = 1
    BLUE = 5


class Permission(enum.IntFlag):
    READ = 1
    WRITE = 2


class Named(str, enum.Enum):  # noqa: UP042
    A = "a"
    B = "b"


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 9


ORIGIN = Point(0.5, -1.0)
BALL = Ball(2.0, ORIGIN)
CHANGING = Version(3, 1)


def agree(function, *arguments):
    found, expected = np.jit(function)(*arguments), function(*arguments)
    assert type(found) is type(expected) and found == expected
    return found


def test_fields_are_read():
    agree(lambda p: p.x + p.y * p[0] - p[-1] + len(p), Point(1.0, 3.0))
    agree(lambda b: b.mass * b.place.x + b.tag, Ball(2.5))
    agree(lambda v: v.major * 100 + v.minor, Version(1, 2))
    agree(lambda s: s.a * s.b, Slotted(2.5))

    def unpacked(p):
        x, y = p
        total = 0.0
        for part in p:
            total += part
        return x * y + total + sum(p) + max(p)

    agree(unpacked, Point(1.5, 3.0))


def test_instances_are_made_and_returned():
    agree(lambda x: Point(x), 1.5)
    agree(lambda x: Point(y=x, x=3), 1.5)
    agree(lambda x: Pair(x)._replace(first=(x, 1)), 4)
    agree(lambda x: Ball(x, tag=5), 1.0)
    agree(lambda x: Ball(mass=x, place=Point(x, x)), 1.0)
    agree(lambda a, b: (Version(a, b), Version(b)), 1, 2)
    agree(lambda x: Slotted(Slotted(x, 2)), 1.0)
    assert dataclasses.is_dataclass(np.jit(lambda: Ball(1.0))())


def test_functions_take_and_give_them():
    def step(p, dt):
        return Point(p.x + dt * p.y, p.y - dt * p.x)

    def walk(p, n):
        for _ in range(n):
            p = step(p, 0.5)
        return p

    agree(walk, Point(1.0, 0.0), 10)

    def chosen(n, p):
        best = p if n > 2 else Point(1.0, 2.0)
        return best if n != 5 else None

    for n in (1, 3, 5):
        agree(chosen, n, Point(5.0, 6.0))


def test_comparisons():
    def all_of(a, b):
        return a == b, a != b, a < b, a >= b

    for a in (Version(1, 2), Version(1, 3), Version(0, 9)):
        agree(all_of, a, Version(1, 2))
    for a in (Point(1.0, 2.0), Point(1.0, 3.0)):
        agree(all_of, a, Point(1.0, 2.0))
    agree(lambda a, b: (a == b, a != b), Ball(1.0), Ball(1.0))
    agree(lambda a, b: (a == b, a != b), Ball(1.0), Slotted(1))
    agree(lambda a: (isinstance(a, Point), isinstance(a, tuple), isinstance(a, Ball)), ORIGIN)
    agree(lambda a: (isinstance(a, Point), isinstance(a, tuple), isinstance(a, Ball)), BALL)
    with pytest.raises(np.CompileError, match="operator < is not compiled for Ball"):
        np.jit(lambda a: a < a)(Ball(1.0))


def test_constants():
    agree(lambda: ORIGIN.x + BALL.place.y + BALL.tag)
    agree(lambda: (ORIGIN, BALL))
    agree(lambda p=ORIGIN: p.y)
    global CHANGING
    jitted = np.jit(lambda: CHANGING.major * 10 + CHANGING.minor)
    assert jitted() == 31
    CHANGING.minor = 5
    assert jitted() == 35
    CHANGING = Version(1, 1)
    assert jitted() == 11


def test_arrays_in_them():
    pair = Pair(numpy.arange(4.0), np.ones(4))

    def total(pair):
        s = 0.0
        for i in range(len(pair.first)):
            s += pair.first[i] * pair.second[i]
            pair.first[i] = s
        return Pair(pair.second, s)

    found = np.jit(total)(pair)
    assert type(found) is Pair and found.second == 6.0 and found.first is pair.second
    assert pair.first.tolist() == [0, 1, 3, 6]
    made = np.jit(lambda n: Slotted(np.zeros(n)))(3)
    assert type(made) is Slotted and made.a.tolist() == [0, 0, 0]


def test_enumerations():
    for c in Colour:
        agree(lambda c: (c == Colour.RED, c is Colour.BLUE, c != Colour.RED, c is not Colour.RED, c == 1), c)
        agree(
            lambda c: (c.value, Colour.BLUE.value, Colour.BLUE.name, Colour.RED if c is Colour.BLUE else c), c
        )
        agree(lambda c, d: (c == d, c is d), c, Colour.RED)
        agree(lambda c: f"{c} {c!r}" + str(Colour.RED), c)
    agree(
        lambda level: (level * 2 + Level.LOW, level > Level.LOW, level == 9, -level, int(level)), Level.HIGH
    )
    agree(
        lambda level: (level, Level.LOW, level is Level.LOW, level.value, (1, 2, 3, 4)[Level.LOW]), Level.HIGH
    )
    agree(lambda a, level: (a[level], 5 if level else 6, level in (1, 9)), (1, 2, 3), Level.LOW)
    agree(lambda c: c == Level.LOW, Colour.RED)
    assert np.jit(lambda p: p | 4)(Permission.READ | Permission.WRITE) == 7
    agree(lambda name: (name, name is Named.B), Named.A)
    with pytest.raises(np.CompileError, match="members of Colour are not looked up"):
        np.jit(lambda n: Colour(n))(1)


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (lambda p: p.z, (ORIGIN,), "Unknown attribute 'z' of type Point"),
        (lambda b: b.masss, (BALL,), "Is 'mass' meant?"),
        (lambda x: Point(), (1,), "missing 2 required positional arguments: 'x' and 'y'"),
        (lambda x: Point(x, x, x), (1,), "takes 2 positional arguments but 3 were given"),
        (lambda x: Point(x, x=x), (1,), "multiple values for argument 'x'"),
        (lambda x: Point(x, z=x), (1,), "unexpected keyword argument 'z'"),
        (lambda x: Ball(x, ORIGIN, 3), (1,), "takes 2 positional arguments but 3 were given"),
        (lambda x: Grown(x), (1,), "__post_init__"),
        (lambda b: b[0], (BALL,), "cannot be indexed"),
    ],
)
def test_what_is_wrong_is_said(function, arguments, text):
    with pytest.raises(np.CompileError) as error:
        np.jit(function)(*arguments)
    assert text in str(error.value) and str(error.value).count("\n") < 8


def test_fields_are_not_assigned():
    def f(v):
        v.major = 2

    with pytest.raises(np.CompileError, match=r"Make another Version\(...\)"):
        np.jit(f)(CHANGING)


def test_a_record_that_is_given_may_be_made_by_code():
    assert np.jit(lambda g: g.size + g.half)(Grown(10)) == 15
