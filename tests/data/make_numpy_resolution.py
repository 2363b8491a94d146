"""Writes numpy_resolution.txt: which loop NumPy picks for every combination of operand types.

One line a ufunc: its name, then for each combination of inputs (the 14 dtypes, then Python's int, float and
complex, in that order, the last operand fastest) the characters of the loop, or `-` where NumPy raises, or `=`
where the answer is that of the combination before. Lines `dtype:` are the same with dtype= given. Then result_type
and can_cast as matrices. Run it with the reference version of NumPy; tests/cpp/ops/resolve_test.cpp compares.
"""

import itertools
from pathlib import Path

import numpy as np

DTYPES = [np.dtype(c) for c in "?bBhHiIlLefdFD"]
OPERANDS = [*DTYPES, int, float, complex]
# weft has no long long beside long; two Python ints, which NumPy compares as objects, it compares as int64.
CHARACTERS = {"q": "l", "Q": "L", "O": "l"}


def resolution(ufunc, inputs, output=None):
    given = {} if output is None else {"signature": (*[None] * ufunc.nin, output)}
    try:
        dtypes = ufunc.resolve_dtypes((*inputs, *[None] * ufunc.nout), **given)
    except TypeError:
        return "-"
    return "".join(CHARACTERS.get(dtype.char, dtype.char) for dtype in dtypes)


def compress(items):
    previous = None
    for item in items:
        yield "=" if item == previous else item
        previous = item


def ufuncs():
    for name in sorted(dir(np)):
        ufunc = getattr(np, name)
        if (
            isinstance(ufunc, np.ufunc)
            and ufunc.__name__ == name
            and ufunc.signature is None
            and name != "isnat"
        ):
            yield ufunc
    yield np._core.umath.clip


def weak_example(operand):
    return operand(1) if isinstance(operand, type) else operand


def main():
    lines = [f"# NumPy {np.__version__}"]
    for ufunc in ufuncs():
        # Three operands take only one dtype and the weak ones, or the file would be large.
        operands = OPERANDS if ufunc.nin < 3 else [np.dtype(c) for c in "?bBlLed"] + [int, float]
        combinations = itertools.product(operands, repeat=ufunc.nin)
        lines.append(
            " ".join([ufunc.__name__, *compress(resolution(ufunc, inputs) for inputs in combinations)])
        )
    # With dtype=: for each of these outputs, all combinations of some inputs.
    few = [np.dtype(c) for c in "?bLlfdD"]
    for ufunc in ufuncs():
        if ufunc.nin > 2 or ufunc.nout > 1:
            continue
        combinations = itertools.product(map(np.dtype, "?lfdD"), *[few] * ufunc.nin)
        answers = (resolution(ufunc, inputs, output) for output, *inputs in combinations)
        lines.append(" ".join([f"dtype:{ufunc.__name__}", *compress(answers)]))
    for name, operands in (("result_type", OPERANDS), ("result_type3", OPERANDS)):
        repeat = 2 if name == "result_type" else 3
        types = (
            np.result_type(*map(weak_example, inputs))
            for inputs in itertools.product(operands, repeat=repeat)
        )
        lines.append(" ".join([name, *compress(CHARACTERS.get(t.char, t.char) for t in types)]))
    for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
        answers = (str(int(np.can_cast(a, b, casting))) for a, b in itertools.product(DTYPES, DTYPES))
        lines.append(" ".join([f"can_cast_{casting}", "".join(answers)]))
    for name in ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin"):
        answers = (getattr(np.zeros(3, dtype), name)().dtype.char for dtype in DTYPES)
        lines.append(" ".join([f"reduce_{name}", "".join(CHARACTERS.get(c, c) for c in answers)]))
    Path(__file__).with_name("numpy_resolution.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
