"""Random functions whose indices hang on conditions, the lesser and the greater of numbers, loops and flags: where
checks of indices are left out, Python finds none that fails."""

import random

import numpy
import pytest
import weft

FUNCTIONS = 60


class Writer:
    """A random function of an array of one axis, one of two, and two integers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.integers = ["i", "j", "n", "m", "r", "c"]
        self.flags = []
        self.names = 0

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def integer(self):
        choose, small = self.random.choice, self.random.randrange(0, 4)
        one, other = choose(self.integers), choose(self.integers)
        return choose(
            [
                one,
                str(small),
                f"{one} + {small}",
                f"{one} - {small}",
                f"min({one}, {other} - {small})",
                f"max({one} - {small}, 0)",
                f"max({one}, {other})",
                f"({one} if {self.condition(0)} else {other})",
                f"({one} - {small} if {one} > {small} else {one})",
                f"{one} // {choose(['c', 'r', '2', '3'])}",
                f"{one} % {choose(['c', 'r', 'n', '3'])}",
                "r * c",
                "b.size",
                f"{choose(['i', 'j', 'n', 'r', 'c'])} * {small}",
            ]
        )

    def condition(self, level=1):
        choose = self.random.choice
        one, other = choose(self.integers), choose(self.integers)
        sign = choose(["<", "<", "<", "<=", ">", ">=", "==", "!="])
        kinds = [
            f"{one} {sign} {other}",
            f"{one} {sign} {self.random.randrange(0, 5)}",
            f"0 <= {one} < {other}",
        ]
        if level > 0:
            kinds += [
                f"({self.condition(level - 1)} and {self.condition(level - 1)})",
                f"({self.condition(level - 1)} or {self.condition(level - 1)})",
                f"not ({self.condition(level - 1)})",
                *self.flags,
                *self.flags,
            ]
        return choose(kinds)

    def use(self, depth):
        one, other = self.random.choice(self.integers), self.random.choice(self.integers)
        text = [
            f"s += a[{one}]",
            f"s += a[{one} - {self.random.randrange(0, 3)}]",
            f"s += b[{one}, {other}]",
            f"a[{one}] = s % 97",
            f"s += b[{one} // c, {one} % c]",
        ]
        self.add(depth, self.random.choice(text))

    def merged(self, depth):
        """A number that a branch may change, by numbers that are there only."""
        name, integers = self.name("k"), tuple(self.integers)
        self.add(depth, f"{name} = {self.random.choice(['0', '1', self.integer()])}")
        self.add(depth, f"if {self.condition()}:")
        for _ in range(self.random.randrange(0, 3)):
            inner = self.name("t")
            self.add(depth + 1, f"{inner} = {self.integer()}")
            self.integers += [inner, inner]
        self.add(depth + 1, f"{name} = {self.integer()}")
        if self.random.random() < 0.3:
            self.integers = list(integers)
            self.add(depth, "else:")
            self.add(depth + 1, f"{name} = {self.integer()}")
        self.integers = [*integers, name, name]

    def body(self, depth, level):
        for _ in range(self.random.randrange(1, 5)):
            kind = self.random.randrange(10)
            if kind < 3:
                self.use(depth)
            elif kind == 3:
                name = self.name("k")
                self.add(depth, f"{name} = {self.integer()}")
                self.integers.append(name)
            elif kind == 4:
                name = self.name("f")
                self.add(depth, f"{name} = {self.condition()}")
                self.flags.append(name)
            elif kind == 5 and level < 3:
                name = self.name("f")
                self.add(depth, f"{name} = {self.random.choice(['True', 'False'])}")
                self.add(depth, f"if {self.condition()}:")
                self.add(depth + 1, f"{name} = {self.random.choice(['True', 'False', self.condition()])}")
                self.flags.append(name)
            elif level >= 3:
                self.use(depth)
            elif kind == 6 and self.random.random() < 0.6:
                self.merged(depth)
            else:
                integers, flags = tuple(self.integers), tuple(self.flags)
                if kind < 8:
                    self.add(depth, f"if {self.condition()}:")
                    self.body(depth + 1, level + 1)
                    self.integers, self.flags = list(integers), list(flags)
                    if self.random.random() < 0.2:
                        self.add(depth + 1, "return s")
                    elif self.random.random() < 0.5:
                        self.add(depth, "else:")
                        self.body(depth + 1, level + 1)
                elif kind == 8:
                    name = self.name("x")
                    ends = self.random.choice(["n", "r", "c", "r * c", "b.size", "n - 1", "n + 1"])
                    small = self.random.randrange(1, 4)
                    steps = self.random.choice(["", "", f", {small}", ", abs(i) + 1", ", n + 1"])
                    first = f"max({self.integer()}, -3)" if steps else "0"
                    self.add(depth, f"for {name} in range({first}, {ends}{steps}):")
                    self.integers.append(name)
                    self.body(depth + 1, level + 1)
                else:
                    name = self.name("y")
                    self.add(depth, f"{name} = max({self.integer()}, -3)")
                    self.add(
                        depth, f"while {name} < {self.random.choice(['n', 'r', 'c', 'r * c', 'n + 1'])}:"
                    )
                    self.integers.append(name)
                    self.body(depth + 1, level + 1)
                    self.add(depth + 1, f"{name} += {self.random.choice(['1', '2', 'n + 1', 'len(a) + 1'])}")
                self.integers, self.flags = list(integers), list(flags)

    def text(self):
        self.add(0, "def function(a, b, i, j):")
        self.add(1, "n = a.shape[0]")
        self.add(1, "r, c = b.shape")
        self.add(1, "m = len(a)")
        self.add(1, "s = 0")
        self.body(1, 0)
        self.add(1, "return s")
        return "\n".join(self.lines) + "\n"


def outcome(function, sizes, i, j):
    a = numpy.arange(sizes[0]) % 7
    b = numpy.arange(sizes[1] * sizes[2]).reshape(sizes[1:]) % 5
    try:
        return int(function(a, b, i, j)), a.tolist()
    except (IndexError, ZeroDivisionError) as error:
        return type(error), a.tolist()


def test_a_branch_is_no_bound_for_the_other_one():
    # t, which is below n, is there only where n is not 0.
    @weft.jit
    def rest_or_first(a, j):
        n = a.shape[0]
        k = 0
        if j > 0:
            t = j % n
            k = t
        return a[k]

    assert rest_or_first(numpy.arange(5), 7) == 2 and rest_or_first(numpy.arange(5), 0) == 0
    with pytest.raises(IndexError):
        rest_or_first(numpy.arange(0), 0)


def test_flags_of_flags_of_flags():
    lines = ["def function(a, i):", "    f0 = 0 <= i < a.shape[0]"]
    lines += [f"    f{k} = f{k - 1} and f{k - 1}" for k in range(1, 60)]
    text = "\n".join([*lines, "    return a[i] if f59 else -1"]) + "\n"
    scope = {}
    exec(text, scope)
    compiled = weft.jit(scope["function"], source=text)
    assert compiled(numpy.arange(5), 3) == 3 and compiled(numpy.arange(5), 5) == -1


@pytest.mark.parametrize("seed", range(FUNCTIONS))
def test_random_indices(seed):
    text = Writer(seed).text()
    scope = {"np": numpy}
    exec(text, scope)
    compiled = weft.jit(scope["function"], source=text)
    for sizes in [(5, 3, 4), (1, 1, 1), (0, 2, 0), (8, 2, 3), (3, 5, 2)]:
        for i, j in [(0, 0), (1, 3), (-1, 2), (4, -2), (7, 1), (2, 2**61), (-(2**61), 5)]:
            assert outcome(compiled, sizes, i, j) == outcome(scope["function"], sizes, i, j), (
                text,
                sizes,
                i,
                j,
            )
