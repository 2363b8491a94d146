"""Random bodies of element-wise kernels in C++, and what a C++ compiler makes of them.

Bodies have no undefined behaviour, and use functions alone whose results are exact.
"""

import ctypes
import pathlib
import random
import shutil
import subprocess

import numpy

COMPILER = shutil.which("clang++")

# C++ types of the arrays' dtypes. Clang computes __fp16 in float, as CUDA does float16.
TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "__fp16",
    "float32": "float",
    "float64": "double",
}
FLOATS = ("float16", "float32", "float64")
INTEGERS = tuple(name for name in TYPES if "int" in name)

HEADER = """#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
using namespace std;
"""


def values_of(dtype, generator, count=40):
    """Elements of a dtype: its extremes, small numbers, random bits, and of floats what is special."""
    if dtype == "bool":
        return numpy.array([generator.random() < 0.5 for _ in range(count)])
    if dtype in FLOATS:
        special = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-4, 3.7, -2.5, numpy.inf, -numpy.inf, numpy.nan, 255.0]
        rest = [generator.gauss(0, 10) for _ in range(count - len(special))]
        return numpy.array(special + rest).astype(dtype)
    info = numpy.iinfo(dtype)
    special = [0, 1, 2, 3, 7, info.max, info.min, info.max - 1, info.max // 2, max(info.min, -1)]
    rest = [generator.randint(int(info.min), int(info.max)) for _ in range(count - len(special))]
    return numpy.array([*special, *rest], dtype)


class Writer:
    """Writes one body over typed inputs and outputs."""

    def __init__(self, generator, inputs, outputs):
        self.generator = generator
        self.readable = dict(inputs) | dict(outputs)
        self.writable = dict(outputs)
        self.arrays = {}  # dtype and size
        self.names = 0

    def pick(self, *choices):
        return self.generator.choice(choices)

    def number(self):
        return self.pick(
            "0", "1", "2", "3", "7", "100", "255", "1u", "2ll", "0x7fu", "1.5", "0.25f", "2.0", "3e2f"
        )

    def name(self):
        return self.generator.choice(list(self.readable))

    def real(self, depth):
        """A number of whatever type."""
        if depth <= 0:
            return self.name() if self.generator.random() < 0.7 else self.number()
        if self.arrays and self.generator.random() < 0.2:
            return self.element(depth)
        a, b = (lambda: self.real(depth - 1)), (lambda: self.real(depth - 2))
        kind = self.generator.randrange(13)
        if kind < 4:
            return f"({a()} {self.pick('+', '-', '*')} {b()})"
        if kind == 4:
            return f"({self.whole(depth - 1)} {self.pick('/', '%')} (({self.whole(depth - 2)} & 63) | 1))"
        if kind == 5:
            return f"({a()} / (double)(1 + ({self.whole(depth - 2)} & 15)))"
        if kind == 6:
            return f"({self.truth(depth - 1)} ? {a()} : {b()})"
        if kind == 7:
            return f"({self.pick('-', '+', '')}{self.real(depth - 1)})"
        if kind == 8:
            return self.whole(depth)
        if kind == 9:
            return f"{self.pick('float', 'double')}({a()})"
        if kind == 10:
            return f"{self.pick('floor', 'ceil', 'trunc', 'fabs', 'sqrtf', 'rint', 'round')}((double)({a()}))"
        if kind == 11:
            return f"{self.pick('fmaxf', 'fminf')}(({a()}) + 0.0f, ({b()}) + 1.0f)"
        return f"({self.truth(depth - 1)})"

    def whole(self, depth):
        """An integer, of whatever type."""
        if depth <= 0:
            names = [name for name, dtype in self.readable.items() if dtype not in FLOATS]
            return (
                self.generator.choice(names)
                if names and self.generator.random() < 0.8
                else self.pick("3", "5u", "9ll")
            )
        kind = self.generator.randrange(9)
        left, right = self.whole(depth - 1), self.whole(depth - 2)
        if kind < 2:
            return f"({left} {self.pick('&', '|', '^')} {right})"
        if kind < 4:
            return f"({left} {self.pick('+', '-', '*')} {right})"
        if kind == 4:
            return f"(({left} & 1023) {self.pick('<<', '>>')} ({right} & 7))"
        if kind == 5:
            return f"(~{left})"
        if kind == 6:
            types = (
                "int",
                "unsigned int",
                "long long",
                "unsigned char",
                "short",
                "uint64_t",
                "int8_t",
                "size_t",
            )
            return f"({self.pick(*types)})({left})"
        if kind == 7:
            return f"(int)fminf(fmaxf((float)({self.real(depth - 1)}), -100.0f), 100.0f)"
        return f"({self.truth(depth - 1)} ? {left} : {right})"

    def truth(self, depth):
        if depth <= 0:
            return f"({self.name()} {self.pick('<', '>', '<=', '>=', '==', '!=')} {self.number()})"
        kind = self.generator.randrange(5)
        if kind < 2:
            return f"({self.real(depth - 1)} {self.pick('<', '>', '<=', '>=', '==', '!=')} {self.real(depth - 2)})"
        if kind == 2:
            return f"({self.truth(depth - 1)} {self.pick('&&', '||')} {self.truth(depth - 2)})"
        if kind == 3:
            return f"(!{self.truth(depth - 1)})"
        return f"((bool)({self.real(depth - 1)}))"

    def element(self, depth):
        """Of an array of the body's own."""
        name = self.generator.choice(list(self.arrays))
        return f"{name}[({self.whole(depth - 1)} & 63) % {self.arrays[name][1]}]"

    def new_array(self):
        name, dtype, size = self.new_name(), self.generator.choice(list(TYPES)), self.generator.randint(1, 6)
        size = size if self.generator.random() < 0.8 else 20
        given = [
            self.real(1) if dtype in FLOATS or dtype == "bool" else f"({TYPES[dtype]})({self.whole(1)})"
            for _ in range(self.generator.randint(0, min(size, 6)))
        ]
        given = [f"({TYPES[dtype]})({one})" for one in given]
        self.arrays[name] = dtype, size
        return f"{TYPES[dtype]} {name}[{size}] = {{{', '.join(given)}}};"

    def element_assigned(self):
        target = self.element(2)
        dtype = self.arrays[target.split("[")[0]][0]
        if dtype in FLOATS or dtype == "bool":
            return f"{target} = {self.real(2)};"
        return f"{target} {self.pick('=', '+=', '^=')} {self.whole(2)};"

    def switch(self, depth, in_loop):
        value = f"(int)({self.whole(2)} & {self.pick('3', '7')})"
        lines, labels = [f"switch ({value}) {{"], list(range(self.generator.randint(1, 4)))
        self.generator.shuffle(labels)
        while labels:
            lines.append(f"case {labels.pop()}:")
            if labels and self.generator.random() < 0.3:
                continue
            lines += ["{", *self.statements(depth - 1, 2), "} break;"]
        if self.generator.random() < 0.6:
            lines += ["default: {", *self.statements(depth - 1, 2), "}"]
        return [*lines, "}"]

    def assigned(self, name, value, depth):
        """An assignment without a float that fits no integer."""
        if self.readable[name] in FLOATS or self.readable[name] == "bool":
            return f"{name} = {value};"
        if self.generator.random() < 0.4:
            return f"{name} {self.pick('+=', '-=', '*=', '&=', '|=', '^=')} {self.whole(depth)};"
        return f"{name} = {self.whole(depth)};"

    def new_name(self):
        self.names += 1
        return f"v{self.names}"

    def statements(self, depth, count, in_loop=False):
        before = dict(self.readable), dict(self.writable), dict(self.arrays)
        lines = []
        for _ in range(count):
            lines += self.statement(depth, in_loop)
        self.readable, self.writable, self.arrays = before
        return lines

    def statement(self, depth, in_loop):
        kind = self.generator.randrange(15)
        if kind == 12:
            return [self.new_array()]
        if kind == 13 and self.arrays:
            return [self.element_assigned()]
        if kind == 14 and depth > 0:
            return self.switch(depth, in_loop)
        kind = self.generator.randrange(12)
        if kind < 3 or not self.writable:
            name, dtype = self.new_name(), self.generator.choice(list(TYPES))
            value = self.real(2) if dtype in FLOATS or dtype == "bool" else self.whole(2)
            self.readable[name] = self.writable[name] = dtype
            return [f"{TYPES[dtype]} {name} = {value};"]
        name = self.generator.choice(list(self.writable))
        if kind < 6 or depth <= 0:
            return [self.assigned(name, self.real(3), 3)]
        if kind == 6:
            counted = [one for one, dtype in self.writable.items() if dtype in INTEGERS]
            if not counted:
                return []
            one = self.generator.choice(counted)
            return [f"{self.pick(f'{one}++', f'--{one}', f'++{one}')};"]
        if kind < 9:
            lines = [f"if ({self.truth(2)}) {{", *self.statements(depth - 1, 2, in_loop), "}"]
            if self.generator.random() < 0.5:
                lines += ["else {", *self.statements(depth - 1, 2, in_loop), "}"]
            return lines
        if kind == 9 and in_loop:
            return [f"if ({self.truth(1)}) {self.pick('break', 'continue')};"]
        count, limit = self.new_name(), self.pick("3", "5", "(1 + (7 & 3))")
        self.readable[count] = "int32"
        body = self.statements(depth - 1, 3, True)
        del self.readable[count]
        if kind == 10:
            return [f"int {count} = 0; while ({count}++ < {limit}) {{", *body, "}"]
        if kind == 11:
            return [f"int {count} = {limit}; do {{", *body, f"}} while (--{count} > 0);"]
        return [f"for (int {count} = 0; {count} < {limit}; ++{count}) {{", *body, "}"]


def random_program(seed):
    """Inputs and outputs, as names and dtypes, and a body."""
    generator = random.Random(seed)
    inputs = {f"x{k}": generator.choice(list(TYPES)) for k in range(generator.randint(1, 4))}
    outputs = {f"y{k}": generator.choice(list(TYPES)) for k in range(generator.randint(1, 3))}
    writer = Writer(generator, inputs, outputs)
    lines = writer.statements(2, generator.randint(2, 6))
    for name in outputs:
        lines.append(writer.assigned(name, writer.real(3), 3))
    return inputs, outputs, "\n".join(lines)


def compiled_programs(programs, folder):
    """The programs as functions of (count, addresses), by one call of the compiler."""
    parts = [HEADER]
    for number, (inputs, outputs, body) in enumerate(programs):
        lines = [
            f'extern "C" void program{number}(long count, char** data) {{',
            "for (long i = 0; i < count; ++i) {",
        ]
        for place, (name, dtype) in enumerate([*inputs.items(), *outputs.items()]):
            const = "const " if name in inputs else ""
            lines.append(f"{const}{TYPES[dtype]}& {name} = (({TYPES[dtype]}*)data[{place}])[i];")
        parts += [*lines, body, "}}"]
    source, library = pathlib.Path(folder) / "programs.cpp", pathlib.Path(folder) / "programs.so"
    source.write_text("\n".join(parts))
    flags = "-std=c++17 -O1 -shared -fPIC -fwrapv -ffp-contract=off -w -march=native".split()
    subprocess.run([COMPILER, *flags, source, "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))

    def function(number):
        def run(arrays):
            count = len(arrays[0])
            data = (ctypes.c_void_p * len(arrays))(*[one.ctypes.data for one in arrays])
            getattr(loaded, f"program{number}")(ctypes.c_long(count), data)

        return run

    return [function(number) for number in range(len(programs))]


def weft_parameters(parameters):
    return ", ".join(f"{dtype} {name}" for name, dtype in parameters.items())


def weft_body(body):
    return body.replace("__fp16", "float16")
