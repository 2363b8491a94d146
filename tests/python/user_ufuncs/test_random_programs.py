"""Random expressions whose operations are replaced by functions of the program's that mean the same: the same bits."""

import random

import numpy
import pytest
import weft as np

# NumPy's function, and a Python function of numbers that means the same for float64, float32 and int64.
PAIRS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: -a,
    "square": lambda a: a * a,
    "less": lambda a, b: a < b,
    "where": lambda c, a, b: a if c else b,
}
OF_FLOATS = {
    "divide": lambda a, b: a / b,
    "sqrt": lambda a: np.sqrt(a),
    "exp": lambda a: np.exp(a),
    "sin": lambda a: np.sin(a),
    "floor": lambda a: np.floor(a),
    "hypot": lambda a, b: np.hypot(a, b),
    "copysign": lambda a, b: np.copysign(a, b),
}
OURS = {name: np.vectorize(nopython=True)(function) for name, function in (PAIRS | OF_FLOATS).items()}
ARITY = {name: function.nin for name, function in OURS.items()}


class Program:
    """An expression over arrays, made by a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dtype = self.random.choice(["float64", "float64", "float32", "int64"])
        self.names = list(PAIRS) + (list(OF_FLOATS) if self.dtype != "int64" else [])
        self.shape = self.random.choice([(40,), (3, 17), (120, 60), (9000,), (2, 3, 1700)])
        self.leaves = self.random.randint(1, 4)
        self.tree = self.expression(self.random.randint(2, 5))

    def arrays(self):
        numbers = numpy.random.default_rng(self.random.randrange(2**32))
        made = []
        for _ in range(self.leaves):
            shape = list(self.shape)
            if self.random.random() < 0.3:
                shape[self.random.randrange(len(shape))] = 1
            whole = numbers.normal(size=[2 * size for size in shape]) * 4
            part = tuple(
                slice(None, size) if self.random.random() < 0.6 else slice(None, None, 2) for size in shape
            )
            made.append(np.array(whole.astype(self.dtype))[part])
        return made

    def expression(self, depth):
        if depth == 0 or self.random.random() < 0.1:
            return ("leaf", self.random.randrange(self.leaves))
        name = self.random.choice(self.names)
        if name == "where":
            condition = ("less", self.random.random() < 0.5, *(self.expression(0) for _ in range(2)))
            return (
                name,
                self.random.random() < 0.6,
                condition,
                *(self.expression(depth - 1) for _ in range(2)),
            )
        if name == "less":
            return self.expression(depth)
        return (name, self.random.random() < 0.6, *(self.expression(depth - 1) for _ in range(ARITY[name])))

    def run(self, arrays, with_ours):
        def value(tree):
            if tree[0] == "leaf":
                return arrays[tree[1]]
            name, replaced, *operands = tree
            function = OURS[name] if replaced and with_ours else getattr(np, name)
            return function(*map(value, operands))

        result = value(self.tree)
        return [result, result.sum(-1) if self.dtype == "int64" else result.max(-1)]


def bits(values):
    """All bits but those of NaNs, whose sign LLVM decides."""
    found = []
    for each in map(numpy.asarray, values):
        each = numpy.where(numpy.isnan(each), numpy.nan, each) if each.dtype.kind == "f" else each
        found.append((each.dtype, each.shape, each.tobytes()))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_replaced_operations(seed):
    program = Program(seed)
    arrays = program.arrays()
    with numpy.errstate(all="ignore"):
        assert bits(program.run(arrays, True)) == bits(program.run(arrays, False)), program.tree


@pytest.mark.parametrize(
    "setting", ["WEFT_FUSE=0", "WEFT_TIER=block", "WEFT_TIER=jit WEFT_SMALL=0", "WEFT_NUM_THREADS=1"]
)
def test_in_each_way(setting):
    import os
    import subprocess
    import sys

    environment = dict(os.environ, **dict(one.split("=") for one in setting.split()))
    text = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "import hashlib, test_random_programs as programs\n"
        "for seed in range(20):\n"
        "    program = programs.Program(seed)\n"
        "    arrays = program.arrays()\n"
        "    ours, theirs = (programs.bits(program.run(arrays, which)) for which in (True, False))\n"
        "    assert ours == theirs, program.tree\n"
        "    print(hashlib.sha256(repr(ours).encode()).hexdigest())\n"
    )
    found = [
        subprocess.run([sys.executable, "-c", text], env=each, capture_output=True, text=True)
        for each in (environment, dict(os.environ))
    ]
    for each in found:
        assert each.returncode == 0, each.stderr[-2000:]
    assert found[0].stdout == found[1].stdout
