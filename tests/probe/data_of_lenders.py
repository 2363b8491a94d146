"""Memory of others: buffers, array interfaces and DLPack's capsules that lie, and owners that change what they lend."""

import math

import cases
import lenders
import numpy
from data_of_files import Refused, compare, outcome, use

FORMATS = {
    b"b": 1, b"B": 1, b"h": 2, b"H": 2, b"i": 4, b"I": 4, b"l": 8, b"L": 8, b"q": 8, b"Q": 8, b"e": 2, b"f": 4,
    b"d": 8, b"?": 1, b"<i": 4, b"=d": 8, b"@h": 2, b">h": 2, b">d": 8, b"!I": 4, b"Zf": 8, b"Zd": 16, b">Zd": 16,
}  # fmt: skip
NO_FORMATS = [
    b"", b"x", b"s", b"P", b"O", b"g", b"T{d:a:}", b"2d", b"(2)d", b"dd", b"Z", b"Zg", b"\xff\xfe", b"<", b">Z",
    b" d", b"d ", b"w", b"c", b"@", b"&d", b"t", b"N" * 300,
]  # fmt: skip
CODES = {"b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "q": "i8", "Q": "u8",
         "e": "f2", "f": "f4", "d": "f8", "?": "?", "Zf": "c8", "Zd": "c16"}  # fmt: skip
HUGE = [2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 1]


def layout(draw, itemsize, signed=True):
    """A shape and strides in bytes that stay in a room, and where in it the first element is."""
    while True:
        shape = [draw.choice([0, 1, 2, 3, 5]) for _ in range(draw.choice([0, 1, 1, 2, 2, 3]))]
        dense = [itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        strides = [
            stride if draw.random() < 0.6 else draw.choice([0, itemsize, 1, 3, itemsize * 2, stride * 2, 128])
            for stride in dense
        ]
        if signed:
            strides = [stride * draw.choice([1, 1, 1, -1]) for stride in strides]
        low = sum(min((extent - 1) * stride, 0) for extent, stride in zip(shape, strides) if extent)
        high = (
            sum(max((extent - 1) * stride, 0) for extent, stride in zip(shape, strides) if extent) + itemsize
        )
        if high - low < lenders.ROOM - 64:
            return shape, strides, -low + draw.choice([0, 0, 0, 1, 8])


def expected(offset, dtype, shape, strides):
    """What there is, as NumPy sees it."""
    if 0 in shape:
        return numpy.zeros(shape, dtype)
    lenders.memory().fill()
    content = numpy.frombuffer(lenders.memory().content(), "u1")
    return numpy.ndarray(shape, dtype, content, offset, strides).copy()


CONSUMERS = {
    "asarray": lambda np, x: np.asarray(x),
    "without a copy": lambda np, x: np.asarray(x, copy=False),
    "array": lambda np, x: np.array(x),
    "operand": lambda np, x: np.add(x, 0) if np.asarray(x).dtype != bool else np.asarray(x),
    "nested": lambda np, x: np.array([x, x])[0],
    "assigned": lambda np, x: assigned(np, x),
    "concatenated": lambda np, x: np.concatenate([x, x])[: len(x)],
    "index": lambda np, x: index(np, x),
}


def assigned(np, x):
    made = np.empty_like(np.asarray(x))
    made[...] = x
    return made


def index(np, x):
    try:
        np.arange(100)[x]
    except (IndexError, ValueError, TypeError):
        pass
    return np.asarray(x)


def consume(way, lender, refuse, right):
    """A consumer of lent memory; `refuse`: it has to. Fault where it does not, or reads something else."""
    import weft

    lenders.memory().fill()
    found = outcome(lambda: use(CONSUMERS[way](weft, lender)))
    if isinstance(found, Refused):
        if refuse is False and way in ("asarray", "array"):
            raise cases.Fault(f"refused: {found}")
        return
    if refuse:
        raise cases.Fault(f"taken: shape {getattr(found, 'shape', None)}")
    if right is not None:
        compare(found, right)


# ---- the buffer protocol ----


def exporter(draw):
    format = draw.choice(list(FORMATS))
    itemsize = FORMATS[format]
    shape, strides, offset = layout(draw, itemsize)
    fields = {
        "buf": f"lenders.memory().first + {offset}", "len": math.prod(shape) * itemsize, "itemsize": itemsize,
        "ndim": len(shape), "format": repr(format), "shape": shape, "strides": strides,
        "readonly": draw.choice([0, 0, 1]),
    }  # fmt: skip
    refuse, right = False, f"data_of_lenders.expected({offset}, {code_of(format)!r}, {shape}, {strides})"
    elements = math.prod(shape)
    lie = draw.choice([
        "none", "null", "short", "negative", "huge", "rank", "no shape", "no strides", "suboffsets", "format",
        "itemsize", "no format", "steep", "long", "minus", "harmless suboffsets",
    ])  # fmt: skip
    if lie == "null":
        fields["buf"], refuse = "None", elements != 0
    elif lie == "short" and elements:
        fields["len"], refuse = draw.choice([0, elements * itemsize - 1, -1, -(2**63)]), True
    elif lie == "negative" and shape:
        shape[draw.randrange(len(shape))] = draw.choice([-1, -2, -(2**63), -(2**62)])
        refuse = True
    elif lie == "huge" and shape and elements:
        shape[draw.randrange(len(shape))] = draw.choice(HUGE)
        refuse = True
    elif lie == "rank":
        rank = draw.choice([65, 66, 100, 1000, -1, -(2**31)])
        fields.update(ndim=rank, shape=f"[1] * {max(rank, 0)}", strides=f"[8] * {max(rank, 0)}")
        refuse = True
    elif lie == "no shape":
        fields["shape"], refuse = "None", None if len(shape) < 2 else True
        right = "None"
    elif lie == "no strides":
        fields["strides"] = "None"
        right = "None"
    elif lie == "suboffsets" and shape:
        fields["suboffsets"], refuse = [draw.choice([0, 8, 2**40])] + [-1] * (len(shape) - 1), True
    elif lie == "harmless suboffsets" and shape:
        fields["suboffsets"] = [-1] * len(shape)
    elif lie == "format":
        fields["format"], refuse = repr(draw.choice(NO_FORMATS)), True
    elif lie == "itemsize":
        # Some formats have two sizes.
        wrong = draw.choice([size for size in (0, -1, 1, 2, 3, 16, 2**40, -(2**63)) if size != itemsize])
        fields["itemsize"], refuse = wrong, True
    elif lie == "no format":
        fields["format"], refuse, right = "None", None if itemsize == 1 else True, "None"
    elif lie == "steep" and shape and max(shape) > 1 and elements:
        axis = draw.choice([axis for axis, extent in enumerate(shape) if extent > 1])
        strides[axis] = draw.choice([2**62, -(2**62), 2**63 - 1, -(2**63)])
        refuse = True
    elif lie == "long":
        fields["len"] = 10**6
    elif lie == "minus":
        fields["readonly"] = -1
    if format[:1] in (b">", b"!") and refuse is False:
        refuse = None  # not without a copy
    source = ", ".join(f"{name}={value}" for name, value in fields.items())
    call = cases.Call(
        "data_of_lenders.consume",
        [repr(draw.choice(list(CONSUMERS))), f"lenders.Exporter({source})", repr(refuse), right],
        {},
    )
    return cases.Case(["import data_of_lenders, lenders", call], 1)


def code_of(format):
    text = format.decode()
    swapped = text[0] in ">!"
    return (">" if swapped else "<") + CODES[text.lstrip("<>=@!^")]


def bytes_of(draw):
    """frombuffer and ndarray over buffers of a known length."""
    size = draw.choice([0, 1, 7, 8, 16, 63, 64, 200])
    source = draw.choice([
        "bytes(range({0}))", "bytearray({0})", "memoryview(bytearray({0}))", "memoryview(bytes({0}))[::2]",
        "io.BytesIO(bytes({0})).getbuffer()", "array.array('d', range({0} // 8))", "mmap.mmap(-1, {0} + 1)",
        "(ctypes.c_uint16 * {0})()", "np.arange({0})", "np.arange({0})[::2]", "numpy.arange({0})",
        "numpy.arange(2 * {0}).reshape(-1, 2).T", "'text'", "None", "5", "[1, 2]", "np.float64(3)",
        "lenders.Exporter(buf=lenders.memory().first, len={0})",
        "lenders.Exporter(buf=lenders.memory().first, len=-{0} - 1)", "lenders.Exporter(buf=None, len={0} + 1)",
        "released({0})", "closed({0})", "np.zeros({0}, device='cpu')",
    ]).format(size)  # fmt: skip
    dtype = draw.choice(
        ["'u1'", "'f8'", "'c16'", "'i2'", "bool", "'bfloat16'", "'>i4'", "'nonsense'", "None", "'V8'"]
    )
    number = [
        "0",
        "1",
        "3",
        "8",
        "-1",
        "7",
        "2**31",
        "2**62",
        "2**63 - 1",
        "-2**63",
        "2**64",
        "1.5",
        "None",
        "True",
    ]
    if draw.random() < 0.5:
        keywords = {"count": draw.choice(number), "offset": draw.choice(number)}
        for name in draw.sample(list(keywords), draw.choice([0, 1, 1])):
            del keywords[name]
        call = cases.Call("np.frombuffer", [source, dtype], keywords)
        calls = [f"data_of_lenders.as_numpy(lambda np: {call.source().split(' = ', 1)[1]})"]
    else:
        shape = draw.choice([
            "(2,)", "(0,)", "()", "(2, 3)", "(2**62,)", "(2**32, 2**32)", "(-1,)", "8", "(1,) * 65", "(3, 0)",
            "(2.5,)",
        ])  # fmt: skip
        strides = draw.choice([
            "None", "None", "None", "(8,)", "(1,)", "(-1,)", "(0,)", "(2**62,)", "(16, 8)", "(-2**63,)", "(0, 0)",
            "8",
        ])  # fmt: skip
        keywords = {
            "dtype": dtype,
            "buffer": source,
            "offset": draw.choice(number),
            "strides": strides,
            "order": draw.choice(["'C'", "'F'"]),
        }
        if source == "None":
            del keywords["buffer"], keywords["offset"], keywords["strides"]
            shape = "(0,)"  # the elements are whatever they are
        for name in draw.sample(["dtype", "offset", "strides", "order"], draw.choice([0, 1, 2])):
            keywords.pop(name, None)
        text = ", ".join(f"{name}={value}" for name, value in keywords.items())
        calls = [f"data_of_lenders.as_numpy(lambda np: np.ndarray({shape}, {text}))"]
    modules = "array, ctypes, io, mmap, data_of_lenders, lenders, numpy"
    return cases.Case([f"import {modules}; from data_of_lenders import released, closed", *calls], 1)


def released(size):
    view = memoryview(bytearray(size))
    view.release()
    return view


def closed(size):
    import mmap

    memory = mmap.mmap(-1, size + 1)
    memory.close()
    return memory


def as_numpy(function):
    """The same of both, where both make something; what NumPy refuses is refused, but for matters of types."""
    import weft

    lenders.memory().fill()
    ours = outcome(lambda: use(function(weft)))
    try:
        with numpy.errstate(all="ignore"):
            theirs = function(numpy)
    except (ValueError, BufferError) as error:
        # NumPy has no bfloat16, weft no swapped bytes.
        if not isinstance(ours, Refused) and ours.dtype.name != "bfloat16":
            raise cases.Fault(f"taken, where NumPy says: {error}") from error
        return
    except Exception:
        return
    compare(ours, theirs)


# ---- array interfaces ----

JUNK = [
    "None", "5", "-1", "2**70", "'x'", "b'x'", "[]", "()", "{}", "(1,)", "(2, 3)", "1.5", "float('nan')", "object()",
    "True", "[1, 2]", "('a',)", "(None,)", "(2.5,)", "(2**64,)", "(-1,)", "Ellipsis", "'<f8'", "''", "int",
    "(1, 2, 3)", "range(3)",
]  # fmt: skip
TYPES = {"<f8": 8, "<i4": 4, "|u1": 1, "|b1": 1, "<c16": 16, "<f2": 2, ">i4": 4, ">f8": 8, "<u8": 8, "=i2": 2}


def interface(draw):
    typestr = draw.choice(list(TYPES))
    itemsize = TYPES[typestr]
    shape, strides, offset = layout(draw, itemsize)
    elements = math.prod(shape)
    entries = {
        "version": "3", "typestr": repr(typestr), "shape": repr(tuple(shape)), "strides": repr(tuple(strides)),
        "data": f"(lenders.memory().first + {offset}, {draw.choice([True, False])})",
    }  # fmt: skip
    right = f"data_of_lenders.expected({offset}, {typestr!r}, {shape}, {strides})"
    refuse = None
    lie = draw.choice([
        "none", "none", "null", "negative", "huge", "steep", "rank", "junk", "junk", "junk", "missing", "wraps",
        "buffer", "buffer", "buffer", "strides", "not a dict", "more",
    ])  # fmt: skip
    if lie == "none":
        refuse = False
    elif lie == "null" and elements:
        entries["data"], refuse = draw.choice(["(0, False)", "('0', False)", "('0x0', True)"]), True
    elif lie == "negative" and shape:
        shape[draw.randrange(len(shape))] = draw.choice([-1, -(2**62), -(2**63), -(2**64)])
        entries["shape"], refuse = repr(tuple(shape)), True
    elif lie == "huge" and elements and shape:
        shape[draw.randrange(len(shape))] = draw.choice([2**61, 2**62, 2**63 - 1, 2**64])
        entries["shape"], entries["strides"], refuse = repr(tuple(shape)), "None", True
    elif lie == "steep" and shape and elements and max(shape) > 1:
        axis = draw.choice([axis for axis, extent in enumerate(shape) if extent > 1])
        strides[axis] = draw.choice([2**62, -(2**62), 2**63 - 1, -(2**63), 2**64])
        entries["strides"], refuse = repr(tuple(strides)), True
    elif lie == "rank":
        entries.update(shape="(1,) * 65", strides="None")
        refuse = True
    elif lie == "wraps" and elements:
        entries["data"], refuse = (
            draw.choice(["(2**64 - 1, False)", "(2**64, False)", "(-1, False)", "('-1', False)"]),
            elements * itemsize > 1 or None,
        )
    elif lie == "junk":
        name = draw.choice(["version", "typestr", "shape", "data", "strides", "descr", "mask", "offset"])
        entries[name] = draw.choice(JUNK)
        if name in ("shape", "strides", "typestr", "data"):
            # What is left may describe other memory than there is: only nothing is right.
            entries["data"] = (
                draw.choice(["(0, False)", entries["data"], "b'12345678' * 20"])
                if name == "data"
                else "bytes(4096)"
            )
        if entries["data"].startswith("(lenders") and name in ("typestr", "shape", "strides"):
            entries["data"] = "(0, True)"
        right = "None"
    elif lie == "missing":
        del entries[draw.choice(list(entries))]
        if "shape" in entries and "typestr" in entries:
            entries.setdefault("data", "bytes(4096)")
            if "strides" not in entries:
                entries["data"] = "bytes(100000)"
        right = "None"
    elif lie == "buffer":
        size = draw.choice([0, 1, 8, 64, 4096])
        entries["data"] = draw.choice([
            f"bytes({size})", f"bytearray({size})", f"memoryview(bytes({size}))", "np.zeros(5)", "numpy.zeros(5)",
        ])  # fmt: skip
        entries["offset"] = draw.choice(["0", "0", "1", "8", "-1", "2**62", "2**63", "1.5"])
        right = "None"
    elif lie == "strides":
        entries["strides"], refuse = repr((*strides, 8)), True
    elif lie == "more":
        entries["more"] = "5"
    text = "{" + ", ".join(f"{name!r}: {value}" for name, value in entries.items()) + "}"
    if lie == "not a dict":
        text, refuse = draw.choice(JUNK), True
    if lie == "buffer":
        call = f"data_of_lenders.by_interface({text})"
    else:
        way = draw.choice(["asarray", "asarray", "without a copy", "array", "operand", "nested"])
        call = f"data_of_lenders.consume({way!r}, lenders.Described({text}), {refuse}, {right})"
    return cases.Case(["import data_of_lenders, lenders, numpy", call], 1)


def by_interface(description):
    """An interface over a buffer: nothing beyond it is read."""
    import weft

    ours = outcome(lambda: use(weft.asarray(lenders.Described(description))))
    if not isinstance(ours, Refused):
        data = memoryview(description["data"]).nbytes
        strides = description.get("strides") or ours.strides  # a copy has others
        reach = ours.itemsize + sum((n - 1) * abs(s) for n, s in zip(ours.shape, strides, strict=True))
        if ours.size and reach > data:  # elements may overlap
            raise cases.Fault(f"{reach} bytes of {data}")


def cuda_interface(draw):
    entries = {
        "version": "3", "typestr": "'<f8'", "shape": "(4,)", "strides": "None", "stream": "None",
        "data": "(data_of_lenders.on_gpu(), False)",
    }  # fmt: skip
    for _ in range(draw.choice([1, 1, 2])):
        name = draw.choice([*entries, "mask", "descr"])
        if name == "stream":  # any other number is an address that the driver believes
            entries[name] = draw.choice(["None", "0", "1", "2", "-1", "2**70", "'x'", "1.5", "()", "True"])
            continue
        entries[name] = draw.choice([
            *JUNK, "(2**61,)", "(2**62,)", "(-2**63,)", "(8,)", "(16,)", "(-8,)", "(2, 2)", "(0,)", "(5,)", "1", "2",
            "0", "'<c16'", "'>f8'", "'|u1'", "(0, False)", "(2**64 - 1, True)", "(-1, True)", "(2**70, 0)",
            "(1, 2, 3)", "('1', True)", "(data_of_lenders.on_gpu() + 4, 0)", "(2**47, False)", "(1 << 20, False)",
        ])  # fmt: skip
    text = "{" + ", ".join(f"{name!r}: {value}" for name, value in entries.items()) + "}"
    way = draw.choice(
        ["np.asarray(x)", "np.array(x)", "np.asarray(x, copy=False)", "np.ones(4) + x", "np.array([x, x])"]
    )
    return cases.Case(
        [
            "import data_of_lenders, lenders",
            f"x = lenders.Described({text}, '__cuda_array_interface__')",
            f"data_of_lenders.constructed(lambda: {way})",
        ],
        1,
    )


_kept = []


def on_gpu():
    """An address on the fake driver's GPU, with room behind it."""
    import weft

    if not _kept:
        _kept.append(weft.arange(10_000.0, device="cuda") + 1)
    return _kept[0].__cuda_array_interface__["data"][0]


def constructed(function):
    outcome(function)


FAMILIES = {
    "exporter": exporter, "bytes_of": bytes_of, "interface": interface, "cuda_interface": cuda_interface,
}  # fmt: skip
