"""Random functions whose conditions and loops guard indices and divisors, or nearly so, as texts of Python.

Whole numbers begin near where 64 bits end as often as near 0, and wrap around (jit_wrapped.py). Arrays are short, and
may be empty. Names: `a` and `b` with a number are arrays, `n` is a length, `r` and `t` add up what is found.
"""

import random

import numpy
from jit_random import SIGNS

NARROW = ("int8", "uint8", "int16", "int32", "uint32")
LAST = 2**63 - 1
CENTRES = (0, 0, 2**31, -(2**31), 2**32, 2**40, -(2**40), 2**62, -(2**62), LAST, LAST, -LAST - 1, -LAST - 1)
STEPS = (1, 1, 1, 2, 3, 4, 7, 9, 10)


def number(chooser):
    """Near 0, or near where some proof ends."""
    value = (
        chooser.choice(CENTRES) + chooser.randint(-4, 4) if chooser.random() < 0.4 else chooser.randint(-4, 9)
    )
    return min(max(value, -LAST - 1), LAST)


def literal(value):
    return f"({value})" if value < 0 else str(value)


class Elements(list):
    """An array as an argument: its elements and their type."""

    def __init__(self, values, dtype):
        super().__init__(values)
        self.dtype = dtype

    def __repr__(self):
        return f"{self.dtype}{super().__repr__()}"


class BoundsMaker:
    """Makes a function with what it calls."""

    def __init__(self, chooser, parallel):
        self.chooser, self.parallel_ = chooser, parallel
        self.lines = []
        self.counters = 0
        self.left = chooser.randint(3, 9)  # statements that may still be written
        self.places = [f"p{k}" for k in range(chooser.randint(1, 3))]  # variables that may be assigned
        self.fixed = []  # counters and lengths
        self.arrays = {f"a{k}": "float64" for k in range(chooser.choice((1, 1, 2)))}
        for k in range(chooser.choice((0, 1, 1, 2))):
            self.arrays[f"b{k}"] = chooser.choice((*NARROW, "uint64", "int64", "int64"))
        self.parameters = self.places + list(self.arrays)
        self.inside = None  # loops around, in an iteration of a parallel loop
        self.quiet = 0  # where an error would come later or never
        self.tries = 0

    def pick(self, *texts):
        return self.chooser.choice(texts)

    def write(self, indent, text):
        self.lines.append("    " * indent + text)

    def fresh(self, letter):
        self.counters += 1
        return f"{letter}{self.counters}"

    # Expressions

    def array(self, *dtypes):
        names = [name for name, dtype in self.arrays.items() if not dtypes or dtype in dtypes]
        return self.chooser.choice(names) if names else None

    def name(self):
        return self.chooser.choice(self.places + self.fixed)

    def length(self, array=None):
        array = array or self.array()
        known = [name for name in self.fixed if name == f"n_{array}"]
        return known[0] if known and self.chooser.random() < 0.6 else f"len({array})"

    def whole(self, depth):
        c = self.chooser
        if depth <= 0 or c.random() < 0.25:
            what = c.random()
            if what < 0.65:
                return self.name()
            return self.length() if what < 0.8 else literal(number(c))
        x, y = self.variable(depth - 1), self.whole(depth - 1)
        small = c.randint(1, 9)
        kind = c.choice(
            "near near near add sub mul divide rest rest min max choose absolute bits element".split()
        )
        if kind == "near":
            return f"({x} {self.pick('+', '-')} {small})"
        if kind in ("add", "sub", "mul"):
            return f"({x} {SIGNS[kind]} {y})"
        if kind == "divide":
            return f"({x} // {self.pick(y, small)})"
        if kind == "rest":
            return f"({x} % {self.pick(y, self.length(), small)})"
        if kind in ("min", "max"):
            return f"{kind}({x}, {y})"
        if kind == "choose":
            return f"({x} if {self.condition(depth - 1)} else {y})"
        if kind == "absolute":
            return self.pick(f"abs({x})", f"(-{x})", f"({self.name()} and {y})", f"({x} or {y})")
        if kind == "bits":
            return self.pick(
                f"({x} & {self.pick(3, 7, -2)})", f"({x} >> {small})", f"({x} << {c.randint(0, 3)})"
            )
        array = self.array("int64", *NARROW)
        return f"{array}[{self.index(array)}]" if array else x

    def variable(self, depth):
        """A whole number that is no literal: what is made of literals alone has to fit in 64 bits."""
        text = self.whole(depth)
        return text if any(map(str.isalpha, text)) else self.name()

    def small(self):
        """A number of iterations that a test waits for, mostly."""
        return self.pick(
            str(self.chooser.randint(0, 7)), f"{self.name()} % {self.chooser.randint(2, 9)}", self.length()
        )

    def condition(self, depth=1):
        c = self.chooser
        kind = c.choice("compare compare chain chain and or not divisor bound bound element".split())
        sign = self.pick("<", "<=", ">", ">=", "==", "!=")
        if kind == "compare":
            return f"{self.whole(depth)} {sign} {self.whole(depth)}"
        if kind == "chain":
            up, more = self.pick("<", "<="), self.pick("<", "<=")
            return self.pick(
                f"{self.whole(1)} {up} {self.name()} {more} {self.whole(depth)}",
                f"{c.randint(-1, 1)} {up} {self.name()} {more} {self.name()} {up} {self.length()}",
                f"0 < {self.name()} {sign} {self.whole(0)} {self.pick('//', '%')} {self.name()}",
            )
        if kind in ("and", "or") and depth > 0:
            return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
        if kind == "not" and depth > 0:
            return f"(not ({self.condition(depth - 1)}))"
        if kind == "divisor":
            x = self.name()
            return self.pick(
                f"({x} != 0 and {self.whole(0)} {self.pick('//', '%')} {x} {sign} {self.whole(0)})",
                f"({x} == 0 or {self.whole(0)} {self.pick('//', '%')} {x} {sign} {self.whole(0)})",
                x,
            )
        if kind == "element" and depth > 0:
            array = self.array("float64")
            return f"{array}[{self.index(array)}] {sign} {c.randint(-2, 6)}"
        return self.pick(self.low(self.name()), self.high(self.name(), self.array()))

    def low(self, x):
        k = self.chooser.randint(1, 3)
        return self.pick(
            f"{x} >= 0", f"0 <= {x}", f"{x} > -1", f"not {x} < 0", f"{x} >= {k}", f"{x} - {k} >= 0",
            f"{x} + {k} >= 0", f"{x} > {self.name()}", f"{x} >= {self.name()}", f"{x} != 0", f"{x} > {self.whole(1)}",
        )  # fmt: skip

    def high(self, x, array):
        n, k = self.length(array), self.chooser.randint(1, 9)
        return self.pick(
            f"{x} < {n}", f"{x} < {n}", f"{x} <= {n} - 1", f"{n} > {x}", f"{x} + {k} < {n}", f"{x} < {n} - {k}",
            f"not {x} >= {n}", f"{x} != {n}", f"{x} < {self.name()}", f"{x} <= {self.name()}", f"{x} - {k} < {n}",
            f"{x} < {self.whole(1)}",
        )  # fmt: skip

    def index(self, array, x=None):
        """An index of an array, which may be wrong."""
        x = x or self.name()
        n, k = self.length(array), self.chooser.randint(1, 9)
        return self.pick(
            x, x, x, x, f"{x} + {self.pick(1, 1, k)}", f"{x} - {self.pick(1, 1, k)}", f"{n} - 1 - {x}", f"-{x}",
            f"{x} % {n}", f"{x} % {n}", f"{x} // {self.pick(2, k, self.name())}", f"{x} & 3", f"min({x}, {n} - 1)",
            f"max({x}, 0)", f"{x} * {self.pick(2, k)}", f"abs({x})", f"{x} - {self.name()}", f"{x} + {self.name()}",
            f"-1 - {x}", f"{x} if {self.condition(0)} else 0", self.whole(2),
        )  # fmt: skip

    # Statements

    def block(self, indent, loops, most=3):
        for _ in range(self.chooser.randint(1, most)):
            if self.left <= 0:
                break
            self.left -= 1
            self.statement(indent, loops)
        else:
            return
        self.write(indent, "pass")

    def statement(self, indent, loops):
        c = self.chooser
        kinds = "assign count count guarded guarded use use use if chosen listed divided".split()
        if loops < 3 and indent < 6:
            kinds += "range range counted counted counted over over caught elements sums sums".split()
            kinds += ["parallel"] * 4 if self.parallel_ and self.inside is None and not self.tries else []
        if self.inside is not None:  # no sum is added up in a try there
            kinds = [kind for kind in kinds if kind != "caught"]
        if loops and self.inside != loops:
            kinds += ["leave", "leave"]
        kind = c.choice(kinds)
        getattr(self, f"write_{kind}")(indent, loops)

    def write_assign(self, indent, loops):
        c = self.chooser
        if c.random() < 0.2 and len(self.places) > 1:
            x, y = c.sample(self.places, 2)
            self.write(indent, f"{x}, {y} = {self.pick(y, self.whole(1))}, {self.pick(x, self.whole(1))}")
        else:
            self.write(indent, f"{c.choice(self.places)} = {self.whole(2)}")

    def count(self, x, sign=None):
        step, sign = self.chooser.choice(STEPS), sign or self.pick("+", "-")
        return self.pick(f"{x} {sign}= {step}", f"{x} = {x} {sign} {step}")

    def write_count(self, indent, loops):
        self.write(indent, self.count(self.chooser.choice(self.places)))

    def write_use(self, indent, loops, x=None):
        """An element is read or written, with an index that may be wrong."""
        array = self.array()
        place = f"{array}[{self.index(array, x)}]"
        if self.chooser.random() < 0.3 and self.inside is None:
            value = f"{self.chooser.randint(-3, 9)}.0" if self.arrays[array] == "float64" else self.whole(1)
            return self.write(indent, f"{place} = {value}")
        if self.arrays[array] == "float64":
            return self.write(indent, f"r += {place}")
        other = self.array("float64")
        element = f"{other}[{place}{self.pick('', '', ' + 1', ' - 1', f' % {self.length(other)}')}]"
        guard = self.pick("", "", f" if {place} < {self.length(other)} else 0.5")
        if self.chooser.random() < 0.6:
            return self.write(indent, f"r += {element}{guard}")
        self.write(indent, f"t += int({place})")

    def write_guarded(self, indent, loops):
        """An element where its index has been looked at, or nearly so."""
        c = self.chooser
        array, x = self.array("float64"), self.name()
        low, high = self.low(x), self.high(x, array)
        k, n = c.randint(0, 2), self.length(array)
        index = self.pick(
            x, x, x, f"{x} + {c.randint(1, 9)}", f"{x} - {c.randint(1, 9)}", self.index(array, x)
        )
        element = f"{array}[{index}]"
        test = self.pick(
            f"{low} and {high}", f"{high} and {low}", f"0 <= {x} < {n}", f"0 <= {x} + {k} < {n}",
            f"{k} <= {x} <= {n} - {c.randint(1, 2)}", f"-1 < {x} < {self.name()} <= {n}", f"{low} and {high}",
        )  # fmt: skip
        way = c.random()
        if way < 0.4:
            self.write(indent, f"if {test}:")
            self.write(indent + 1, f"r += {element}")
            if c.random() < 0.3:
                self.write(indent, "else:")
                self.block(indent + 1, loops, 1)
        elif way < 0.6:
            self.write(indent, f"r += {element} if {test} else 0.25")
        elif way < 0.7:
            self.write(indent, f"if {test} and {element} > {c.randint(-2, 3)}:")
            self.block(indent + 1, loops, 2)
        elif x in self.places:
            self.write(indent, f"if not ({low}){self.pick(f' or not ({high})', '')}:")
            self.write(indent + 1, f"{x} = {self.pick(0, 0, 1, -1, f'{n} - 1')}")
            self.write(indent, f"r += {element}")
        else:
            self.write(indent, f"r += {element} if {test} else 0.5")

    def write_if(self, indent, loops):
        self.write(indent, f"if {self.condition(2)}:")
        self.block(indent + 1, loops, 2)
        if self.chooser.random() < 0.5:
            self.write(indent, "else:")
            self.block(indent + 1, loops, 2)

    def write_chosen(self, indent, loops):
        """A division that may not run, then others by the same number."""
        y = self.pick(self.name(), self.length())
        x = self.chooser.choice(self.places)
        division = f"{self.whole(1)} {self.pick('%', '//')} {y}"
        self.write(
            indent,
            self.pick(
                f"{x} = {division} if {self.condition(1)} else {self.whole(0)}",
                f"t += {self.whole(0)} {self.pick('<', '<=')} {self.name()} {self.pick('<', '>')} {division}",
                f"t += {self.name()} > 0 {self.pick('and', 'or')} {division} > 0",
            ),
        )
        self.write(indent, f"t += {self.whole(0)} {self.pick('%', '//')} {y}")

    def write_divided(self, indent, loops):
        self.write(
            indent, f"t += {self.whole(1)} {self.pick('%', '//')} {self.pick(self.name(), self.whole(1))}"
        )

    def write_listed(self, indent, loops):
        """Comprehensions, whose iterations may be none."""
        k, y = self.fresh("k"), self.pick(self.name(), self.length())
        over = self.pick(f"range({self.small()})", f"range({self.bounds()})", f"range({self.bounds()})")
        if self.chooser.random() < 0.3:
            over += f" if {self.condition(1)}"
        self.fixed.append(k)
        array = self.array("float64")
        what = self.pick(f"{self.whole(1)} {self.pick('%', '//')} {y}", f"{k} % {y}", self.whole(1))
        real = f"{array}[{self.index(array, self.pick(k, self.name()))}]"
        self.fixed.remove(k)
        text = self.pick(
            f"t += len([{what} for {k} in {over}])", f"t += sum([{what} for {k} in {over}])",
            f"t += sum({what} for {k} in {over})", f"r += sum([{real} for {k} in {over}])",
            f"t += any([{what} > 0 for {k} in {over}])", f"r += sum([{real} for {k} in {over}])",
        )  # fmt: skip
        self.write(indent, text)
        if self.chooser.random() < 0.5:
            self.write(indent, f"t += {self.whole(0)} {self.pick('%', '//')} {y}")

    def write_leave(self, indent, loops):
        self.write(indent, f"if {self.condition(1)}:")
        ways = ["break", "continue"] if self.inside is None or loops > self.inside else ["continue"]
        self.write(indent + 1, self.chooser.choice(ways))

    def write_caught(self, indent, loops):
        error = self.pick("IndexError", "ZeroDivisionError", "(IndexError, ZeroDivisionError)")
        self.tries += 1
        self.write(indent, "try:")
        self.block(indent + 1, loops, 2)
        self.tries -= 1
        self.write(indent, f"except {error}:")
        self.write(
            indent + 1, self.pick("t += 1000", self.count(self.chooser.choice(self.places)), "r += 0.125")
        )
        if self.chooser.random() < 0.3:
            self.write_use(indent, loops)

    # Loops

    def bounds(self):
        """What stands in range(): few iterations, or few nearly."""
        c = self.chooser
        x, k, step = (
            self.variable(self.pick(0, 0, 0, 1)),
            c.randint(0, 9),
            c.choice((2, 3, 5, 2**31, 2**62, LAST)),
        )
        return self.pick(
            f"{x}, {x} + {k}", f"{x} - {k}, {x}", f"{x} - {k}, {x} + {k}", f"{x}, {x} - {k}, -1",
            f"{x} + {k}, {x}, -{step}", f"{x}, {x} + {k}, {step}",
            f"{x}, {self.whole(1)}, {literal(self.pick(step, -step))}",
            f"{x}, {self.length()}", f"{k}, {self.length()} - {c.randint(0, 2)}", f"{self.length()} - 1, -1, -1",
            self.small(),
            f"{x}, {self.name()}", f"{self.length()}, {x}, -1", f"0, {self.length()}, {self.pick(2, self.name())}",
        )  # fmt: skip

    def body(self, indent, loops, counter, before=None, also=()):
        """A loop's body with its counter and what else it sets, and perhaps its else."""
        self.fixed += also
        if counter:
            self.fixed.append(counter)
            if self.chooser.random() < 0.6:
                self.write_use(indent + 1, loops + 1, self.pick(counter, counter, self.name()))
        self.block(indent + 1, loops + 1)
        if before:
            self.write(indent + 1, before)
        if counter:
            self.fixed.remove(counter)
        for name in also:
            self.fixed.remove(name)
        if self.chooser.random() < 0.2:
            self.write(indent, "else:")
            self.block(indent + 1, loops, 2)

    def write_range(self, indent, loops):
        k = self.fresh("k")
        over = f"range({self.bounds()})"
        over = self.pick(over, over, over, f"reversed({over})")
        self.write(indent, f"for {k} in {over}:")
        self.body(indent, loops, k)

    def sum_of(self, counters):
        """Counters, lengths and numbers, added and subtracted, with parentheses."""
        c = self.chooser
        lengths = [f"len({array})" for array in self.arrays if array[0] in "ab"]
        text = str(c.choice((*counters, *counters, *lengths, c.randint(0, 6))))
        for _ in range(c.choice((0, 1, 1, 2, 3))):
            term = str(c.choice((*counters, *counters, *lengths, c.randint(0, 6), c.randint(0, 6))))
            text = self.pick(f"{text} + {term}", f"{text} - {term}", f"{term} - ({text})")
        return text

    def write_sums(self, indent, loops):
        """Loops in loops, whose ranges and indices are sums of the counters of those around and of lengths."""
        c = self.chooser
        counters = []
        for depth in range(c.choice((2, 2, 3))):
            k = self.fresh("k")
            end = self.sum_of(counters) if depth else self.pick(self.length(), self.sum_of(()))
            start = self.pick(0, 1, self.sum_of(counters), self.sum_of(counters))
            over = self.pick(
                end, f"{start}, {end}", f"{end}, {start}, -1", f"{start}, {end}, {c.randint(2, 4)}",
                f"{start}, {start} + {c.randint(1, 4)}", f"{end} - {c.randint(1, 4)}, {end}",
            )  # fmt: skip
            self.write(indent + depth, f"for {k} in range({over}):")
            counters.append(k)
        inside = indent + len(counters)
        for _ in range(c.randint(1, 3)):
            array, index = self.array("float64"), self.sum_of(counters)
            test = self.pick(f"0 <= {index} < {self.length(array)}", f"{index} < {self.length(array)}")
            guard = self.pick("", f" if {test} else 0.5")
            self.write(inside, self.pick(f"t += {index}", *[f"r += {array}[{index}]{guard}"] * 3))

    def write_elements(self, indent, loops):
        k, v, array = self.fresh("k"), self.fresh("v"), self.array("int64", *NARROW)
        if array is None:
            return self.write_range(indent, loops)
        text = self.pick(
            f"for {v} in {array}:", f"for {k}, {v} in enumerate({array}):",
            f"for {v}, {k} in zip({array}, range({self.bounds()})):",
            f"for {v} in {array}[{self.whole(0)}:{self.pick('', self.whole(1))}]:",
        )  # fmt: skip
        self.write(indent, text)
        self.body(indent, loops, v, also=[k] if f" {k}" in text else [])

    def write_over(self, indent, loops):
        """A loop over a generator, or a slice."""
        c = self.chooser
        if c.random() < 0.4:
            s, array = self.fresh("s"), self.array("float64")
            self.write(indent, f"{s} = {array}[{self.whole(0)}:{self.pick('', self.whole(1))}]")
            self.arrays[s] = "float64"
            for _ in range(2):
                self.write_use(indent, loops) if c.random() < 0.5 else self.write_guarded(indent, loops)
            del self.arrays[s]
            return
        k = self.fresh("k")
        self.write(
            indent,
            f"for {k} in {self.generator()}({self.whole(1)}, {self.pick(self.whole(1), self.small())}):",
        )
        self.body(indent, loops, k)

    def generator(self):
        """Writes a generator before the function; answers its name."""
        c = self.chooser
        name, step = self.fresh("g"), c.choice(STEPS)
        sign = self.pick("+", "+", "-")
        test = self.pick(
            f"i {'<' if sign == '+' else '>'} y", "i != y", f"i < y and i >= {c.randint(-2, 2)}", "x <= i < y"
        )
        lines = [f"def {name}(x, y):", "    i = x", f"    while {test}:"]
        if c.random() < 0.3:
            lines += [
                f"        if i % {self.pick('y', 3)} == {c.randint(0, 1)}:",
                f"            i {sign}= 1",
                "            continue",
            ]
        lines += [
            f"        yield {self.pick('i', 'i', 'i - x', 'y - i', 'i // 2')}",
            f"        i {sign}= {step}",
        ]
        if c.random() < 0.3:
            lines.append(f"    yield {self.pick('i', 'y // i')}")
        self.lines[0:0] = [*lines, "", ""]
        return name

    def write_counted(self, indent, loops):
        """A loop that counts up or down, with a condition over one variable or two."""
        c = self.chooser
        array = self.array("float64")
        x = c.choice(self.places)
        others = [y for y in self.places if y != x]
        if c.random() < 0.5:
            n = self.length(array)
            positive = f"max({self.name()}, 0)"
            start = self.pick(0, 1, f"{n} - 1", f"{n} - 2", self.whole(1), self.name(), positive)
            self.write(indent, f"{x} = {start}")
        up = c.random() < 0.5
        end = self.high(x, array) if up else self.low(x)
        test, also = end, None
        if others and c.random() < 0.5:
            y = c.choice(others)
            also = self.count(y, self.pick("-" if up else "+", "-", "+"))
            test = self.pick(
                f"{x} {'<' if up else '>'} {y}", f"{x} {'<=' if up else '>='} {y}", f"{end} and {self.low(y)}",
                f"{end} and {self.high(y, array)}", f"{x} != {y}", f"{self.low(y)} and {end}", f"0 <= {y} < {x}",
            )  # fmt: skip
        if c.random() < 0.3:
            sign = self.pick("<", ">", "!=")
            test += f" and {array}[{self.index(array, x)}] {sign} {c.randint(-1, 5)}"
        if c.random() < 0.3:
            w = self.fresh("w")
            self.write(indent, f"{w} = {c.randint(0, 6)}")
            self.write(indent, f"while {self.pick(f'{w} > 0 and {test}', f'{test} and {w} > 0')}:")
            self.write(indent + 1, f"{w} -= 1")
        else:
            self.write(indent, f"while {test}:")
        step = self.count(x, "+" if up else "-")
        first = c.random() < 0.3
        if first:
            self.write(indent + 1, step)
        if c.random() < 0.8:
            near = self.pick(
                x, x, x, f"{x} + 1", f"{x} - 1", f"{x} - {c.randint(1, 9)}", f"{x} + {c.randint(1, 9)}"
            )
            if also and c.random() < 0.5:
                near = self.pick(y, f"{y} - 1", f"{y} + 1", f"{x} + {y}", f"{x} - {y}", f"{y} - {x}")
            self.write(indent + 1, f"r += {array}[{near}]")
        if also and c.random() < 0.8:
            self.write(indent + 1, also)
        self.body(indent, loops, None, None if first else step)
        if c.random() < 0.3:
            self.write_use(indent, loops, x)

    def write_parallel(self, indent, loops):
        """Iterations at the same time: they read arrays and add up whole numbers and floats without fractions."""
        c = self.chooser
        j = self.fresh("j")
        ranges = self.bounds()
        self.write(indent, f"for {j} in np.prange({ranges}):")
        before = self.places, self.fixed, self.inside
        own = [self.fresh("q") for _ in range(c.randint(1, 2))]
        self.fixed = self.fixed + self.places + [j]
        self.places, self.inside = own, loops + 1
        for name in own:
            others, self.places = self.places, [j]
            self.write(indent + 1, f"{name} = {self.whole(2)}")
            self.places = others
        self.left += 2
        self.block(indent + 1, loops + 1)
        self.write_use(indent + 1, loops + 1, self.pick(j, *own))
        self.places, self.fixed, self.inside = before

    def function(self):
        """The text of `f` and of what it calls."""
        body, c = [], self.chooser
        for array in self.arrays:
            if c.random() < 0.3:
                body.append(f"    n_{array} = len({array})")
                self.fixed.append(f"n_{array}")
        body += ["    r = 0.0", "    t = 0"]
        self.block(1, 0, 6)
        while self.left > 0:
            self.left -= 1
            self.statement(1, 0)
        at = next((k for k in range(len(self.lines), 0, -1) if not self.lines[k - 1].startswith(" ")), 0)
        head = f"def f({', '.join(self.parameters)}):"
        tail = f"    return ({', '.join([*self.places[:3], 't', 'r'])})"
        return "\n".join([*self.lines[:at], head, *body, *self.lines[at:], tail]) + "\n"


def argument(chooser, dtype):
    """An array with few elements of a type; some are as large as they may be."""
    size = chooser.choice((0, 1, 2, 3, 4, 5, 8))
    if dtype == "float64":
        return Elements([float(chooser.randint(-3, 6)) for _ in range(size)], dtype)
    least, most = int(numpy.iinfo(dtype).min), int(numpy.iinfo(dtype).max)
    values = [
        chooser.randint(0, 8)
        if chooser.random() < 0.8
        else chooser.choice((least, most, most - 1, most // 2 + 1, -1))
        for _ in range(size)
    ]
    return Elements([min(max(value, least), most) for value in values], dtype)


def generate(seed, parallel):
    """The text of a seed's functions, and tuples of arguments. The function to call is `f`."""
    chooser = random.Random(seed)
    maker = BoundsMaker(chooser, parallel)
    text = maker.function()
    calls = [
        tuple(
            argument(chooser, maker.arrays[p]) if p in maker.arrays else number(chooser)
            for p in maker.parameters
        )
        for _ in range(8)
    ]
    return text, calls
