"""DLPack's capsules that lie, odd questions for weft's own, and producers that raise."""

import math

import cases
import lenders
from data_of_files import Refused, compare, outcome, use
from data_of_lenders import JUNK, layout

KINDS = {
    (2, 64): "f8",
    (2, 32): "f4",
    (2, 16): "f2",
    (0, 64): "i8",
    (0, 8): "i1",
    (1, 8): "u1",
    (1, 32): "u4",
    (5, 128): "c16",
    (6, 8): "?",
}


def dlpack(draw):
    (code, bits), dtype = draw.choice(list(KINDS.items()))
    itemsize = bits // 8
    shape, strides, offset = layout(draw, itemsize)
    strides = [stride // itemsize for stride in strides]
    low = sum(min((extent - 1) * stride, 0) for extent, stride in zip(shape, strides) if extent) * itemsize
    offset = -low // itemsize * itemsize
    elements = math.prod(shape)
    data, byte_offset = f"lenders.memory().first + {offset}", 0
    if draw.random() < 0.3:
        data, byte_offset = "lenders.memory().first", offset
    options = {"strides": strides if draw.random() < 0.8 else None, "dtype": (code, bits, 1)}
    if options["strides"] is None:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        low = 0
    right = f"data_of_lenders.expected({offset}, {'<' + dtype!r}, {shape}, {[stride * itemsize for stride in strides]})"
    refuse = False
    lie = draw.choice([
        "none", "null", "negative", "huge", "steep", "no shape", "type", "device", "version", "offset", "name",
        "flags", "other device", "unversioned", "zero rank",
    ])  # fmt: skip
    if lie == "null" and elements:
        data, refuse = "None", True
    elif lie == "negative" and shape:
        shape[draw.randrange(len(shape))] = draw.choice([-1, -(2**62), -(2**63)])
        refuse = True
    elif lie == "huge" and shape and elements:
        shape[draw.randrange(len(shape))] = draw.choice([2**61, 2**62, 2**63 - 1])
        options["strides"] = None
        refuse = True
    elif lie == "steep" and shape and elements and max(shape) > 1:
        axis = draw.choice([axis for axis, extent in enumerate(shape) if extent > 1])
        strides[axis] = draw.choice([2**62, -(2**62), 2**63 - 1, -(2**63)])
        options["strides"], refuse = strides, True
    elif lie == "no shape" and shape:
        options["no_shape"], refuse = True, True
    elif lie == "type":
        options["dtype"], refuse = (
            draw.choice(
                [
                    (2, 64, 2),
                    (2, 64, 0),
                    (2, 0, 1),
                    (9, 64, 1),
                    (2, 128, 1),
                    (5, 64 + 64, 3),
                    (3, 64, 1),
                    (255, 255, 65535),
                    (0, 1, 1),
                    (6, 1, 1),
                    (17, 4, 1),
                ]
            ),
            True,
        )
    elif lie == "device":
        options["device"], refuse = (
            draw.choice([(0, 0), (7, 0), (-1, 0), (10, 3), (2**31 - 1, 0), (14, 0), (2, 99), (2, -1)]),
            True,
        )
    elif lie == "other device":
        options["lent_device"] = draw.choice([
            (2, 0), (10, 0), (-1, -1), (1, 7), (2**31, 0), (2**32 + 1, 0), (1,), (1, 0, 0), None, "x", ("a", "b"),
            (1.5, 0),
        ])  # fmt: skip
        refuse = None
    elif lie == "version":
        options["version"], refuse = draw.choice([(0, 0), (2, 0), (2**32 - 1, 0), (1, 2**32 - 1)]), None
    elif lie == "offset" and elements:
        data, byte_offset, refuse = "2**64 - 8", draw.choice([2**64 - 1, 2**63, 8, 64]), True
    elif lie == "name":
        options["name"], refuse = (
            draw.choice(
                [b"used_dltensor", b"used_dltensor_versioned", b"", b"tensor", b"dltensor\xff", b"DLTENSOR"]
            ),
            True,
        )
    elif lie == "flags":
        options["flags"] = draw.choice([1, 2, 3, 2**64 - 1, 4, 2**63])
    elif lie == "unversioned":
        options["name"] = b"dltensor"
    elif lie == "zero rank":
        shape, options["strides"], right = (
            [],
            None,
            f"data_of_lenders.expected({offset}, {'<' + dtype!r}, (), ())",
        )
    options["offset"] = byte_offset
    text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    lender = f"lenders.Lender({data}, {shape}, {text})"
    way = draw.choice(["taken", "taken twice", "asarray", "copied", "raw", "elsewhere"])
    return cases.Case(
        [
            "import data_of_dlpack, data_of_lenders, lenders",
            f"data_of_dlpack.by_dlpack({way!r}, {lender}, {refuse}, {right})",
        ],
        1,
    )


def by_dlpack(way, lender, refuse, right):
    import gc

    import weft

    lenders.memory().fill()

    def taken():
        if way == "raw":
            return weft._core._from_capsule(lender.__dlpack__())[0]
        if way == "asarray":
            return weft.asarray(lender)
        return weft.from_dlpack(
            lender, **{"copied": {"copy": True}, "elsewhere": {"device": "cpu"}}.get(way, {})
        )

    def twice():
        capsule = lender.__dlpack__()
        lent = Same(capsule, lender)
        first = weft.from_dlpack(lent)
        again = outcome(lambda: weft.from_dlpack(lent))
        if not isinstance(again, Refused):
            raise cases.Fault("a capsule was taken twice")
        return first

    found = outcome(lambda: use(twice() if way == "taken twice" else taken()))
    if isinstance(found, Refused):
        if refuse is False:
            raise cases.Fault(f"refused: {found}")
        if lender.returned:
            raise cases.Fault(f"refused, and given back {lender.returned} times")
        return
    if refuse:
        raise cases.Fault(f"taken: shape {found.shape}")
    compare(found, right)
    del found
    gc.collect()
    if lender.returned != 1:
        raise cases.Fault(f"given back {lender.returned} times")


class Same:
    """Gives the same capsule again."""

    def __init__(self, capsule, lender):
        self.capsule, self.lender = capsule, lender

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return self.lender.lent_device


def dlpack_of_weft(draw):
    """What weft gives to a consumer who asks for odd things."""
    source = draw.choice([
        "np.arange(6.0)", "np.zeros((0, 3))", "np.arange(6)[::-2]", "np.float64(3)", "np.ones(4)[None].T",
        "np.broadcast_to(np.ones(3), (2, 3))", "np.array(True)", "np.ones(3, 'bfloat16')", "np.ones(3, complex).real",
        "np.arange(6, device='cuda')", "np.frombuffer(b'12345678', 'u1')",
    ])  # fmt: skip
    junk = [
        *JUNK,
        "(1, 0)",
        "(2, 0)",
        "(1, 5)",
        "(13, 0)",
        "(2**32 + 1, 0)",
        "(0, 0)",
        "(2**63, 0)",
        "(1.0, 0)",
        "0",
        "1",
        "2",
        "-1",
        "-2",
        "False",
        "2**64",
    ]
    keywords = {
        name: draw.choice(junk)
        for name in draw.sample(["stream", "max_version", "dl_device", "copy"], draw.choice([1, 2, 2]))
    }
    if "stream" in keywords:  # any other number is an address that the driver believes
        keywords["stream"] = draw.choice(
            ["None", "-1", "0", "1", "2", "-2", "2**64", "1.5", "'x'", "True", "object()"]
        )
    call = ", ".join(f"{name}={value}" for name, value in keywords.items())
    way = draw.choice([
        f"x.__dlpack__({call})", f"x.__dlpack__({call})", f"np._core._from_capsule(x.__dlpack__({call}))",
        f"np.from_dlpack(x, device={draw.choice(junk)}, copy={draw.choice(junk)})",
        f"np._core._stream_of({draw.choice(junk)})", f"np._core._from_capsule({draw.choice(junk)})",
    ])  # fmt: skip
    return cases.Case(
        [
            "import data_of_lenders",
            f"x = {source}",
            f"data_of_lenders.constructed(lambda: {way})",
            "data_of_lenders.use(x)",
        ],
        1,
    )


# ---- producers that raise ----


def raises(draw):
    names = draw.sample(
        [
            "__array_interface__", "__array_struct__", "__array__", "__dlpack__", "__dlpack_device__",
            "__cuda_array_interface__", "__array_ufunc__", "__array_function__", "__array_priority__", "__len__",
            "__float__", "dtype", "shape",
        ],
        draw.choice([1, 1, 2]),
    )  # fmt: skip
    error = draw.choice([
        "ValueError('no')", "AttributeError('no')", "KeyError()", "RecursionError()", "RuntimeError(b'\\xff')",
        "TypeError()", "BufferError()", "StopIteration()", "SystemExit(3)",
        "UnicodeDecodeError('utf8', b'', 0, 1, 'x')",
    ])  # fmt: skip
    way = draw.choice([
        "np.asarray(x)", "np.array([x])", "np.arange(3) + x", "np.from_dlpack(x)", "np.asarray(x, copy=False)",
        "np.sum(x)", "np.concatenate([x])", "np.frombuffer(x)", "np.zeros(3)[x]", "np.full(3, x)", "np.float64(x)",
    ])  # fmt: skip
    return cases.Case(
        [
            "import data_of_dlpack, data_of_lenders, lenders",
            f"x = lenders.Raises({names}, {error})",
            f"data_of_lenders.constructed(lambda: {way})",
        ],
        1,
    )


FAMILIES = {"dlpack": dlpack, "dlpack_of_weft": dlpack_of_weft, "raises": raises}
