"""Random functions with loops over prange, as texts of Python.

Iterations assign variables of their own, update reductions, and write arrays at their own index or those that they
make. Sums and products of floats are read nowhere and returned last: their order is not a plain loop's.
"""

import random

from jit_random import KEPT, REAL, TRUTH, WHOLE, Maker, argument

COUNTS = (0, 1, 2, 5, 15, 16, 17, 33, 130, 257, 700)
LENGTHS = (1, 2, 3, 7, 16, 17, 40, 129, 300, 700)
# By what a reduction is: its type, and updates by an expression `e`, of which `t` is the type.
UPDATES = {
    "sum": (
        WHOLE,
        ("{r} += {e}", "{r} = {r} + {e}", "{r} = {e} + {r}", "{r} -= {e}", "{r} = ({r} + {e}) - {f}"),
    ),
    "product": (WHOLE, ("{r} *= {e}", "{r} = {e} * {r}")),
    "and": (WHOLE, ("{r} &= {e}", "{r} = {e} & {r}")),
    "or": (WHOLE, ("{r} |= {e}", "{r} = {r} | {e}")),
    "xor": (WHOLE, ("{r} ^= {e}",)),
    "least": (WHOLE, ("{r} = min({r}, {e})", "{r} = min({e}, {r}, {f})", "{r} = np.minimum({r}, {e})")),
    "most": (WHOLE, ("{r} = max({r}, {e})", "{r} = max({e}, {r})")),
    "least real": (REAL, ("{r} = min({r}, {e})", "{r} = min({r}, {e}, {f})")),
    "most real": (REAL, ("{r} = max({r}, {e})",)),
    "any": (TRUTH, ("{r} = {r} or {e}", "{r} = {e} or {r}")),
    "all": (TRUTH, ("{r} = {r} and {e}", "{r} = {e} and {r}")),
    "first of": (WHOLE, ()),
    "first of real": (REAL, ()),
}
CONDITIONAL = ("sum", "product", "and", "or", "xor")
SAME_NAME = {"least": "minimum", "most": "maximum"}


class ParallelMaker(Maker):
    """Makes a function with loops over prange as text."""

    def __init__(self, chooser, name, callees=(), size=12, sums=0):
        super().__init__(chooser, name, callees, size)
        self.sums = {f"y{k}": chooser.choice(("sum", "product")) for k in range(sums)}
        self.depth = 0  # of loops over prange
        self.inside = 0  # loops around, where the innermost loop over prange begins
        self.own = None  # in such a loop: variables and arrays that an iteration may assign and write
        self.at = {WHOLE: {}, REAL: {}}  # arrays that are written, with the only index there
        self.reductions = []  # (name, what it is, its own form)
        self.names = 0
        # A loop over prange assigns no variable that a function inside reads.
        self.captures = self.defines = chooser.random() < 0.3

    def targets(self, kind):
        return self.variables[kind] if self.own is None else self.own[kind]

    def free(self, kind):
        return self.arrays[kind] if self.own is None else self.own["arrays"][kind]

    def writable(self, kind):
        if self.own is None:
            return self.arrays[kind]
        return self.own["arrays"][kind] + self.own["written"][kind]

    def element(self, kind, depth, arrays=None):
        array = self.chooser.choice(arrays or self.arrays[kind] + list(self.at[kind]))
        return f"{array}[{self.at[kind].get(array) or self.index(array, depth)}]"

    def kinds(self, loops):
        kinds = [kind for kind in super().kinds(loops) if kind != "say" or self.depth == 0]
        if self.depth < 2 and loops < 3:
            kinds += ["parallel"] * (1 if self.depth else 3)
        return kinds + ["update"] * 4 if self.reductions or (self.depth and self.sums) else kinds

    def exits(self, loops):
        if self.depth == 0:
            return super().exits(loops)
        return ("continue", "raise") if loops == self.inside else ("break", "continue", "raise")

    def returned(self, depth):
        values = [self.value(kind, depth) for kind in self.results] + list(self.sums)
        return values[0] if len(values) == 1 else f"({', '.join(values)})"

    def block(self, indent, loops, top=False):
        if top:
            for name, kind in self.sums.items():
                self.write(indent, f"{name} = {0.0 if kind == 'sum' else 1.0}")
            if self.chooser.random() < 0.5:
                self.parallel(indent, loops)
        before = self.seen()
        super().block(indent, loops, top)
        if self.depth:  # what some iterations assign is read behind by none
            self.hide(before)
        if top and self.names == 0:
            self.parallel(indent, loops)

    def loop(self, kind, indent, loops):
        before = self.seen()
        super().loop(kind, indent, loops)
        if self.depth:
            self.hide(before)

    def keeps_counter(self):
        return super().keeps_counter() and self.depth == 0

    def seen(self):
        own = {} if self.own is None else self.own
        return [
            {kind: list(names.get(kind, ())) for kind in (WHOLE, REAL, TRUTH)}
            for names in (self.variables, own)
        ]

    def hide(self, before):
        for names, kept in zip((self.variables, self.own), before, strict=True):
            for kind in kept if names else ():
                names[kind][:] = [name for name in names[kind] if name in kept[kind]]

    def statement(self, indent, loops):
        kinds = self.kinds(loops)
        kind = self.chooser.choice(kinds)
        if kind == "parallel" and indent < 4:
            self.parallel(indent, loops)
            return False
        if kind == "update":
            self.update(indent)
            return False
        return super().statement(indent, loops)

    # Loops

    def parallel(self, indent, loops):
        c = self.chooser
        self.names += 1
        counter = f"j{self.names}"
        before = (
            {kind: list(names) for kind, names in self.variables.items()},
            {kind: list(names) for kind, names in self.arrays.items()},
            {kind: dict(names) for kind, names in self.at.items()},
            self.own, self.inside, list(self.reductions), self.defines,
        )  # fmt: skip
        written = self.choose_written()
        text = self.range_text(written, loops)
        reductions = self.start_reductions(indent)
        known = not self.captures and c.random() < 0.3  # before the loop, so that it may be read behind it
        if known:
            self.write(indent, f"{counter} = -1")
        self.write(indent, f"for {counter} in np.prange({text}):")
        self.depth += 1
        self.inside = loops + 1
        self.defines = False
        self.left += c.randint(3, 6)
        renamed = self.begin_iteration(indent + 1, counter, written)
        super().block(indent + 1, loops + 1)
        for reduction in reductions:
            if c.random() < 0.9:
                self.update(indent + 1, reduction)
        self.depth -= 1
        self.variables, self.arrays, self.at, self.own, self.inside, self.reductions, self.defines = before
        if known and self.own is None:
            self.variables[WHOLE].append(counter)
        for kind, name in renamed:
            self.variables[kind].append(name)
        self.end_reductions(indent, reductions)

    def choose_written(self):
        """Arrays that the loop writes at its counter, as (kind, name)."""
        c = self.chooser
        both = [(kind, name) for kind in (WHOLE, REAL) for name in self.writable(kind)]
        both = [(kind, name) for kind, name in both if name not in self.at[kind]]
        return c.sample(both, min(len(both), c.choice((0, 1, 1, 2))))

    def range_text(self, written, loops):
        c = self.chooser
        if not written:
            most = 700 if loops == 0 else 33
            end = c.choice([n for n in COUNTS if n <= most])
            if c.random() < 0.3:
                end = self.small(1)
            return c.choice(
                (
                    f"{end}",
                    f"{end}",
                    f"{c.randint(-3, 3)}, {end}",
                    f"0, {end}, {c.choice((2, 3))}",
                    f"{end}, -2, -1",
                )
            )
        lengths = [f"len({name})" for _, name in written]
        size = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
        if c.random() < 0.04:
            return f"{size} + 1"
        return c.choice(
            (size, size, size, f"1, {size}", f"{size} - 1, -1, -1", f"0, {size}, 2", f"min({size}, 20)")
        )

    def start_reductions(self, indent):
        """New ones before a loop, with their values."""
        c = self.chooser
        made = []
        for _ in range(c.choice((0, 1, 1, 2, 3))):
            self.names += 1
            name, what = f"r{self.names}", c.choice(list(UPDATES))
            kind = UPDATES[what][0]
            value = self.value(kind, 1)
            if what.endswith("real"):  # where a NaN is first, no order is a plain loop's
                value = f"min(max({value}, -1e9), 1e9)"
                self.write(indent, f"{name} = {value}")
                self.write(indent, f"{name} = {name} if {name} == {name} else 1e9")
            else:
                self.write(indent, f"{name} = {value}")
            form = None
            if what.startswith("first"):
                beside = [
                    (f"b{self.names}_{k}", c.choice((WHOLE, REAL, TRUTH))) for k in range(c.choice((0, 1, 2)))
                ]
                for other, of in beside:
                    self.write(indent, f"{other} = {self.value(of, 1)}")
                form = (c.choice(("<", "<=", ">", ">=")), beside, [])
            elif what in SAME_NAME and c.random() < 0.3:
                form = SAME_NAME[what]
            made.append((name, what, form))
        self.reductions = self.reductions + made
        return made

    def begin_iteration(self, indent, counter, written):
        """Gives an iteration variables and arrays; answers those that are read behind the loop."""
        c = self.chooser
        kinds = [WHOLE, REAL, TRUTH] + c.choices((WHOLE, REAL, TRUTH), k=c.randint(0, 2))
        outer = {WHOLE: [], REAL: [], TRUTH: []} if self.own is None else self.own
        taken, renamed = [], []
        for kind in kinds:
            # A parameter or variable from before gets a value of each iteration's.
            candidates = [
                n
                for n in (self.variables[kind] if self.own is None else outer[kind])
                if n in self.variables[kind]
            ]
            if candidates and not self.captures and c.random() < 0.3:
                name = c.choice(candidates)
                self.variables[kind].remove(name)
            else:
                self.names += 1
                name = f"o{self.names}"
                if c.random() < 0.03 and self.depth == 1:
                    renamed.append((kind, name))
            taken.append((kind, name))
        self.own = {
            WHOLE: [],
            REAL: [],
            TRUTH: [],
            "arrays": {WHOLE: [], REAL: []},
            "written": {WHOLE: [], REAL: []},
        }
        self.at = {kind: dict(names) for kind, names in self.at.items()}
        for kind, name in written:
            self.own["written"][kind].append(name)
            self.at[kind][name] = counter
            if name in self.arrays[kind]:
                self.arrays[kind].remove(name)
        self.variables[WHOLE].append(counter)
        for kind, name in taken:
            self.write(indent, f"{name} = {self.value(kind, 2)}")
            self.variables[kind].append(name)
            self.own[kind].append(name)
        for _ in range(c.choice((0, 0, 0, 1, 2))):
            self.names += 1
            name, kind, size = f"t{self.names}", c.choice((WHOLE, REAL)), c.choice((1, 2, 5))
            self.write(indent, f"{name} = np.zeros({size}{', np.int64' if kind == WHOLE else ''})")
            self.arrays[kind].append(name)
            self.own["arrays"][kind].append(name)
        return renamed

    def update(self, indent, reduction=None):
        c = self.chooser
        if reduction is None and self.sums and (not self.reductions or c.random() < 0.4):
            name = c.choice(list(self.sums))
            value = f"min(max({self.real(2)}, -1e3), 1e3)"
            if self.sums[name] == "product":
                value = f"(1.0 + {value} * 1e-6)"
            signs = "+-" if self.sums[name] == "sum" else "*/"
            text = c.choice(
                (
                    f"{name} {signs[0]}= {value}",
                    f"{name} {signs[1]}= {value}",
                    f"{name} = {name} {signs[0]} {value}",
                )
            )
            if c.random() < 0.2:
                text = f"{name} = {name} {signs[0]} {value} if {self.truth(1)} else {name}"
            self.write(indent, text)
            return
        name, what, form = reduction or c.choice(self.reductions)
        kind, updates = UPDATES[what]
        if what.startswith("first"):
            return self.update_first(indent, name, kind, form)
        if isinstance(form, str):
            self.write(indent, f"{name} = np.{form}({name}, {self.value(kind, 2)})")
            return
        if what in ("any", "all"):  # nothing that raises: no chunk knows whether those before have found one
            e = f = c.choice((*self.own[TRUTH], f"({c.choice(self.own[WHOLE])} > {c.randint(-9, 9)})"))
        else:
            e, f = (self.bounded(self.value(kind, 2), what) for _ in range(2))
        chosen = c.choice([u for u in updates if "np." not in u])
        text = chosen.format(r=name, e=e, f=f)
        if what in CONDITIONAL and "= {r}" in chosen and c.random() < 0.3:
            text += f" if {self.truth(1)} else {name}"
        self.write(indent, text)

    def bounded(self, value, what):
        return f"({value})" if not what.endswith("real") else f"min(max({value}, -1e6), 1e6)"

    def update_first(self, indent, name, kind, form):
        """What is beside the first of the least may be assigned once."""
        c = self.chooser
        sign, beside, done = form
        if beside and done:
            return self.assign(indent)
        done.append(True)
        places = [*self.own[kind]]
        value = c.choice(places)
        swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        condition = f"{value} {sign} {name}" if c.random() < 0.7 else f"{name} {swapped[sign]} {value}"
        self.write(indent, f"if {condition}:")
        # Nothing that raises: a chunk's best is met before anybody knows whether it is the best so far.
        pairs = [(name, value), *((other, c.choice(self.own[of])) for other, of in beside)]
        if len(pairs) > 1 and c.random() < 0.3:
            self.write(indent + 1, f"{', '.join(n for n, _ in pairs)} = {', '.join(v for _, v in pairs)}")
        else:
            for other, text in pairs:
                self.write(indent + 1, f"{other} = {text}")

    def end_reductions(self, indent, reductions):
        for name, what, form in reductions:
            kind = UPDATES[what][0]
            if kind == WHOLE:  # integers wrap in 64 bits, where Python's grow
                self.write(indent, f"{name} &= {2**KEPT - 1}")
            self.add(kind, name)
            if what.startswith("first"):
                for other, of in form[1]:
                    self.add(of, other)

    def add(self, kind, name):
        """Behind its loop a reduction is a variable like others."""
        self.variables[kind].append(name)
        if self.own is not None:
            self.own[kind].append(name)


def generate(seed):
    """The text of a seed's functions, tuples of arguments, and how many results at the end are sums of floats."""
    chooser = random.Random(seed)
    callees = []
    for k in range(chooser.randint(0, 2)):
        parameters = [chooser.choice((WHOLE, REAL, TRUTH)) for _ in range(chooser.randint(1, 3))]
        kind = chooser.choice((Quiet, Quiet, Quiet, QuietParallel))
        made = kind(chooser, f"g{k}", callees, size=4)
        callees.append(made.function(parameters, [], [chooser.choice((WHOLE, REAL, TRUTH))]))
    parameters = [chooser.choice((WHOLE, WHOLE, REAL, TRUTH)) for _ in range(chooser.randint(1, 3))]
    arrays = [chooser.choice((WHOLE, REAL)) for _ in range(chooser.choice((0, 1, 1, 2, 3)))]
    results = [chooser.choice((WHOLE, REAL, TRUTH)) for _ in range(chooser.choice((1, 1, 2)))]
    maker = ParallelMaker(chooser, "f", callees, chooser.randint(4, 12), chooser.choice((0, 1, 1, 2)))
    f = maker.function(parameters, arrays, results)
    text = "import math\n\n\n" + "\n\n\n".join("\n".join(made.lines) for made in (*callees, f)) + "\n"
    calls = [tuple(parallel_argument(chooser, kind) for _, kind in f.parameters) for _ in range(3)]
    return text, calls, len(f.sums)


def parallel_argument(chooser, kind):
    """As `argument`; arrays are of lengths at which chunks and lanes end."""
    if kind in (WHOLE, REAL, TRUTH):
        return argument(chooser, kind)
    return [argument(chooser, kind[:-1]) for _ in range(chooser.choice(LENGTHS))]


class Quiet(Maker):
    """What iterations at the same time call prints nothing."""

    def kinds(self, loops):
        return [kind for kind in super().kinds(loops) if kind != "say"]


class QuietParallel(ParallelMaker):
    def kinds(self, loops):
        return [kind for kind in super().kinds(loops) if kind != "say"]

    def range_text(self, written, loops):
        return super().range_text(written, loops + 1)
