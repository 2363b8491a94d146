"""Damaged npy and npz files, texts, and raw bytes."""

import contextlib
import gzip
import io
import os
import struct
import warnings
import zipfile

import cases
import numpy

# ---- what is compared ----


class Refused:
    """That a call raised; equal to other such."""

    def __init__(self, error):
        self.error = error

    def __repr__(self):
        return f"{type(self.error).__name__}: {self.error}"


def outcome(function, may_ask=False):
    """What a call gives, or that it refused. Memory that data promise is not asked for, what callers want may be."""
    try:
        return function()
    except MemoryError as error:
        if may_ask:
            return Refused(error)
        raise cases.Fault(f"memory was asked for: {error}") from error
    except (KeyboardInterrupt, cases.Fault):
        raise
    except Exception as error:
        if not cases.is_expected(error):
            raise
        return Refused(error)


def numpys(function):
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function()
        except Exception as error:
            return Refused(error)


def compare(ours, theirs):
    """Fault where both read something and it differs."""
    if isinstance(ours, Refused) or isinstance(theirs, Refused):
        return
    if isinstance(ours, (tuple, list)) and isinstance(theirs, (tuple, list)):
        if len(ours) != len(theirs):
            raise cases.Fault(f"{len(ours)} arrays, not {len(theirs)}")
        for one, other in zip(ours, theirs):
            compare(one, other)
        return
    if isinstance(ours, (bytes, str)):
        if ours != theirs:
            raise cases.Fault(f"{ours!r} is not {theirs!r}")
        return
    theirs = numpy.asarray(theirs)
    if theirs.dtype.kind not in "biufc":
        return
    made = numpy.asarray(ours)
    if made.shape != theirs.shape or made.dtype.newbyteorder("=") != theirs.dtype.newbyteorder("="):
        raise cases.Fault(f"{made.dtype} {made.shape} is not {theirs.dtype} {theirs.shape}")
    if theirs.dtype.kind == "b":  # a byte that is neither 0 nor 1 is true
        made, theirs = made.view("u1") != 0, theirs.view("u1") != 0
    if made.tobytes() != theirs.astype(made.dtype).tobytes():
        raise cases.Fault("the elements differ")


def use(array):
    """Reads all of an array, in several ways."""
    import weft

    if not isinstance(array, weft.ndarray):
        return array
    array.sum(), array.copy(), array.ravel()[::-1].tobytes(), weft.sort(array.ravel())
    if max(array.shape, default=0) < 10_000:  # else many empty lists
        array.tolist()
    return array


def damage(draw, content):
    """The bytes with some of them changed, left out, doubled or cut off."""
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 4])):
        if not content:
            break
        at = draw.randrange(len(content))
        how = draw.choice(["bit", "byte", "byte", "cut", "delete", "insert", "repeat", "number", "swap"])
        if how == "bit":
            content[at] ^= 1 << draw.randrange(8)
        elif how == "byte":
            content[at] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        elif how == "cut":
            del content[at:]
        elif how == "delete":
            del content[at : at + draw.choice([1, 2, 8, 64])]
        elif how == "insert":
            content[at:at] = draw.randbytes(draw.choice([1, 2, 8]))
        elif how == "repeat":
            content[at:at] = content[at : at + draw.choice([4, 16, 80])]
        elif how == "number":
            width = draw.choice([1, 2, 4, 8])
            number = draw.choice([0, 1, 2**7, 2**15, 2**31, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1])
            content[at : at + width] = (number % 256**width).to_bytes(width, "little")
        else:
            other = draw.randrange(len(content))
            content[at], content[other] = content[other], content[at]
    return bytes(content)


# ---- npy ----

DESCRIPTIONS = [
    "<f8", "<f4", "<f2", "|u1", "<i4", ">i8", ">f8", "<c16", ">c8", "|b1", "<V2", "?", "f", "=u2", "f8", "|O", "O8",
    "<U3", "|S5", "<f16", "<M8[ns]", "", "f0", "f-8", "<f8 ", "8", "i1000000000", "<V0", "V", "e", "<i3", "|f8",
    "f8f8", "\0", "é", "(2,)f8", "f8,f8", "<f8[3]", "u99999999999999999999",
]  # fmt: skip
SHAPES = [
    "()", "(0,)", "(1,)", "(3,)", "(2, 3)", "(3, 2, 1)", "(24,)", "(100,)", "(-1,)", "(2, -3)", "(10000000000,)",
    "(4611686018427387904,)", "(4294967296, 4294967296)", "(0, 4611686018427387904)", "(4611686018427387904, 0)",
    "(3.0,)", "(True,)", "[3]", "3", "(3", "('3',)", "(None,)", "((3,),)", "(1,) * 3", "(9223372036854775807,)",
    "(9223372036854775808,)", "(18446744073709551616,)", f"({65 * '1,'})", f"({64 * '1,'})", "(1e3,)", "(3L,)", "{3}",
    "(0x3,)", "(1_0,)", "(2, 0, 5)", "(00,)", "(+3,)", "(~3,)", "(1j,)", "(3,)  ",
]  # fmt: skip
ORDERS = ["False", "True", "False", "False", "0", "1", "None", "'C'", "[]"]


def npy(draw):
    """A file of parts, most of them right."""

    def choose(right, others):
        return right if draw.random() < 0.6 else draw.choice(others)

    description = choose("<f8", DESCRIPTIONS)
    quoted = draw.choice(
        [repr(description)] * 8 + [f"b{description!r}"[:9], "5", "[('a', '<f8')]", "('<f8', (2,))", "None"]
    )
    entries = [
        f"'descr': {quoted}", f"'fortran_order': {choose('False', ORDERS)}", f"'shape': {choose('(2, 3)', SHAPES)}",
    ]  # fmt: skip
    if draw.random() < 0.1:
        draw.shuffle(entries)
    if draw.random() < 0.05:
        entries.pop()
    if draw.random() < 0.05:
        entries.append(draw.choice(["'more': 1", "'shape': (1,)", "3: 4", "**{}", "'descr': '<i4'"]))
    header = "{" + ", ".join(entries) + draw.choice([", }"] * 6 + ["}", "", "}}", ",}\0"])
    header = (
        header.encode("utf8")
        + b" " * draw.choice([0, 1, 20, 3, 60])
        + draw.choice([b"\n", b"\n", b"", b"\r\n", b"\0"])
    )
    version = draw.choice([(1, 0)] * 8 + [(2, 0), (3, 0), (0, 0), (1, 1), (4, 0), (255, 255)])
    form = "<H" if version[0] == 1 else "<I"
    length = len(header) + draw.choice([0] * 12 + [1, -1, 10, -10, 60000])
    size = draw.choice([48, 48, 48, 0, 1, 47, 49, 96, 8, 1000])
    magic = draw.choice([b"\x93NUMPY"] * 20 + [b"\x93NUMPX", b"\x93NUM", b""])
    start = magic + bytes(version) + struct.pack(form, max(length, 0) % (1 << 16))
    return start + header + (bytes(range(64)) * 16)[:size]


def saved(array, version=None):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, version)
    return file.getvalue()


GOOD = [
    saved(numpy.arange(6.0).reshape(2, 3)), saved(numpy.arange(6, dtype=">i4").reshape(2, 3)),
    saved(numpy.float64(3)), saved(numpy.asfortranarray(numpy.arange(6, dtype="f4").reshape(2, 3))),
    saved(numpy.zeros((0, 3), "c8")), saved(numpy.arange(10) > 4, (2, 0)),
    saved(numpy.arange(300, dtype="u2"), (3, 0)), saved(numpy.array(["ab", "c"])),
]  # fmt: skip


class Odd(io.RawIOBase):
    """A stream that gives fewer bytes than asked for, or says what is not so."""

    def __init__(self, content, way):
        self.content, self.way, self.place, self.turn = content, way, 0, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.place

    def seek(self, place, whence=0):
        self.place = (
            place if whence == 0 else self.place + place if whence == 1 else len(self.content) + place
        )
        return self.place

    def read(self, size=-1):
        self.turn += 1
        size = len(self.content) - self.place if size is None or size < 0 else size
        if self.way == "little":
            size = min(size, 5)
        result = self.content[self.place : self.place + size]
        self.place += len(result)
        if self.way == "more" and self.turn > 3:
            return result + b"12345678"
        if self.way == "none" and self.turn > 3:
            return None
        if self.way == "text" and self.turn > 3:
            return "text"
        if self.way == "raises" and self.turn > 3:
            raise OSError("no longer there")
        return bytearray(result) if self.way == "bytearray" else result

    def readinto(self, memory):
        self.turn += 1
        found = self.content[
            self.place : self.place + (min(len(memory), 5) if self.way == "little" else len(memory))
        ]
        memory[: len(found)] = found
        self.place += len(found)
        odd = {"more": len(found) + 100, "less": -3, "none": None, "text": "3", "huge": 2**70, "float": 2.5}
        if self.way == "raises":
            raise OSError("no longer there")
        return odd.get(self.way, len(found))


WAYS = [
    "memory", "memory", "path", "gzip", "mapped r", "mapped r+", "mapped c", "pipe", "little", "more", "less", "none",
    "text", "huge", "float", "raises", "bytearray", "pickle",
]  # fmt: skip


@contextlib.contextmanager
def opened(content, way):
    """What is to be loaded, and with which options."""
    if way in ("path", "pipe") or way.startswith("mapped"):
        with open("file.npy", "wb") as file:
            file.write(content)
    if way.startswith("mapped"):
        yield "file.npy", {"mmap_mode": way.split()[1]}
    elif way == "path":
        yield "file.npy", {}
    elif way == "gzip":
        yield gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(content, 1))), {}
    elif way == "memory":
        yield io.BytesIO(content), {}
    elif way == "pickle":
        yield io.BytesIO(content), {"allow_pickle": content[:6] == b"\x93NUMPY"}
    elif way == "pipe":
        reader, writer = os.pipe()
        os.write(writer, content[: 1 << 15])
        os.close(writer)
        with open(reader, "rb") as stream:
            yield stream, {}
    else:
        yield Odd(content, way), {}


LIARS = {"more", "less", "none", "text", "huge", "float", "raises"}  # NumPy believes some of them


def load(content, way):
    import weft

    def loaded(np):
        with opened(content, way) as (file, options):
            result = np.load(file, **options)
            if isinstance(result, np.ndarray):
                if result.nbytes > len(content):
                    raise cases.Fault(f"{result.nbytes} bytes of {len(content)}")
                use(result)
                return result.copy()
            return (list(result.files), members(result)) if hasattr(result, "files") else None

    ours = outcome(lambda: loaded(weft))
    if way not in LIARS:
        theirs = numpys(lambda: loaded(numpy))
        if isinstance(ours, tuple) and isinstance(theirs, tuple):
            for name, member in ours[1].items():
                compare(member, theirs[1].get(name, Refused(None)))
        elif not isinstance(ours, tuple) and not isinstance(theirs, tuple):
            compare(ours, theirs)


def members(archive):
    return {name: outcome(lambda name=name: use(archive[name])) for name in archive.files[:8]}


def load_case(content, draw):
    return cases.Case(
        [
            "import data_of_files",
            cases.Call("data_of_files.load", [repr(content), repr(draw.choice(WAYS))], {}),
        ],
        1,
    )


def npy_parts(draw):
    return load_case(npy(draw), draw)


def npy_bytes(draw):
    return load_case(damage(draw, draw.choice(GOOD)), draw)


# ---- npz ----


def archived(method, *names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for number, name in enumerate(names):
            archive.writestr(name, GOOD[number % len(GOOD)])
    return file.getvalue()


ARCHIVES = [
    archived(zipfile.ZIP_STORED, "a.npy", "b.npy"), archived(zipfile.ZIP_DEFLATED, "a.npy", "b.npy", "é.npy"),
    archived(zipfile.ZIP_STORED), archived(zipfile.ZIP_DEFLATED, "x/../y.npy", ".npy", "t.txt", "a.npy", "a.npy"),
    archived(zipfile.ZIP_LZMA, "a.npy"), archived(zipfile.ZIP_BZIP2, "a.npy"),
]  # fmt: skip
# Of the structures of a zip file: the signature, and the fields behind it as (offset, width).
STRUCTURES = {
    b"PK\x03\x04": [(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)],
    b"PK\x01\x02": [
        (6, 2),
        (8, 2),
        (10, 2),
        (16, 4),
        (20, 4),
        (24, 4),
        (28, 2),
        (30, 2),
        (32, 2),
        (34, 2),
        (42, 4),
    ],
    b"PK\x05\x06": [(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)],
}


def npz(draw):
    content = bytearray(draw.choice(ARCHIVES))
    for _ in range(draw.choice([1, 1, 2, 3])):
        if draw.random() < 0.3:
            return load_case(damage(draw, content), draw)
        signature = draw.choice(list(STRUCTURES))
        places = [at for at in range(len(content)) if content[at : at + 4] == signature]
        if not places:
            continue
        offset, width = draw.choice(STRUCTURES[signature])
        at = draw.choice(places) + offset
        old = int.from_bytes(content[at : at + width], "little")
        number = draw.choice(
            [0, 1, old + 1, old - 1, old * 2, 2**16 - 1, 2**31, 2**32 - 1, 99, 8, 12, 14, 93]
        )
        content[at : at + width] = (number % 256**width).to_bytes(width, "little")
    return load_case(bytes(content), draw)


def npz_of_damaged(draw):
    """A whole archive of damaged arrays."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name in ("a.npy", "b"):
            archive.writestr(name, npy(draw) if draw.random() < 0.5 else damage(draw, draw.choice(GOOD)))
    return load_case(file.getvalue(), draw)


# ---- text ----

TOKENS = [
    "1", "2.5", "-3", "nan", "inf", "-inf", "1e400", "1e-400", "0x10", "1_000", "3j", "1+2j", "(1,2)", "True", "None",
    "", " ", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "1e", "e1", ".", "-", "+5",
    "1.", ".5", "--1", "é", "\0", "\ud800", "#c", "'7'", '"8"', "1" * 400, "0" * 50 + "3", "1d5", "½", "\u0661",
    "1,2", "abc", "NaN", "infinity",
]  # fmt: skip
SEPARATORS = [" ", ",", "\t", ";", "\n", "\r\n", "  ", ", ", "\r", "\x0b", "\x00"]


def text(draw):
    line = draw.choice([" ", ",", "\t", ";"])
    rows = []
    for _ in range(draw.choice([0, 1, 2, 3, 5])):
        tokens = [
            draw.choice(TOKENS[:8]) if draw.random() < 0.8 else draw.choice(TOKENS)
            for _ in range(draw.choice([1, 2, 2, 3]))
        ]
        rows.append((line if draw.random() < 0.9 else draw.choice(SEPARATORS)).join(tokens))
    return draw.choice(["\n", "\n", "\r\n", "\r"]).join(rows) + draw.choice(["", "\n", "\n\n"])


OPTIONS = {
    "delimiter": ["','", "' '", "None", "';'", "''", "',,'", "b','", "5", "(2, 3)", "'\\n'", "'\\0'"],
    "comments": ["'#'", "None", "['#', '%']", "''", "5", "b'#'"],
    "skiprows": ["0", "1", "100", "-1", "2**70", "'1'"],
    "usecols": ["0", "(0, 1)", "(1, 0)", "-1", "(5,)", "()", "'a'", "(0.5,)", "(0, 0)", "(2**70,)"],
    "unpack": ["True", "False"],
    "ndmin": ["0", "1", "2", "3", "-1", "2.0"],
    "max_rows": ["0", "1", "2", "-1", "2**70", "None"],
    "quotechar": ["None", "'\"'", "'ab'", "''"],
    "converters": [
        "None",
        "{0: float}",
        "{0: lambda t: 1 / 0}",
        "float",
        "{9: float}",
        "{'a': float}",
        "{0: 5}",
    ],
    "encoding": ["None", "'utf8'", "'latin1'", "'nonsense'", "b'utf8'"],
}
MISSING = {
    "delimiter": OPTIONS["delimiter"], "skip_header": ["0", "1", "-1", "99"], "skip_footer": ["0", "1", "99", "-1"],
    "missing_values": ["'abc'", "{0: 'x'}", "5"], "filling_values": ["0", "{0: 7}", "'x'", "(1, 2)"],
    "unpack": ["True"], "usecols": OPTIONS["usecols"], "invalid_raise": ["False"], "names": ["True", "'a,b'", "5"],
    "max_rows": OPTIONS["max_rows"], "ndmin": OPTIONS["ndmin"], "loose": ["False"], "comments": ["'#'", "None"],
}  # fmt: skip
DTYPES = [
    "float",
    "int",
    "complex",
    "bool",
    "'f4'",
    "'u1'",
    "'i2'",
    "None",
    "'f2'",
    "str",
    "'nonsense'",
    "object",
    "[('a', 'f8')]",
    "5",
]


def options_of(draw, choices):
    picked = draw.sample(list(choices), draw.choice([0, 1, 2]))
    return {name: draw.choice(choices[name]) for name in picked}


def text_case(function, draw, choices):
    content = text(draw)
    source = draw.choice([
        "io.StringIO({0!r})", "io.StringIO({0!r})", "{0!r}.split('\\n')", "{0!r}.splitlines(True)",
        "iter({0!r}.split('\\n'))", "io.BytesIO({0!r}.encode('utf8', 'replace'))", "data_of_files.written({0!r})",
        "data_of_files.Raising({0!r})",
    ]).format(content)  # fmt: skip
    keywords = options_of(draw, choices)
    if draw.random() < 0.5:
        keywords["dtype"] = draw.choice(DTYPES)
    call = ", ".join(f"{key}={value}" for key, value in keywords.items())
    inner = f"lambda np: np.{function}({source}, {call})"
    return cases.Case(["import data_of_files, io", cases.Call("data_of_files.both", [inner], {})], 1)


def loadtxt(draw):
    return text_case("loadtxt", draw, OPTIONS)


def genfromtxt(draw):
    return text_case("genfromtxt", draw, MISSING)


def written(content, name="file.txt"):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf8", "replace"))
    return name


class Raising:
    """An iterator of lines that ends with an exception."""

    def __init__(self, content):
        self.lines = content.split("\n")

    def __iter__(self):
        yield from self.lines
        raise RuntimeError("no more")


def both(function):
    import weft

    def called(np):
        result = function(np)
        for part in result if isinstance(result, (tuple, list)) else (result,):
            use(part)
        return result

    ours = outcome(lambda: called(weft), may_ask=True)
    theirs, again = (numpys(lambda: function(numpy)) for _ in range(2))
    if described(theirs) == described(again):  # NumPy leaves elements uninitialised that a text does not have
        compare(ours, theirs)


def described(value):
    return value.tobytes() if isinstance(value, numpy.ndarray) else repr(value)


def fromstring(draw):
    content = text(draw)
    given = repr(content if draw.random() < 0.7 else content.encode("utf8", "replace"))
    separator = draw.choice(["','", "' '", "';'", "'\\n'", "''", "'1'", "b','", "' , '", "'\\0'", "5"])
    count = draw.choice(["-1", "0", "2", "100", "-2", "2**62", "2**70", "1.5", "None"])
    function, given = draw.choice(
        [("fromstring", given), ("fromfile", f"data_of_files.written({content!r})")]
    )
    inner = f"lambda np: np.{function}({given}, {draw.choice(DTYPES)}, {count}, sep={separator})"
    return cases.Case(["import data_of_files", cases.Call("data_of_files.both", [inner], {})], 1)


# ---- raw bytes ----


RAW = {
    "dtype": ["float", "'u1'", "'c16'", "'i2'", "bool", "'f2'", "'bfloat16'", "'nonsense'"],
    "count": [
        "-1",
        "0",
        "1",
        "3",
        "100",
        "-5",
        "2**40",
        "2**62",
        "2**64",
        "True",
        "1.5",
        "None",
        "np.int64(2)",
    ],
    "offset": ["0", "1", "8", "100", "-1", "2**40", "2**63", "None", "3.0"],
}


def fromfile(draw):
    content = draw.randbytes(draw.choice([0, 1, 7, 8, 64, 65, 1000]))
    source = draw.choice([
        "data_of_files.written({0!r})", "data_of_files.written({0!r})", "open(data_of_files.written({0!r}), 'rb')",
        "open(data_of_files.written({0!r}), 'rb', 0)", "open(data_of_files.written({0!r}), 'ab+')",
        "io.BytesIO({0!r})", "'/dev/null'", "'/'", "'nowhere'", "data_of_files.piped({0!r})", "5", "None",
    ]).format(content)  # fmt: skip
    keywords = {name: draw.choice(choices) for name, choices in RAW.items() if draw.random() < 0.8}
    call = ", ".join(f"{key}={value}" for key, value in keywords.items())
    inner = f"lambda np: np.fromfile({source}, {call})"
    return cases.Case(["import data_of_files, io", cases.Call("data_of_files.both", [inner], {})], 1)


def piped(content):
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    return open(reader, "rb")


FAMILIES = {
    "npy_parts": npy_parts, "npy_bytes": npy_bytes, "npz": npz, "npz_of_damaged": npz_of_damaged, "loadtxt": loadtxt,
    "genfromtxt": genfromtxt, "fromstring": fromstring, "fromfile": fromfile,
}  # fmt: skip
