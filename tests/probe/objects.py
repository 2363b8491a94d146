"""Probe: calls, indices and assignments with Python objects that change what takes part while weft looks at them.

Whatever runs meanwhile, memory stays whole: a call returns what can be used or raises what a user can expect.
"""

import random
import zlib

import calls
import cases
import odd_values

FULL = 200_000
BATCH = 4_000
SAMPLE = 1_500
PATIENCE = 5.0

environment = calls.environment
prepare = calls.prepare

# The arrays and buffers of a script. Those that are seen by one name only can be resized and dropped.
THINGS = """
a = np.arange(12.0).reshape(3, 4); b = np.arange(6); c = np.array([True, False, True]); d = np.ones((3, 4), 'F')
a = np.arange(24).reshape(2, 3, 4)[:, ::-1]; a = np.array(3.5); a = np.zeros((0, 3)); a = pending(3, 4); a = pending(6)
b = np.array([2, 0, 1]); b = np.array([[0, 1], [1, 0]]); c = np.arange(3, dtype='b'); d = np.array([1, 2j, 3])
a = np.arange(5000.0); a = np.frombuffer(buffer, 'd'); b = np.asarray(numpy.arange(4)); a = sub_array(3, 4)
d = np.arange(70.0); b = np.arange(4)[::-1]
""".replace("\n", ";").split(";")
NAMES = ("a", "b", "c", "d")
OTHERS = ("items = [1, 2, 3]", "buffer = bytearray(48)", "view = memoryview(bytearray(48)).cast('d')",
          "words = __import__('array').array('d', [1, 2, 3])", "named = {'axis': 0}", "several = {1, 2}")  # fmt: skip


REACHED = (
    "a.T a[...] a.ravel() items buffer view words named several memoryview(buffer) a.flat memoryview(a) d[1:]"
).split()


def actions():
    import living

    return sorted(living.ACTIONS)


def things(g):
    """Lines that make what a script has, and their names."""
    given = [text.strip() for text in THINGS if text.strip()]
    lines = list(OTHERS)
    for name in NAMES:
        own = [text for text in given if text.startswith(name + " ")]
        lines.append(g.choice(own))
    names = [line.split(" = ")[0] for line in lines]
    lines.append(f"World({', '.join(f'{name}={name}' for name in names)})")
    return lines


def action_of(g):
    text = g.choice(actions())
    if g.random() < 0.5:
        text += f", at={g.choice((1, 2, 2, 3, 4))}"
    if g.random() < 0.2:
        text += ", again=True"
    return text


def number(g):
    action, *rest = action_of(g).split(", ", 1)
    value = g.choice(("0", "1", "1", "2", "-1", "3", "2**40", "2**62", "1.5", "-2**63", "2**64"))
    kind = g.choice(("Number", "Number", "WholeNumber"))
    if kind == "WholeNumber":
        value = value.replace("1.5", "1")
    return f"{kind}({', '.join([action, value, *rest])})"


def piece(g):
    return g.choice(
        (number(g), number(g), "1", "0", "a", "b", "a[0]", "2.5", "items", "view", "[1, 2]", "np.float64(2)")
    )


def sequence(g):
    action, *rest = action_of(g).split(", ", 1)
    kind = g.random()
    if kind < 0.25:
        return f"[{', '.join(piece(g) for _ in range(g.randint(1, 4)))}]"
    if kind < 0.4:
        return f"({', '.join(piece(g) for _ in range(g.randint(1, 3)))},)"
    if kind < 0.45:
        return f"[[{piece(g)}, {piece(g)}], [{piece(g)}, {piece(g)}]]"
    if kind < 0.5:
        return f"[{sequence(g)}, {sequence(g)}]"
    if kind < 0.55:
        return f"{g.choice(('LyingList', 'LyingTuple'))}({', '.join([action, *rest])})"
    if kind < 0.6:
        return f"generated({', '.join([action, *rest])})"
    items = g.choice(
        (
            "(1, 2, 3)",
            "(0, 1)",
            "[a, b]",
            "[[1, 2], [3, 4]]",
            "items",
            "(2.5, 1j)",
            f"({piece(g)}, {piece(g)})",
        )
    )
    later = g.choice(
        (
            "",
            "",
            ", later=(1,) * 1000",
            ", later=()",
            ", later=[[1] * 100] * 100",
            ", later=(1.5,)",
            ", later=['x']",
        )
    )
    said = g.choice(("", "", "", ", said=2", ", said=0", ", said=1000", ", said=2**62"))
    return f"Items({action}, {items}{later}{said}{', ' if rest else ''}{', '.join(rest)})"


def arrayish(g):
    action, *rest = action_of(g).split(", ", 1)
    tail = "".join(f", {each}" for each in rest)
    kind = g.random()
    if kind < 0.35:
        value = g.choice(
            ("a", "b", "numpy.arange(3)", "numpy.ones((2, 2))", "c", "5", "None", "numpy.zeros(0)")
        )
        later = g.choice(("", ", later=numpy.arange(10000)", ", later=a", ", later=numpy.zeros((2, 0))"))
        return f"Converts({action}, {value}{later}{tail})"
    if kind < 0.5:
        return f"Describes({action}, {g.choice(('buffer', 'words', '[1, 2]', 'numpy.ones((2, 2))'))}{tail})"
    if kind < 0.6:
        return f"Lends({action}, {g.choice(('words', '[1, 2]'))}{tail})"
    if kind < 0.75:
        return f"Decides({action}{g.choice(('', ', a', ', 5', ', NotImplemented'))}{tail})"
    return f"watching({action}, {g.choice(('a', 'b', 'd', 'np.ones((3, 4))', 'np.arange(3)'))}{tail})"


def part(g):
    return f"slice({', '.join(g.choice(('None', number(g))) for _ in range(3))})"


def plain_index(g):
    return g.choice(("b", "c", "...", "None", "0", "1", "slice(None)"))


def key(g):
    one = (number, part, sequence, arrayish, plain_index)
    if g.random() < 0.6:
        return g.choice(one)(g)
    return "(" + "".join(g.choice(one)(g) + ", " for _ in range(g.randint(1, 3))) + ")"


def value(g, name=None):
    """An argument; of a parameter of that name, if it is given, often one that may be right."""
    kinds = odd_values.BY_NAME.get(name, ())
    if ("axes" in kinds or "numbers" in kinds or "shapes" in kinds) and g.random() < 0.7:
        few = ", ".join(number(g) for _ in range(g.randint(1, 3)))
        return g.choice((number(g), number(g), f"({few},)", f"[{few}]", sequence(g)))
    if "arrays" in kinds and g.random() < 0.5:
        return g.choice((*NAMES, "a.T", "a[...]", "d[1:]", arrayish(g), sequence(g)))
    if ("texts" in kinds or "dtypes" in kinds) and g.random() < 0.6:
        return odd_values.value(g, name)
    kind = g.random()
    if kind < 0.3:
        return number(g)
    if kind < 0.55:
        return sequence(g)
    if kind < 0.72:
        return arrayish(g)
    if kind < 0.9:
        return g.choice((*NAMES, *REACHED))
    if kind < 0.95:
        return f"function({action_of(g)})"
    return odd_values.value(g)


def indexing(g):
    target = g.choice(("a", "a", "b", "d", "a[...]", "a.T", "a.flat", "a.flags"))
    kind = g.random()
    if kind < 0.45:
        return cases.Call("operator.getitem", [target, key(g)], {})
    if kind < 0.9:
        return cases.Call("operator.setitem", [target, key(g), value(g)], {})
    name = g.choice(("shape", "real", "imag", "flat", "dtype", "strides"))
    return cases.Call("setattr", [target, repr(name), value(g)], {})


def operation(g):
    name = g.choice([*calls.OPERATORS, *calls.IN_PLACE, "divmod", "pow"])
    count = 1 if name in ("neg", "pos", "abs", "invert", "truth", "index") else 3 if name == "setitem" else 2
    first = g.choice(("a", "b", "d", "np.float64(2)"))
    name = name if name in ("divmod", "pow") else f"operator.{name}"
    return cases.Call(name, [first, *(value(g) for _ in range(count - 1))], {})


def changed(g, seed, number):
    """A valid call of which arguments are replaced by objects and by what these can reach."""
    name = g.choice(calls.table()[1])
    arguments, keywords = calls.valid_call(name, seed, zlib.crc32(name.encode()), number)
    target = calls.target_of(name)
    names = target.names
    if arguments and g.random() < 0.5:
        arguments[0] = g.choice(NAMES)
    for _ in range(g.choice((1, 1, 2))):
        if arguments and g.random() < 0.75:
            place = g.randrange(len(arguments))
            arguments[place] = value(g, names[place] if place < len(names) else None)
        elif keywords:
            name = g.choice(sorted(keywords))
            keywords[name] = value(g, name)
    if g.random() < 0.1:
        keywords["out"] = g.choice(NAMES)
    if g.random() < 0.05:
        keywords["where"] = value(g)
    return cases.Call(target.text, arguments, keywords)


def odd(g, target):
    arguments = []
    if target.receiver:
        arguments.append(g.choice(NAMES if "np.zeros(0)" in target.receiver else target.receiver))
    low = min(target.least, 5)
    for place in range(g.randint(low, max(low, min(target.most, 5)))):
        arguments.append(value(g, target.names[place] if place < len(target.names) else None))
    keywords = {}
    while target.names and g.random() < 0.3:
        name = g.choice(target.names)
        keywords[name] = value(g, name)
    return cases.Call(target.text, arguments, keywords)


def case(seed, number):
    g = random.Random(f"objects {seed} {number}")
    settings = g.choices(("", "small=0", "eager=True"), (75, 17, 8))[0]
    lines = ["from junk import *", "from living import *", f"begin({settings})", *things(g)]
    kind = g.random()
    if kind < 0.35:
        call = changed(g, seed, number)
    elif kind < 0.55:
        call = indexing(g)
    elif kind < 0.65:
        call = operation(g)
    else:
        groups = calls.targets()
        group = g.choices(
            ("functions", "array methods", "ufunc methods", "random", "others", "operators"),
            (40, 30, 12, 8, 5, 5),
        )[0]
        call = odd(g, g.choice([each for each in groups[group] if not each.first]))
    fixed = len(lines)
    return cases.Case([*lines, call, "use(result)", "use([a, b, c, d])"], fixed=fixed)
