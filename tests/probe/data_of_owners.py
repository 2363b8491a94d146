"""Owners that change, resize or give up the memory that they lend, in any order."""

import mmap

import cases
import numpy
from data_of_files import outcome, use

OWNERS = {
    "bytearray": "b = bytearray(range(64))", "array": "b = array.array('B', range(64))",
    "mmap": "b = mmap.mmap(-1, 64)", "numpy": "b = numpy.arange(64, dtype='u1')",
    "weft": "b = np.arange(64, dtype='u1')", "memoryview": "b = memoryview(bytearray(64))",
    "BytesIO": "f = io.BytesIO(bytes(range(64))); b = f.getbuffer()", "ctypes": "b = (ctypes.c_uint8 * 64)()",
    "exporter": "b = lenders.flat(64)", "bytes": "b = bytes(range(64))",
    "read-only": "b = data_of_owners.read_only_map()", "read-only exporter": "b = lenders.flat(64, readonly=1)",
    "strided": "b = memoryview(bytearray(128))[::2]",
}  # fmt: skip
MAKE = [
    "a = np.frombuffer(b, 'u1')", "a = np.asarray(b, copy=False)", "a = np.ndarray((8, 8), 'u1', b)",
    "a = np.asarray(b)", "a = np.frombuffer(b, 'u1', 7, 3)", "a = np.frombuffer(b, 'i4', 3, 1)",
    "a = np.from_dlpack(numpy.frombuffer(b, 'u1'))",
]  # fmt: skip
STEPS = [
    "b.extend(bytes(1000))", "b.append(1)", "b.clear()", "b.pop()", "b.close()", "b.resize(4096)", "b.resize(9)",
    "b.release()", "del b", "del a", "f.close()", "f.truncate(3)", "f.write(bytes(9000))", "b[:] = bytes(3)",
    "b[0] = 7", "a[0] = 5", "a += 1", "a[::-1] += a", "c = a[1:]", "c = a.T", "v = memoryview(a)",
    "v = memoryview(b)", "v.release()", "v[0] = 3", "w = v[2:]", "w.release()", "del v", "a.resize(200)",
    "a.resize((3, 3), refcheck=False)", "a.shape = -1", "a = a.view('u2')", "c = np.asarray(a)",
    "n = numpy.asarray(a)", "n[0] = 9", "n.resize(300)", "del n", "a.sort()", "np.random.default_rng(1).shuffle(a)",
    "c = a + 1", "del c", "a[...] = c", "io.BytesIO(bytes(99)).readinto(a)",
    "a.__setstate__((1, (3,), np.dtype('f8'), False, bytes(24)))", "a.flags.writeable = False",
    "d = a.__dlpack__(max_version=(1, 0))", "e = np._core._from_capsule(d)[0]", "del d", "del e", "e[0] = 4",
    "i = a.__array_interface__", "i = a.ctypes", "a = a.copy()", "x = np.frombuffer(v, 'u1')", "x[1] = 2",
    "a.tofile('out')", "gc.collect()", "a.byteswap(True)", "a.fill(3)", "np.copyto(a, 4)", "a.partition(2)",
    "a.put([0, 1], 9)", "p = pickle.dumps(a, 5, buffer_callback=k.append)", "q = pickle.loads(p, buffers=k)",
    "q[0] = 1", "k.clear()", "np.add(a, 1, out=a)", "np.add(a, 1, out=n)", "b.release()",
    "b.__setstate__((1, (3,), np.dtype('f8'), False, bytes(24)))", "b.resize(0)", "a = np.asarray(v, copy=False)",
    "np.take(a, [0], out=a[:1])", "a.setflags(write=True)", "a.dtype = 'i1'", "a.strides = (0,)", "a.data",
    "memoryview(a).cast('B')[0]",
]  # fmt: skip


def owners(draw):
    owner = draw.choice(list(OWNERS))
    lines = [
        "import array, ctypes, gc, io, mmap, pickle, data_of_owners, lenders, numpy; k = []",
        "from data_of_owners import step",
    ]
    lines += [OWNERS[owner], f"step({draw.choice(MAKE)!r}, globals())"]
    for _ in range(draw.choice([2, 4, 6, 9])):
        lines.append(f"step({draw.choice(STEPS)!r}, globals())")
    if draw.random() < 0.5:
        lines.insert(2, "np.config.small = 0")
    lines += ["data_of_owners.finish(globals())"]
    return cases.Case(lines, 2)


def read_only_map():
    with open("map", "wb") as file:
        file.write(bytes(range(64)))
    with open("map", "rb") as file:
        return mmap.mmap(file.fileno(), 64, access=mmap.ACCESS_READ)


def step(line, names):
    """A statement that may raise what a user expects."""
    outcome(lambda: exec(line, names))


def finish(names):
    """Whatever is left is read."""
    import weft

    weft.config.small = 4096
    if isinstance(names.get("b"), bytes) and names["b"] != bytes(range(64)):
        raise cases.Fault("bytes were written")
    for name in "abcdefnqvwx":
        value = names.get(name)
        if isinstance(value, weft.ndarray):
            outcome(lambda value=value: use(value))
        elif isinstance(value, memoryview):
            outcome(value.tobytes)
        elif isinstance(value, (numpy.ndarray, bytearray)):
            bytes(value)


FAMILIES = {"owners": owners}
