"""Probe: calls of everything public with odd arguments, and valid calls of which some arguments are replaced.

Whatever is given, a call returns what can be used or raises what a user can expect, and where it raises it has
not changed what it was given.
"""

import functools
import inspect
import random
import zlib

import cases
import odd_values

FULL = 1_000_000
BATCH = 5_000
SAMPLE = 1_500
PATIENCE = 5.0


def environment():
    # Buffers end at inaccessible pages; kernels run in the vectorised interpreter, so that none is compiled for one
    # call.
    return {"WEFT_GUARD": "1", "WEFT_TIER": "block", "WEFT_CACHE": "0", "WEFT_NUM_THREADS": "2"}


def prepare():
    targets()
    table()


# What ends or changes the process on purpose, or leaves its folder: with what is not weft's own work.
LEFT_OUT = set(
    """__class__ __new__ __init_subclass__ __subclasshook__ __getattribute__ __delattr__ __setattr__ __dir__ __doc__
    __module__ __sizeof__ __getstate__ profile cache_clear config exceptions tofile dump
    save savetxt savez savez_compressed load loadtxt genfromtxt fromfile fromstring""".split()
)
# What writes its first argument, of methods the array itself.
WRITES = dict.fromkeys("put place putmask copyto fill_diagonal put_along_axis".split(), "0")
METHODS_WRITE = dict.fromkeys(
    "put sort partition fill resize setflags setfield __setitem__ __setstate__ byteswap".split(), "0"
)
SAFE_FILES = (
    "'name.npy'",
    "io.BytesIO()",
    "None",
    "''",
    "b'x'",
    "object()",
    "io.StringIO('1')",
    "np.ones(2)",
    "5.5",
)
FILE_FUNCTIONS = "save savetxt savez savez_compressed load loadtxt genfromtxt fromfile".split()


class Target:
    """Something to call: an expression, what it is given first, and the names of its parameters."""

    def __init__(self, text, function=None, receiver=None, writes=None, first=None):
        self.text, self.receiver, self.first = text, receiver, first
        name = text.rpartition(".")[2].strip("'\")")
        self.names, self.least, self.most = parameters(function)
        if writes is None:
            writes = (METHODS_WRITE if receiver else WRITES).get(name, "")
        places = [writes]
        if "out" in self.names:
            places.append(str(self.names.index("out") + (1 if receiver else 0)))
        if getattr(function, "nin", None) is not None and hasattr(function, "nout"):
            places.append(f"({function.nin},)")
        self.places = ", ".join(filter(None, places))

    def watched(self):
        return f"watched({self.text}{', ' if self.places else ''}{self.places})"


def parameters(function):
    """Names of parameters, without `self`, and how many arguments are needed and taken by position."""
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        nin = getattr(function, "nin", None)
        return (["x"] * nin, nin, nin + 1) if isinstance(nin, int) else ([], 0, 4)
    given = [each for each in given if each.name not in ("self", "args", "kwargs", "kwds")]
    by_place = [each for each in given if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = sum(each.default is each.empty for each in by_place)
    return [each.name for each in given], needed, len(by_place) + (0 if by_place == given else 1)


OPERATORS = """add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift lt le eq ne gt ge contains getitem
    delitem concat countOf indexOf index neg pos abs invert truth not_ length_hint""".split()
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift setitem".split()
BUILTINS = """divmod pow round float int complex bool hash len iter list tuple format repr str bytes memoryview abs
    min max sum sorted reversed next set any all dict.fromkeys enumerate copy.copy copy.deepcopy pickle.dumps isinstance
    slice range
    ascii chr math.floor bytearray""".split()


@functools.cache
def targets():
    """All there is to call, in groups of the same weight."""
    import weft as np
    import weft.lib.stride_tricks
    import weft.scipy.fft
    import weft.scipy.linalg
    import weft.scipy.special

    def public(owner):
        return [name for name in dir(owner) if not name.startswith("_") and name not in LEFT_OUT]

    functions = [
        Target(f"np.{name}", getattr(np, name)) for name in public(np) if callable(getattr(np, name))
    ]
    for space in (
        "linalg", "fft", "lib.stride_tricks", "scipy.fft", "scipy.linalg", "scipy.special",
    ):  # fmt: skip
        module = functools.reduce(getattr, space.split("."), np)
        functions += [
            Target(f"np.{space}.{name}", getattr(module, name))
            for name in public(module)
            if callable(getattr(module, name)) and name not in ("LinAlgError", "LinAlgWarning", "backend")
        ]
    functions += [Target(f"np.{name}", getattr(np, name), first=SAFE_FILES) for name in FILE_FUNCTIONS]
    ufuncs = [name for name in public(np) if isinstance(getattr(np, name), np.ufunc)]

    def methods_of(owner, text, receivers, choose=lambda name: True):
        found = []
        for name in dir(owner):
            function = getattr(owner, name, None)
            if name in LEFT_OUT or not callable(function) or not choose(name):
                continue
            writes = "1" if name == "shuffle" else None
            found.append(Target(f"method('{name}')", function, receivers, writes))
            found.append(Target(f"{text}.{name}", function, receivers, writes))
        return found

    arrays = odd_values.GROUPS["arrays"]
    array_methods = methods_of(np.ndarray, "np.ndarray", arrays)
    scalar_methods = []
    for name in ("float64", "int64", "bool_", "complex64", "uint8", "bfloat16", "generic"):
        scalar_methods += methods_of(getattr(np, name), f"np.{name}", odd_values.GROUPS["scalars"])
    others = methods_of(np.dtype, "np.dtype", ("np.dtype('f8')", "np.dtype('?')"))
    for name, receiver in (
        ("flatiter", "np.arange(6.0).reshape(2, 3).flat"), ("poly1d", "np.poly1d([1, 2, 3])"),
        ("broadcast", "np.broadcast([1, 2], 3)"), ("ndindex", "np.ndindex(2, 3)"),
        ("ndenumerate", "np.ndenumerate(np.ones((2, 2)))"), ("finfo", "np.finfo('f4')"),
        ("vectorize", "np.vectorize(total)"), ("errstate", "np.errstate(all='ignore')"),
        ("device", "np.device('cpu')"), ("printoptions", "np.get_printoptions()"),
    ):  # fmt: skip
        others += methods_of(getattr(np, name), f"np.{name}", (receiver,))
    others += [Target(f"np.{name}.__getitem__") for name in ("c_", "r_", "s_", "mgrid", "ogrid", "index_exp")]
    others += [Target("method('__setitem__')", None, ("np.arange(3).flags", "np.arange(6).flat"))] * 2
    of_ufuncs = []
    for name in ("reduce", "accumulate", "outer", "at", "reduceat", "resolve_dtypes", "__call__"):
        receivers = tuple(f"np.{ufunc}" for ufunc in ufuncs)
        writes = "1" if name == "at" else None
        of_ufuncs.append(Target(f"method('{name}')", getattr(np.add, name), receivers, writes))
    random_receivers = ("np.random.default_rng(1)", "np.random.Generator(np.random.Philox(3))")
    of_random = methods_of(np.random.Generator, "np.random.Generator", random_receivers, drawn_by_weft)
    for name in ("PCG64", "PCG64DXSM", "Philox", "SeedSequence"):
        of_random += methods_of(getattr(np.random, name), f"np.random.{name}", (f"np.random.{name}(1)",))
        of_random.append(Target(f"np.random.{name}", getattr(np.random, name)))
    of_random.append(Target("np.random.default_rng", np.random.default_rng))
    operators = [Target(f"operator.{name}") for name in OPERATORS]
    operators += [Target(f"operator.{name}", writes="0") for name in IN_PLACE]
    operators += [Target(f"{name}") for name in BUILTINS]
    attributes = [
        *(f"np.ndarray {name}" for name in dir(np.ndarray)), *(f"np.generic {name}" for name in dir(np.generic)),
        *(f"np.dtype {name}" for name in dir(np.dtype)), *(f"np.config {name}" for name in dir(np.config)),
        *(f"np.ufunc {name}" for name in dir(np.ufunc)),
    ]  # fmt: skip
    return {
        "functions": functions, "array methods": array_methods, "scalar methods": scalar_methods, "others": others,
        "ufunc methods": of_ufuncs, "random": of_random, "operators": operators,
        "attributes": [text for text in attributes if text.split()[1] not in LEFT_OUT],
    }  # fmt: skip


OWN_DRAWS = """bytes choice exponential integers normal permutation permuted random shuffle spawn standard_exponential
    standard_normal uniform""".split()


def drawn_by_weft(name):
    """Whether a method of Generator is weft's own: what NumPy draws may be NumPy's fault."""
    return name in OWN_DRAWS


WEIGHTS = {
    "mutated": 40, "functions": 22, "array methods": 12, "scalar methods": 3, "others": 3, "ufunc methods": 4,
    "random": 4, "operators": 8, "attributes": 4,
}  # fmt: skip


# ---- valid calls, of which something is changed ----


@functools.cache
def table():
    from every_function import TABLE

    return TABLE, sorted(TABLE)


def text_of(argument):
    """An argument of the table as an expression."""
    from random_calls import Array

    if isinstance(argument, Array):
        return argument.source()
    if isinstance(argument, tuple):
        return "(" + "".join(text_of(item) + ", " for item in argument) + ")"
    if isinstance(argument, list):
        return "[" + ", ".join(map(text_of, argument)) + "]"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item)}" for key, item in argument.items()) + "}"
    if callable(argument):
        return "total"
    return repr(argument)


def valid_call(name, *key):
    from random_calls import Draw

    call = table()[0][name](Draw(*key))
    return [text_of(each) for each in call.arguments], {
        key: text_of(each) for key, each in call.options.items()
    }


def change(g, arguments, keywords, names):
    """Replaces, leaves out, repeats or exchanges something of a call."""
    places = list(range(len(arguments)))
    kind = g.random()
    if kind < 0.45 and places:
        place = g.choice(places)
        arguments[place] = odd_values.value(g, names[place] if place < len(names) else None)
    elif kind < 0.62 and keywords:
        name = g.choice(sorted(keywords))
        keywords[name] = odd_values.value(g, name)
    elif kind < 0.8 and names:
        name = g.choice(names)
        keywords[name] = odd_values.value(g, name)
    elif kind < 0.85 and places:
        del arguments[g.choice(places)]
    elif kind < 0.9 and places:
        arguments.insert(g.choice(places), arguments[g.choice(places)])
    elif kind < 0.95 and places:
        g.shuffle(arguments)
    else:
        arguments.append(odd_values.value(g))


def mutated(g, seed, number):
    import weft as np

    name = g.choice(table()[1])
    arguments, keywords = valid_call(name, seed, zlib.crc32(name.encode()), number)
    target = target_of(name)
    for _ in range(g.choice((1, 1, 1, 2, 2, 3))):
        change(g, arguments, keywords, target.names)
    if arguments and g.random() < 0.12 and hasattr(np.ndarray, name):
        return cases.Call(Target(f"method('{name}')", None, "array").watched(), arguments, keywords)
    return cases.Call(target.watched(), arguments, keywords)


@functools.cache
def target_of(name):
    import weft as np

    return Target(f"np.{name}", getattr(np, name))


# ---- odd calls ----


def odd(g, target):
    arguments = []
    if target.receiver:
        good = g.random() < 0.93
        arguments.append(g.choice(target.receiver) if good else odd_values.value(g))
    if target.first:
        arguments.append(g.choice(target.first))
    low, high = min(target.least, 5), min(target.most, 7)
    count = g.randint(low, max(low, high)) if g.random() < 0.85 else g.randint(0, 6)
    names = target.names[len(arguments) - (1 if target.receiver else 0) :]
    for place in range(count - (1 if target.first else 0)):
        arguments.append(odd_values.value(g, names[place] if place < len(names) else None))
    keywords = {}
    while target.names and g.random() < 0.4:
        name = g.choice(target.names)
        keywords[name] = odd_values.value(g, name)
    return cases.Call(target.watched(), arguments, keywords)


def attribute(g, text):
    owner, name = text.split()
    receiver = {
        "np.ndarray": odd_values.array, "np.generic": lambda g: g.choice(odd_values.GROUPS["scalars"]),
        "np.dtype": lambda g: "np.dtype('f8')", "np.config": lambda g: "np.config", "np.ufunc": lambda g: "np.add",
    }[owner](g)  # fmt: skip
    kind = g.random()
    if owner != "np.config" and kind < 0.2:
        return cases.Call(f"vars({owner})['{name}'].__get__", [odd_values.value(g)], {})
    if kind < 0.5:
        return cases.Call("getattr", [receiver, repr(name)], {})
    if kind < 0.95:
        return cases.Call("watched(setattr, 0)", [receiver, repr(name), odd_values.value(g, name)], {})
    return cases.Call("watched(delattr, 0)", [receiver, repr(name)], {})


def shared(g, call):
    """Lets several arguments be views of one array."""
    places = [place for place, text in enumerate(call.arguments) if text.startswith("np.") and "(" in text]
    if len(places) < 2:
        return []
    first, *rest = g.sample(places, 2)
    line = f"shared = {call.arguments[first]}"
    views = ("shared", "shared", "shared[...]", "shared[::-1]", "shared[1:]", "shared.T", "shared.ravel()")
    call.arguments[first] = "shared"
    for place in rest:
        call.arguments[place] = g.choice(views)
    return [line]


def case(seed, number):
    g = random.Random(f"{seed} {number}")
    # The config is junk's to set but for these, which decide by which way the same is computed.
    settings = g.choices(("", "small=0", "eager=True", "small=0, fuse=False"), (60, 25, 8, 7))[0]
    group = g.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]
    if group == "mutated":
        call = mutated(g, seed, number)
    elif group == "attributes":
        call = attribute(g, g.choice(targets()[group]))
    else:
        target = g.choice(targets()[group])
        call = odd(g, target)
        if (
            target.text in BUILTINS
        ):  # Python's loops over NumPy's arrays are none of weft's, and hear no Ctrl-C
            call.arguments = [
                text.replace("numpy.broadcast_to(numpy.", "np.broadcast_to(np.") for text in call.arguments
            ]
    lines = ["from junk import *", f"begin({settings})"]
    if g.random() < 0.08:
        lines += shared(g, call)
    return cases.Case([*lines, call, "use(result)"], fixed=2)
