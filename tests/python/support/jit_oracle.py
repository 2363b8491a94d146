"""Functions that weft.jit compiled, run by the scalar oracle of kernel IR (tests/oracle/run_functions.cpp)."""

import pathlib
import struct
import subprocess

import numpy
import weft

# Beside the package in the folder of the build.
PROGRAM = pathlib.Path(weft.__file__).absolute().parents[2] / "bin" / "weft_oracle"


def word(value):
    """A number as the oracle reads it: its type and its bits."""
    if isinstance(value, bool):
        return f"bool:{int(value)}"
    if isinstance(value, float):
        return f"f64:{struct.pack('>d', value).hex()}"
    return f"i64:{value}"


def argument(value):
    if not isinstance(value, list):
        return word(value)
    dtype = numpy.dtype(value.dtype) if hasattr(value, "dtype") else numpy.array(value).dtype
    kind = f"{dtype.kind}{8 * dtype.itemsize}"
    return f"array:{kind}:{','.join(word(item).split(':')[1] for item in value)}"


def number(kind, text):
    if kind == "f64":
        return struct.unpack(">d", bytes.fromhex(text))[0]
    return bool(int(text)) if kind == "bool" else int(text)


class Oracle:
    """A process that runs kernel IR."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def load(self, text, passes=False):
        """The module whose last function is called next; with `passes` it is run after weft's passes, too."""
        self.process.stdin.write(f"module {text.count(chr(10))}{' passes' * passes}\n{text}")

    def call(self, arguments):
        """What a call comes to (returned, raised, fault, wrong, differs), its values or why, its arrays afterwards."""
        self.process.stdin.write(" ".join(["call", *map(argument, arguments)]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        outcome, _, arrays = line.partition(" |")
        what, _, rest = outcome.partition(" ")
        if what in ("fault", "wrong", "differs", ""):
            return what, line.strip(), []
        if what == "returned":
            rest = [number(*value.split(":")) for value in rest.split()]
        return (
            what,
            rest,
            [
                [number(kind, item) for item in items.split(",") if item]
                for kind, items in (array.split(":") for array in arrays.split())
            ],
        )
