"""Random functions of ints, floats and bools with all control flow, as texts of Python.

Every variable has one type. Whole numbers stay below 2**62, by masks; divisors, indices and roots are whatever they
are, so that exceptions are met, too.
"""

import random

KEPT = 31  # bits of whole numbers in variables and arrays
EXACT = 53  # bits that a float has
MOST = 61
SIGNS = {"add": "+", "sub": "-", "mul": "*"}
WHOLE, REAL, TRUTH = "int", "float", "bool"
FLOATS = (0.0, -0.0, 1.0, 0.5, -2.5, 3.0, 1e-3, 7.25, 1e10, -1e300, 1e-310)


class Maker:
    """Makes one function as text."""

    def __init__(self, chooser, name, callees=(), size=12):
        self.chooser, self.name, self.callees = chooser, name, list(callees)
        self.left = size  # statements that may still be written
        self.lines = []
        self.parameters = []
        self.variables = {WHOLE: [], REAL: [], TRUTH: []}
        self.arrays = {WHOLE: [], REAL: []}
        self.results = []
        self.places = []  # of loops over the places of an array
        self.counters = 0
        self.default = None  # of the last parameter
        self.defines = True  # whether functions may be inside

    def targets(self, kind):
        """Variables of a type that a statement may assign."""
        return self.variables[kind]

    def free(self, kind):
        """Those of which a statement may write any element."""
        return self.writable(kind)

    def writable(self, kind):
        """Arrays of a type whose elements a statement may write."""
        return self.arrays[kind]

    # Expressions of whole numbers come with the most bits that their values have.

    def whole(self, depth):
        c = self.chooser
        if depth <= 0 or c.random() < 0.2:
            return self.whole_leaf()
        kind = c.choice(
            "add add sub sub mul mul mask bit shift divide remainder negative absolute extreme"
            " choose either call length element floor power truth rounded root width modulo total inner".split()
        )
        a, bits = self.whole(depth - 1)
        if kind in ("add", "sub"):
            b, other = self.whole(depth - 1)
            return self.fitted(f"({a} {'+' if kind == 'add' else '-'} {b})", max(bits, other) + 1)
        if kind == "mul":
            b, other = self.whole(depth - 1)
            if bits + other > MOST:
                a, bits = self.masked(a, 30), 30
                b, other = self.masked(b, 30), 30
            return f"({a} * {b})", bits + other
        if kind == "mask":
            return self.masked(a, 12), 12
        if kind == "bit":
            b, other = self.whole(depth - 1)
            return f"({a} {c.choice('&|^')} {b})", max(bits, other)
        if kind == "shift":
            if c.random() < 0.5:
                return f"({a} >> {self.small(depth - 1)})", bits
            return self.fitted(f"({a} << {self.small(depth - 1)})", bits + 7)
        if kind in ("divide", "remainder"):
            b, other = self.divisor(depth - 1)
            if kind == "divide":
                return f"({a} // {b})", bits + 1
            return f"({a} % {b})", other
        if kind == "negative":
            return c.choice((f"(-{a})", f"(~{a})", f"(+{a})")), bits + 1
        if kind == "absolute":
            return f"abs({a})", bits
        if kind == "extreme":
            b, other = self.whole(depth - 1)
            return f"{c.choice(('min', 'max'))}({a}, {b})", max(bits, other)
        if kind == "choose":
            b, other = self.whole(depth - 1)
            return f"({a} if {self.truth(depth - 1)} else {b})", max(bits, other)
        if kind == "either":
            b, other = self.whole(depth - 1)
            return f"({a} {c.choice(('and', 'or'))} {b})", max(bits, other)
        if kind == "call":
            return self.call(WHOLE, depth) or (a, bits)
        if kind == "length" and (self.arrays[WHOLE] or self.arrays[REAL]):
            return f"len({c.choice(self.arrays[WHOLE] + self.arrays[REAL])})", 5
        if kind == "element" and self.arrays[WHOLE]:
            return self.element(WHOLE, depth), KEPT
        if kind == "floor":
            x = f"min(max({self.real(depth - 1)}, -1e6), 1e6)"
            return f"{c.choice(('int', 'math.floor', 'math.ceil'))}({x})", 21
        if kind == "rounded":
            return f"round(min(max({self.real(depth - 1)}, -1e6), 1e6))", 21
        if kind == "power":
            return f"(({a} & 15) ** ({self.whole(depth - 1)[0]} & 3))", 12
        if kind == "root":
            return f"math.isqrt({a})", bits
        if kind == "width":
            return f"({a}).bit_{c.choice(('length', 'count'))}()", 6
        if kind == "modulo":
            b, other = self.divisor(depth - 1)
            return f"pow({a}, {self.small(depth - 1)}, {b})", other
        if kind == "total":
            b, other = self.whole(depth - 1)
            return self.fitted(f"sum(({a}, {b}, {c.choice((1, -1))}))", max(bits, other) + 2)
        if kind == "inner" and self.defines:
            b, other = self.whole(depth - 1)
            if max(bits, other) > KEPT:
                b, other = self.masked(b, KEPT), KEPT
            name = f"q{self.chooser.randint(0, 99)}"
            return f"(lambda {name}, s={self.kept(a, bits)}: {name} - s + {b})({b})", KEPT + 2
        if kind == "truth":
            return f"int({self.truth(depth - 1)})", 1
        return a, bits

    def whole_leaf(self):
        c = self.chooser
        if self.variables[WHOLE] and c.random() < 0.75:
            return c.choice(self.variables[WHOLE]), KEPT
        value = c.choice((0, 1, 1, 2, 3, 5, 7, 10, 100, 255, 65537, -1, -2, -7, -1000))
        return (f"({value})" if value < 0 else str(value)), abs(value).bit_length()

    def small(self, depth):
        return f"({self.whole(depth)[0]} & 7)"

    def divisor(self, depth):
        if self.chooser.random() < 0.5:
            value = self.chooser.choice((2, 3, 7, 10, -3, 1000, -1))
            return f"({value})", abs(value).bit_length()
        return self.whole(depth)

    def masked(self, text, bits):
        return f"({text} & {2**bits - 1})"

    def fitted(self, text, bits):
        return (text, bits) if bits <= MOST else (self.masked(text, KEPT), KEPT)

    def kept(self, text, bits):
        """An expression whose value a variable may have."""
        if bits <= KEPT:
            return text
        return self.chooser.choice(
            (f"({text} & {2**KEPT - 1})", f"({text} % 1000003)", f"({text} >> {bits - KEPT})")
        )

    def exact(self, depth):
        text, bits = self.whole(depth)
        return text if bits <= EXACT else self.masked(text, EXACT)

    def real(self, depth):
        c = self.chooser
        if depth <= 0 or c.random() < 0.2:
            if self.variables[REAL] and c.random() < 0.75:
                return c.choice(self.variables[REAL])
            return f"({c.choice(FLOATS)!r})"
        kind = c.choice(
            "add sub mul mul divide whole quotient remainder floor negative absolute extreme choose call root"
            " mixed element either digits".split()
        )
        a, b = self.real(depth - 1), self.real(depth - 1)
        if kind in ("add", "sub", "mul"):
            return f"({a} {SIGNS[kind]} {b})"
        if kind == "divide":
            return f"({a} / {b})"
        if kind == "remainder":
            return f"({a} % {b})"
        if kind == "floor":
            return f"({a} // {b})"
        if kind == "whole":
            return f"float({self.whole(depth - 1)[0]})"
        if kind == "quotient":
            return f"({self.exact(depth - 1)} / {self.exact(depth - 1)})"
        if kind == "mixed":
            n = self.exact(depth - 1)
            return c.choice((f"({a} {c.choice('+-*/')} {n})", f"({n} {c.choice('+-*/')} {a})"))
        if kind == "negative":
            return f"(-{a})"
        if kind == "absolute":
            return f"abs({a})"
        if kind == "extreme":
            return f"{c.choice(('min', 'max'))}({a}, {b})"
        if kind == "choose":
            return f"({a} if {self.truth(depth - 1)} else {b})"
        if kind == "either":
            return f"({a} {c.choice(('and', 'or'))} {b})"
        if kind == "root":
            return f"math.sqrt(abs({a}))"
        if kind == "digits":
            return f"round(float({a}), {c.choice((-2, -1, 1, 2, 7))})"
        if kind == "call":
            found = self.call(REAL, depth)
            return found[0] if found else a
        if kind == "element" and self.arrays[REAL]:
            return self.element(REAL, depth)
        return a

    def truth(self, depth):
        c = self.chooser
        if depth <= 0 or c.random() < 0.15:
            if self.variables[TRUTH] and c.random() < 0.7:
                return c.choice(self.variables[TRUTH])
            return c.choice(("True", "False"))
        kind = c.choice(
            "compare compare compare reals chain and or not mixed whole call choose tuples among every".split()
        )
        sign = c.choice(("<", "<=", ">", ">=", "==", "!="))
        if kind == "compare":
            return f"({self.whole(depth - 1)[0]} {sign} {self.whole(depth - 1)[0]})"
        if kind == "reals":
            return f"({self.real(depth - 1)} {sign} {self.real(depth - 1)})"
        if kind == "chain":
            more = c.choice(("<", "<=", "==", "!=", ">"))
            parts = [self.whole(depth - 1)[0] for _ in range(3)]
            return f"({parts[0]} {sign} {parts[1]} {more} {parts[2]})"
        if kind in ("and", "or"):
            return f"({self.truth(depth - 1)} {kind} {self.truth(depth - 1)})"
        if kind == "not":
            return f"(not {self.condition(depth - 1)})"
        if kind == "mixed":
            return f"({self.exact(depth - 1)} {sign} {self.real(depth - 1)})"
        if kind == "whole":
            return f"bool({self.whole(depth - 1)[0]})"
        if kind == "tuples":
            # Sums, since one NaN in both tuples would be equal to itself.
            a, b = (f"({self.whole(depth - 1)[0]}, {self.real(depth - 1)} + 0.0)" for _ in range(2))
            return f"({a} {sign} {b})"
        if kind == "among":
            group = c.choice(
                (f"range(-3, {self.small(depth - 1)}, 2)", f"({self.whole(depth - 1)[0]}, 1, 5)")
            )
            return f"({self.whole(depth - 1)[0]} {c.choice(('in', 'not in'))} {group})"
        if kind == "every":
            return f"{c.choice(('any', 'all'))}(({self.truth(depth - 1)}, {self.whole(depth - 1)[0]}))"
        if kind == "choose":
            return f"({self.truth(depth - 1)} if {self.truth(depth - 1)} else {self.truth(depth - 1)})"
        found = self.call(TRUTH, depth)
        return found[0] if found else "True"

    def condition(self, depth):
        """What stands behind `if`: mostly a bool."""
        if self.chooser.random() < 0.15:
            return self.whole(depth)[0]
        if self.chooser.random() < 0.1:
            return self.real(depth)
        return self.truth(depth)

    def element(self, kind, depth, arrays=None):
        array = self.chooser.choice(arrays or self.arrays[kind])
        return f"{array}[{self.index(array, depth)}]"

    def index(self, array, depth):
        c = self.chooser
        if self.places and c.random() < 0.4:
            return f"{c.choice(self.places)}{c.choice(('', '', ' - 1', ' + 1'))}"
        text = self.whole(depth - 1)[0]
        if c.random() < 0.85:
            return f"{text} % len({array})"
        return f"{text} & 7" if c.random() < 0.7 else f"-({text} & 7)"

    def call(self, kind, depth):
        fitting = [f for f in self.callees if f.results == [kind]]
        if not fitting:
            return None
        callee = self.chooser.choice(fitting)
        arguments = [self.value(k, depth - 1) for _, k in callee.parameters]
        if callee.default is not None and self.chooser.random() < 0.4:
            arguments.pop()
        elif self.chooser.random() < 0.2:
            arguments[-1] = f"{callee.parameters[-1][0]}={arguments[-1]}"
        return f"{callee.name}({', '.join(arguments)})", KEPT

    def value(self, kind, depth):
        """An expression of a type, fit for a variable."""
        if kind == WHOLE:
            return self.kept(*self.whole(depth))
        return self.real(depth) if kind == REAL else self.truth(depth)

    # Statements

    def write(self, indent, text):
        self.lines.append("    " * indent + text)

    def function(self, parameters, arrays, results):
        """Writes the function; answers itself."""
        self.results = results
        for k, kind in enumerate(parameters):
            self.parameters.append((f"p{k}", kind))
            self.variables[kind].append(f"p{k}")
        for k, kind in enumerate(arrays):
            self.parameters.append((f"a{k}", f"{kind}s"))
            self.arrays[kind].append(f"a{k}")
        names = [name for name, _ in self.parameters]
        if not arrays and self.chooser.random() < 0.3:
            self.default = {WHOLE: "3", REAL: "0.25", TRUTH: "True"}[parameters[-1]]
            names[-1] += f"={self.default}"
        self.write(0, f"def {self.name}({', '.join(names)}):")
        for kind in (WHOLE, REAL, TRUTH):
            for k in range(self.chooser.randint(0, 2)):
                name = f"{kind[0]}{k}"
                self.write(1, f"{name} = {self.value(kind, 1)}")
                self.variables[kind].append(name)
        self.block(1, 0, True)
        self.write(1, f"return {self.returned(2)}")
        return self

    def returned(self, depth):
        values = [self.value(kind, depth) for kind in self.results]
        return values[0] if len(values) == 1 else f"({', '.join(values)})"

    def block(self, indent, loops, top=False):
        """Statements, one at least; `loops` is how many loops are around."""
        count = self.chooser.randint(2, 6) if top else self.chooser.randint(1, 3)
        for _ in range(count):
            if self.left <= 0:
                break
            self.left -= 1
            if self.statement(indent, loops):
                return  # nothing behind it is reached
        else:
            return
        self.write(indent, "pass")

    def kinds(self, loops):
        """What statements there may be, likelier ones several times."""
        kinds = "assign assign assign assign augment augment swap if if if for for while store store check say".split()
        kinds += ["pointer", "guarded"]
        return kinds + ["leave", "leave"] if loops else kinds

    def exits(self, loops):
        """How statements may leave what they are in."""
        return ("break", "continue", "return", "raise")

    def statement(self, indent, loops):
        """Writes one; says whether it leaves the block."""
        c = self.chooser
        kind = c.choice(self.kinds(loops))
        deep = indent >= 5
        if kind == "if" and not deep:
            return self.branch(indent, loops)
        if kind in ("for", "while") and loops < 3 and not deep:
            self.loop(kind, indent, loops)
        elif kind == "augment":
            self.augment(indent)
        elif kind == "swap":
            self.swap(indent)
        elif kind == "store" and (self.writable(WHOLE) or self.writable(REAL)):
            of = c.choice([k for k in (WHOLE, REAL) if self.writable(k)])
            element = self.element(of, 1, self.writable(of))
            if of == REAL and c.random() < 0.3:
                self.write(indent, f"{element} {c.choice(('+=', '*=', '-='))} {self.real(2)}")
            else:
                self.write(indent, f"{element} = {self.value(of, 2)}")
        elif kind == "pointer" and loops < 3 and not deep and self.free(REAL):
            self.pointer(indent, loops)
        elif kind == "guarded" and self.free(REAL):
            self.guarded(indent)
        elif kind == "check" and c.random() < 0.3:
            self.write(indent, f"assert {self.truth(2)}, 'checked'")
        elif kind == "say" and c.random() < 0.5:
            self.write(indent, f"print({self.whole(2)[0]}, ({self.real(2)}, {self.truth(1)}))")
        elif kind == "leave":
            self.write(indent, f"if {self.condition(2)}:")
            where = c.choice(self.exits(loops))
            if where == "return":
                where = f"return {self.returned(1)}"
            elif where == "raise":
                error = c.choice(("ValueError", "IndexError", "RuntimeError"))
                where = f"raise {error}(f'left {{{self.whole(1)[0]}}}')"
            self.write(indent + 1, where)
        else:
            self.assign(indent)
        return False

    def assign(self, indent):
        c = self.chooser
        kind = c.choice((WHOLE, WHOLE, REAL, TRUTH))
        known = self.targets(kind)
        text = self.value(kind, 3)
        # A new variable is bound on this way alone: where it is read on another, that is an error in Python, too.
        if not known or (c.random() < 0.15 and indent == 1):
            name = f"{kind[0]}{len(known) + 10}"
            known.append(name)
        else:
            name = c.choice(known)
        self.write(indent, f"{name} = {text}")

    def augment(self, indent):
        c = self.chooser
        kind = c.choice((WHOLE, REAL)) if self.targets(REAL) and self.targets(WHOLE) else None
        if kind == WHOLE:
            name = c.choice(self.targets(WHOLE))
            sign = c.choice(("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", ">>="))
            other, bits = self.whole(2)
            if sign == "*=":
                other = self.masked(other, 20) if bits > 20 else other
            self.write(indent, f"{name} {sign} {self.small(1) if sign == '>>=' else other}")
            self.write(
                indent,
                c.choice((f"{name} &= {2**KEPT - 1}", f"{name} %= 1000003", f"{name} = {name} % -65536")),
            )
        elif kind == REAL:
            name = c.choice(self.targets(REAL))
            self.write(indent, f"{name} {c.choice(('+=', '-=', '*=', '/=', '%='))} {self.real(2)}")
        else:
            self.assign(indent)

    def swap(self, indent):
        kind = self.chooser.choice((WHOLE, REAL, TRUTH))
        names = self.chooser.sample(self.targets(kind), min(2, len(self.targets(kind))))
        if len(names) < 2:
            self.assign(indent)
        elif self.chooser.random() < 0.5:
            self.write(indent, f"{names[0]}, {names[1]} = {names[1]}, {self.value(kind, 2)}")
        else:
            self.write(indent, f"{names[0]} = {names[1]} = {self.value(kind, 2)}")

    def branch(self, indent, loops):
        c = self.chooser
        self.write(indent, f"if {self.condition(3)}:")
        self.block(indent + 1, loops)
        while c.random() < 0.3:
            self.write(indent, f"elif {self.condition(2)}:")
            self.block(indent + 1, loops)
        if c.random() < 0.5:
            self.write(indent, "else:")
            self.block(indent + 1, loops)
        elif c.random() < 0.15 and "return" in self.exits(loops):
            self.write(indent + 1, f"return {self.returned(2)}")
        return False

    def loop(self, kind, indent, loops):
        c = self.chooser
        self.counters += 1
        if kind == "for":
            name = f"k{self.counters}"
            end = c.choice((str(c.randint(0, 6)), self.small(1)))
            ranges = (
                f"range({end})",
                f"range({c.randint(-3, 3)}, {end})",
                f"range({end}, -2, {c.choice((-1, -2, -3))})",
            )
            over = c.choice((*ranges, f"range(0, {end}, {c.choice((1, 2, 3))})"))
            target, also = name, None
            if c.random() < 0.3:
                target, also, over = self.sequence(name, over)
            self.write(indent, f"for {target} in {over}:")
            self.variables[WHOLE].append(name)
            if also:
                self.variables[also[1]].append(also[0])
            self.block(indent + 1, loops + 1)
            if not self.keeps_counter():
                self.variables[WHOLE].remove(name)
            if also:
                self.variables[also[1]].remove(also[0])
        else:
            name = f"w{self.counters}"
            self.write(indent, f"{name} = {c.randint(0, 7)}")
            self.write(indent, f"while {name} > 0 and {self.condition(2)}:")
            self.write(indent + 1, f"{name} -= 1")
            self.block(indent + 1, loops + 1)
        if c.random() < 0.25:
            self.write(indent, "else:")
            self.block(indent + 1, loops)

    def pointer(self, indent, loops):
        """A loop over places in an array as programs write it, or nearly so: some leave the array."""
        c = self.chooser
        self.counters += 1
        name, array = f"place{self.counters}", c.choice(self.free(REAL))
        up = c.random() < 0.5
        start = c.choice(("0", "1", self.small(1))) if up else c.choice((f"len({array}) - 1", self.small(1)))
        bound = c.choice(("<", "<", "<", "<=", "!=")) + f" len({array})" + c.choice(("", "", " - 1", " - 2"))
        self.write(indent, f"{name} = {start}")
        test = f"{name} {bound}" if up else f"{name} {c.choice(('>=', '>=', '>'))} {c.choice((0, 0, -1, 1))}"
        if c.random() < 0.4:
            test = f"{test} and {c.choice((f'{array}[{name}] > {self.real(1)}', self.truth(1)))}"
        self.write(indent, f"while {test}:")
        near = c.choice((name, name, name, f"{name} + 1", f"{name} - 1"))
        self.write(indent + 1, f"{array}[{near}] {c.choice(('=', '+='))} {self.real(1)}")
        step = f"{c.choice((1, 1, 1, 2))}"
        operator = "+" if up else "-"
        self.write(indent + 1, c.choice((f"{name} {operator}= {step}", f"{name} = {name} {operator} {step}")))
        self.places.append(name)
        self.block(indent + 1, loops + 1)
        self.places.pop()
        if c.random() < 0.4:
            self.guarded(indent, name)

    def guarded(self, indent, index=None):
        """An element where its index has been looked at, or nearly so."""
        c = self.chooser
        array = c.choice(self.free(REAL))
        if index is None:
            self.counters += 1
            index = f"spot{self.counters}"
            self.write(indent, f"{index} = {self.small(1)} - {c.choice((0, 2, 4))}")
        low = c.choice((f"{index} >= 0", f"not {index} < 0", f"0 <= {index}", f"{index} > -2"))
        high = c.choice(
            (f"{index} < len({array})", f"{index} + 1 <= len({array})", f"{index} <= len({array})")
        )
        way = c.random()
        element = f"{array}[{index}] = {self.real(1)}"
        if way < 0.5:
            self.write(indent, f"if {low} and {high}:")
            self.write(indent + 1, element)
        elif way < 0.7:
            self.write(indent, f"if not ({low}) or not ({high}):")
            self.write(indent + 1, f"{index} = {c.choice((0, 0, 1, -1))}")
            self.write(indent, element)
        else:
            self.write(indent, f"{index} = {index} if {low} else 0")
            self.write(indent, f"if {high}:")
            self.write(indent + 1, element)

    def keeps_counter(self):
        """Whether a counter is read behind its loop, where it may be unbound."""
        return self.chooser.random() >= 0.7

    def sequence(self, name, over):
        """What a loop with a whole number `name` goes over: (targets, another variable with its type, iterable)."""
        c = self.chooser
        arrays = [(a, kind) for kind in (WHOLE, REAL) for a in self.arrays[kind]]
        if not arrays or c.random() < 0.3:
            if c.random() < 0.5:
                return name, None, f"reversed({over})" if over.startswith("range") else over
            return name, None, f"({', '.join(str(c.randint(-9, 99)) for _ in range(c.randint(2, 4)))})"
        array, kind = c.choice(arrays)
        other = f"v{self.counters}"
        kinds = ["enumerate", "zip", "slice"]
        way = c.choice(kinds)
        if way == "enumerate":
            return f"{name}, {other}", (other, kind), f"enumerate({array})"
        if way == "zip":
            return f"{name}, {other}", (other, kind), f"zip({over}, {array})"
        if kind == REAL:
            return name, None, over
        step = c.choice(("", "", ":2", ":-1"))
        return name, None, f"{array}[{c.choice(('', '1', '-3', '9'))}:{c.choice(('', '2', '-1'))}{step}]"


def generate(seed):
    """The text of a seed's functions, and tuples of arguments. The function to call is `f`."""
    chooser = random.Random(seed)
    callees = []
    for k in range(chooser.randint(0, 2)):
        parameters = [chooser.choice((WHOLE, REAL, TRUTH)) for _ in range(chooser.randint(1, 3))]
        made = Maker(chooser, f"g{k}", callees, size=5)
        callees.append(made.function(parameters, [], [chooser.choice((WHOLE, REAL, TRUTH))]))
    parameters = [chooser.choice((WHOLE, WHOLE, REAL, TRUTH)) for _ in range(chooser.randint(1, 4))]
    arrays = [chooser.choice((WHOLE, REAL)) for _ in range(chooser.choice((0, 0, 1, 2)))]
    results = [chooser.choice((WHOLE, REAL, TRUTH)) for _ in range(chooser.choice((1, 1, 2, 3)))]
    f = Maker(chooser, "f", callees, size=chooser.randint(6, 24)).function(parameters, arrays, results)
    text = "import math\n\n\n" + "\n\n\n".join("\n".join(made.lines) for made in (*callees, f)) + "\n"
    calls = [tuple(argument(chooser, kind) for _, kind in f.parameters) for _ in range(4)]
    return text, calls


def argument(chooser, kind):
    """A random value of a parameter's type; of an array, a list."""
    if kind == WHOLE:
        return chooser.choice((0, 1, -1, 2, 3, chooser.randint(-20, 20), chooser.randint(-(2**30), 2**30)))
    if kind == REAL:
        return chooser.choice(
            (*FLOATS, chooser.uniform(-10, 10), chooser.gauss(0, 1e5), float("inf"), float("nan"))
        )
    if kind == TRUTH:
        return chooser.random() < 0.5
    return [argument(chooser, kind[:-1]) for _ in range(chooser.randint(1, 6))]
