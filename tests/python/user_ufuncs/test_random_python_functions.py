"""Random functions of Python's numbers by vectorize, compiled where nobody can tell: NumPy's bits, dtypes, errors."""

import importlib.util
import random
import types

import numpy
import pytest
import weft
from comparing import exception_kind, outcome
from weft._ufunc import element_loops

HEAD = """
import math
import weft as np


def helper(v):
    return v + 1 if v > 2 else v


"""
LITERALS = (
    "0 1 2 3 7 -1 0.0 1.0 0.5 2.5 -1.5 1e300 True False 9007199254740993 4611686018427387904 -0.0".split()
)
OF_ONE = (
    "abs float int bool round math.floor math.ceil math.sqrt math.fabs np.sqrt np.floor np.absolute math.isnan "
    "np.isfinite helper"
).split()
INPUTS = {
    "float64": [1.5, -2.0, 0.0, -0.0, 3.0, 1e308, -1e-310, float("inf"), float("nan"), 9.3e18, 2.0**53, 0.5],
    "int64": [1, -2, 0, 3, 2**53 + 1, 2**62, -(2**63), 2**63 - 1, 5, -7, 64, 3037000500],
    "bool": [True, False],
    "int8": [1, -2, 0, 100, -128, 127],
    "float32": [1.5, -2.0, 0.1, 3e38, -0.0],
    "uint32": [0, 1, 4294967295, 7],
}


class Maker:
    """Functions of x and y, made by a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["x", "y"]

    def one(self, texts):
        return self.random.choice(texts)

    def expression(self, depth):
        if depth == 0 or self.random.random() < 0.15:
            return self.one(self.names) if self.random.random() < 0.7 else self.one(LITERALS)
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        kind = self.random.randrange(13)
        if kind < 5:
            return f"({a} {self.one('+-*')} {b})"
        if kind < 8:
            operators = [
                ("/", "//", "%"),
                ("&", "|", "^", "<<", ">>"),
                ("<", "<=", ">", "==", "!=", "and", "or"),
            ]
            return f"({a} {self.one(operators[kind - 5])} {b})"
        if kind == 8:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if kind == 9:
            return f"({self.one(['-', '-', '~', 'not '])}{a})"
        if kind == 10:
            return f"{self.one(['max', 'min', 'math.copysign'])}({a}, {b})"
        if kind == 12:
            return f"({self.one(self.names)} ** {self.one('012')})"
        function = self.one(OF_ONE)  # of NumPy's ints, floor and ceil are those of the nearest float
        return f"{function}({a} * 0.5)" if "math." in function else f"{function}({a})"

    def condition(self, depth):
        text = f"{self.expression(depth)} {self.one(['<', '>', '==', '<='])} {self.expression(depth)}"
        return text if self.random.random() < 0.7 else f"{text} and not {self.expression(depth)}"

    def block(self, depth, indent, in_loop=False):
        pad, lines = "    " * indent, []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randrange(9)
            if kind < 4 or depth == 0:
                name = self.one(["s", "t", "x", "u"])
                lines.append(f"{pad}{name} = {self.expression(2)}")
                self.names.append(name)
            elif kind == 4:
                lines.append(f"{pad}{self.one(self.names)} {self.one('+-*')}= {self.expression(1)}")
            elif kind == 5:
                lines += [f"{pad}if {self.condition(1)}:", *self.block(depth - 1, indent + 1, in_loop)]
                lines += [f"{pad}else:", *self.block(depth - 1, indent + 1, in_loop)]
            elif kind == 6:
                lines.append(f"{pad}for i{depth} in range({self.one(['3', '4', '2, 5', '3, 0, -1'])}):")
                self.names.append(f"i{depth}")
                lines += self.block(depth - 1, indent + 1, True)
            else:
                leave = self.one(["break", "continue"]) if in_loop else f"return {self.expression(1)}"
                lines += [f"{pad}if {self.condition(1)}:", f"{pad}    {leave}"]
        return lines

    def function(self, name):
        self.names = ["x", "y"]
        body = [] if self.random.random() < 0.4 else self.block(2, 1)
        return [f"def {name}(x, y):", *body, f"    return {self.expression(3)}", "", ""]

    def values(self):
        dtype = self.one(list(INPUTS))
        pool = INPUTS[dtype]
        if self.random.random() < 0.5:
            pool = [value for value in pool if abs(value) < 1000]
        return numpy.array([self.one(pool) for _ in range(3)], dtype)

    def options(self):
        types_ = ["float64", "int64", "bool", "float32", "int8"]
        return self.one([{}, {}, {"cache": True}, {"otypes": [self.one(types_)]}])


def same(result, expected):
    if isinstance(expected, Exception):
        # weft's scalars have some methods more than NumPy's.
        return isinstance(result, Exception) and (
            exception_kind(result) == exception_kind(expected) or isinstance(expected, TypeError)
        )
    result = numpy.asarray(result)
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return False
    known = ~numpy.isnan(expected) if expected.dtype.kind == "f" else slice(None)
    return numpy.array_equal(result, expected, equal_nan=expected.dtype.kind == "f") and numpy.array_equal(
        result[known].tobytes(), expected[known].tobytes()
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore")
def test_random_functions(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(element_loops, "_FROM", 1)
    maker, count = Maker(seed), 40
    lines = [line for k in range(count) for line in maker.function(f"f{k}")]
    file = tmp_path / f"functions_{seed}.py"
    file.write_text(HEAD + "\n".join(lines))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for_numpy = {**vars(module), "np": numpy}
    for_numpy["helper"] = types.FunctionType(module.helper.__code__, for_numpy)
    compiled = []
    computed = element_loops._computed
    monkeypatch.setattr(element_loops, "_computed", lambda *a: compiled.append(computed(*a)) or compiled[-1])
    for k in range(count):
        ours = getattr(module, f"f{k}")
        theirs = types.FunctionType(ours.__code__, for_numpy)
        for _ in range(4):
            x, y, options = maker.values(), maker.values(), maker.options()
            expected = outcome(numpy.vectorize(theirs, **options), x, y)
            result = outcome(weft.vectorize(ours, **options), weft.array(x), weft.array(y))
            if isinstance(expected, TypeError) and not isinstance(result, Exception):
                continue
            assert same(result, expected), (ours.__name__, x, y, options, result, expected)
    assert len(compiled) > count / 4
