"""Damaged pickles, wrong states, and random streams in states that there are not."""

import io
import pickle
import pickletools

import cases
import numpy
from data_of_files import Refused, compare, damage, outcome, use

# ---- pickles whose bytes are damaged ----

OBJECTS = {
    "array": "np.arange(6.0).reshape(2, 3)", "fortran": "np.ones((2, 3), 'f4').T", "small": "np.array(3)",
    "empty": "np.zeros((0, 2))", "view": "np.arange(9)[::2]", "read-only": "np.broadcast_to(np.arange(3), (2, 3))",
    "scalar": "np.float32(2.5)", "dtype": "np.dtype('i2')", "complex": "np.complex128(1 + 2j)",
    "generator": "np.random.default_rng(3)", "philox": "np.random.Philox(3)", "dxsm": "np.random.PCG64DXSM(2)",
    "seeds": "np.random.SeedSequence(5)", "many": "[np.arange(3), np.float64(1), np.dtype('?')]",
    "bfloat16": "np.ones(3, 'bfloat16')", "type": "np.ndarray", "bool": "np.bool_(True)",
}  # fmt: skip
MODULES = ("weft", "numpy", "_codecs", "copyreg", "collections")
BUILTINS = {
    "bytearray",
    "complex",
    "int",
    "float",
    "list",
    "dict",
    "tuple",
    "set",
    "slice",
    "range",
    "bytes",
    "str",
    "getattr",
}


class Unpickler(pickle.Unpickler):
    """Of names that a damaged pickle can have: weft's and NumPy's, and harmless ones."""

    def find_class(self, module, name):
        if module.split(".")[0] in MODULES or (module == "builtins" and name in BUILTINS):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def pickled(name, protocol, out_of_band):
    import weft

    buffers = []
    value = eval(OBJECTS[name], {"np": weft})
    return pickle.dumps(
        value, protocol, buffer_callback=buffers.append if out_of_band and protocol == 5 else None
    ), buffers


def use_any(value):
    """Does with an object of weft's what one does with it."""
    import weft

    if isinstance(value, (list, tuple)):
        for part in value:
            use_any(part)
    elif isinstance(value, weft.ndarray):
        use(value)
        repr(value), value + 1
    elif isinstance(value, weft.random.Generator):
        (
            value.random(),
            value.integers(0, 10, 3),
            value.standard_normal(5),
            value.permutation(4),
            value.random(300),
        )
        repr(value), pickle.dumps(value), value.bit_generator.state
    elif isinstance(value, weft.random.BitGenerator):
        use_any(weft.random.Generator(value))
        value.jumped(), value.random_raw(3)
    elif isinstance(value, (weft.dtype, weft.generic)):
        repr(value), hash(value), value == value, pickle.dumps(value)
        weft.zeros(2, value) if isinstance(value, weft.dtype) else value + 1
    elif isinstance(value, weft.random.SeedSequence):
        value.generate_state(4), value.spawn(2)


def has_room_for_memo(content):
    """Whether what pickle itself asks for is little: its memo is as large as the largest number in it."""
    try:
        return all(
            "PUT" not in code.name or number < 10_000
            for code, number, _ in pickletools.genops(content)
            if number
        )
    except Exception:
        return True


def load(content, buffers):
    if not has_room_for_memo(content):
        return

    def loaded():
        file = io.BytesIO(content)
        use_any(Unpickler(file, buffers=buffers).load())

    outcome(loaded, may_ask=True)  # which pickle does for its own opcodes


def damaged(draw):
    import numpy  # noqa: F401
    import weft  # noqa: F401

    name, protocol = draw.choice(list(OBJECTS)), draw.choice(range(6))
    content, _ = pickled(name, protocol, draw.random() < 0.3)
    buffers = draw.choice(BUFFERS)
    return cases.Case(
        [
            "import data_of_pickles, numpy",
            cases.Call("data_of_pickles.load", [repr(damage(draw, content)), buffers], {}),
        ],
        1,
    )


BUFFERS = [
    "None", "[bytes(48)]", "[bytearray(48)]", "[bytes(3)]", "[]", "[None]", "[5]", "[b'']",
    "[memoryview(bytes(96))[::2]]", "['text']", "iter([bytes(48)])", "[np.arange(6.0)]", "[numpy.arange(6.0)]",
    "[bytes(48)] * 5", "5", "(x for x in [1 / 0])", "[object()]",
]  # fmt: skip


def out_of_band(draw):
    """A whole pickle with other buffers than its own."""
    name = draw.choice(["array", "fortran", "small", "empty", "many", "bfloat16"])
    content, _ = pickled(name, 5, True)
    return cases.Case(
        [
            "import data_of_pickles, numpy",
            cases.Call("data_of_pickles.load", [repr(content), draw.choice(BUFFERS)], {}),
        ],
        1,
    )


# ---- states and arguments of what pickles call ----

VALUES = [
    "None", "0", "1", "-1", "2**31", "2**63", "2**64", "2**200", "1.5", "True", "'x'", "b'x'", "b''", "''", "()",
    "[]", "{}", "(2,)", "(2, 3)", "(-1,)", "(0,)", "(2**62,)", "(2**32, 2**32)", "(1.5,)", "('a',)", "(1,) * 65",
    "np.dtype('f8')", "'f8'", "'<i4'", "'>f4'", "'V'", "np.float64", "float", "bytes(16)", "bytes(48)",
    "bytearray(48)", "memoryview(bytes(48))", "np.arange(6.0)", "numpy.arange(6.0)", "np.ndarray", "object", "int",
    "numpy.ndarray", "Ellipsis", "np.float64(2)", "[1, 2]", "{'a': 1}", "object()", "range(3)", "'C'", "'F'", "'K'",
    "numpy.dtype('f8')", "numpy.dtype('O')", "type", "bool",
]  # fmt: skip
STATE = ["1", "(2, 3)", "np.dtype('f8')", "False", "bytes(48)"]


def state_of_array(draw):
    parts = list(STATE)
    for _ in range(draw.choice([0, 1, 1, 2])):
        parts[draw.randrange(5)] = draw.choice(VALUES)
    if draw.random() < 0.15:
        del parts[draw.randrange(len(parts))]
    if draw.random() < 0.1:
        parts.append(draw.choice(VALUES))
    state = f"({', '.join(parts)},)" if draw.random() < 0.93 else draw.choice(VALUES)
    target = draw.choice([
        "np.arange(5)", "np.zeros(0)", "np.ones((2, 2)).T", "np.arange(10)[::2]", "np.frombuffer(bytearray(8), 'u1')",
        "np.broadcast_to(np.ones(1), 5)", "np.arange(3.0) + 1", "np.arange(70000.0) * 2",
    ])  # fmt: skip
    return cases.Case(
        [
            "import data_of_pickles, numpy",
            f"x = {target}",
            f"data_of_pickles.set_state(x, lambda np: {state})",
        ],
        2,
    )


def set_state(x, state):
    import weft

    before, view, held = x.tolist(), x[:1], memoryview(x) if x.dtype != "bfloat16" else None
    found = outcome(lambda: x.__setstate__(state(weft)))
    if isinstance(found, Refused):
        if x.tolist() != before:
            raise cases.Fault("an array changed although its state was refused")
    else:

        def numpys():
            made = numpy.zeros(0)
            made.__setstate__(state(numpy))
            return made

        try:
            theirs = numpys()
        except Exception:
            theirs = Refused(None)
        compare(use(x), theirs)
    view.tolist(), held.tobytes(), x + 1


def calls(draw):
    function = draw.choice([
        "weft._pickle.reconstruct", "weft._pickle.from_buffer", "np.ndarray.__setstate__", "np.dtype", "np.float64",
        "np.int8", "np.bool_", "np.complex64", "weft._pickle.reduce", "weft._pickle.reduce_ex",
        "weft._pickle.set_state", "np.ndarray.__reduce_ex__", "np.arange(3).__reduce_ex__",
        "np.float64(2).__reduce__", "np.random.Generator", "np.random.PCG64", "np.random.Philox",
        "np.random.SeedSequence", "np.uint8", "np.float16", "np._core._stream", "np._core._stream_parts",
        "np.random.default_rng", "np._core._from_bytes", "np._core._draw",
    ])  # fmt: skip
    right = {
        "weft._pickle.reconstruct": ["np.ndarray", "(0,)", "b'b'"],
        "weft._pickle.from_buffer": ["bytes(48)", "'f8'", "(2, 3)", "'C'"],
        "np._core._stream": ["0", "[1] * 6", "[1] * 4", "2", "False", "0"],
        "np._core._from_bytes": ["bytes(48)", "'f8'", "(2, 3)"],
        "np._core._draw": ["np.random.PCG64(1)._stream", "0", "(3,)", "'uint64'"],
    }.get(function, [draw.choice(VALUES) for _ in range(draw.choice([0, 1, 2, 3]))])  # fmt: skip
    arguments = [draw.choice(VALUES) if draw.random() < 0.3 else each for each in right]
    call = cases.Call("made", arguments, {})
    text = call.source().split("(", 1)[1]
    return cases.Case(
        ["import weft, numpy, data_of_pickles", f"data_of_pickles.call(lambda: {function}({text})"], 1
    )


def call(function):
    outcome(lambda: use_any(function()), may_ask=True)


# ---- random streams ----


def streams(draw):
    kind = draw.choice(["PCG64", "PCG64DXSM", "Philox"])
    change = draw.choice(["state", "state", "bytes", "bytes", "setstate"])
    lines = ["import data_of_pickles, numpy", f"b = np.random.{kind}(3)"]
    if change == "bytes":
        place, value = (
            draw.randrange(160),
            draw.choice([0, 1, 2, 3, 4, 5, 127, 128, 255, draw.randrange(256)]),
        )
        more = draw.choice(["", "", "", "[:-1]", " + b'0'", "[:0]"])
        changed = f"(old[:{place}] + bytes([{value}]) + old[{place} + 1:])[:len(old)]{more}"
        lines.append(f"data_of_pickles.set_stream(b, lambda old: {changed})")
    elif change == "setstate":
        state = draw.choice([
            "{}", "None", "5", "{{'seed_seq': {0}, 'stream': {1}}}", "{{'stream': {1}}}", "{{'seed_seq': {0}}}",
        ])  # fmt: skip
        state = (
            state.format(draw.choice(VALUES), draw.choice(VALUES))
            if "{0}" in state or "{1}" in state
            else state
        )
        lines.append(f"data_of_pickles.call(lambda: (b.__setstate__({state}), b)[1])")
    else:
        path = draw.choice([
            "['state']", "['bit_generator']", "['has_uint32']", "['uinteger']", "['state']['state']",
            "['state']['inc']", "['state']['counter']", "['state']['key']", "['buffer']", "['buffer_pos']",
        ])  # fmt: skip
        value = draw.choice([
            *VALUES, "[1] * 4", "[2**64] * 4", "[-1] * 2", "[1] * 3", "3", "4", "5", "1000", "2**128", "np.arange(4)",
            "numpy.arange(4, dtype='u8')",
        ])  # fmt: skip
        lines.append(f"data_of_pickles.set_part(b, {path!r}, lambda: {value})")
    return cases.Case(lines, 2)


def set_stream(bit_generator, change):
    def changed():
        bit_generator.__setstate__({"seed_seq": None, "stream": change(bit_generator._stream)})
        use_any(bit_generator)

    outcome(changed)


def set_part(bit_generator, path, value):
    import weft

    def changed():
        state = bit_generator.state
        exec(f"state{path} = value", {"state": state, "value": value()})
        before = bit_generator._stream
        try:
            bit_generator.state = state
        except Exception:
            if bit_generator._stream != before:
                raise cases.Fault("a stream changed although its state was refused") from None
            raise
        use_any(weft.random.Generator(bit_generator))

    outcome(changed)


FAMILIES = {
    "pickles": damaged,
    "out_of_band": out_of_band,
    "states": state_of_array,
    "calls": calls,
    "streams": streams,
}
