"""Every loop of the op table against NumPy: values, dtype and shape, whatever the operands' layout.

The table itself says what is tested, and how exact an operation is (`ulp`); NumPy's own error is allowed on top.
Complex functions are compared with exact results in test_accuracy.py; here their special values and layouts count.
"""

import sys
import tomllib
import warnings
from pathlib import Path

import numpy
import pytest
import weft

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from ufunc_values import units_in_last_place, values

ROOT = Path(__file__).parents[4]
TABLE = {row["name"]: row for row in tomllib.loads((ROOT / "src/ops/op_table.toml").read_text())["op"]}
UFUNCS = weft._core._ufuncs
COUNT = 1500

# NumPy's own largest error beside the table's bound, in ULP; float16 differs by rounding alone.
NUMPYS_ERROR = {"e": 1, "f": 1.01, "d": 1.01}
# Near cancellation the error of the sum of logarithms is relative to the larger operand, not to the result.
CANCELS = {"logaddexp", "logaddexp2"}
# What NumPy leaves open: which of two zeros is the larger, the reciprocal of the integer 0.
ZERO_SIGN_OPEN = {"maximum", "minimum", "fmax", "fmin", "clip"}
COMPLEX_MATHEMATICS = {name for name, row in TABLE.items() if row["kind"] == "mathematical"}


def loops():
    for name, row in TABLE.items():
        if row.get("namespace") == "kernel" or name in ("real", "imag"):
            continue  # inside kernels, or views of arrays
        for types in UFUNCS[row.get("numpy", name)].types if row.get("numpy", name) in UFUNCS else ():
            if "E" not in types:  # bfloat16 is not NumPy's: test_bfloat16.py
                yield pytest.param(name, types, id=f"{name}-{types}")


LOOPS = list(loops())


def reference(name):
    if name == "select":
        return numpy.where
    if name == "clip":
        return numpy._core.umath.clip
    if TABLE[name].get("namespace") == "scipy.special":
        special = pytest.importorskip("scipy.special")
        return lambda x: getattr(special, name)(x.astype(float) if x.dtype != float else x).astype(x.dtype)
    return getattr(numpy, TABLE[name].get("numpy", name))


def operands(name, types, count=COUNT):
    inputs = [values(c, count, name, i) for i, c in enumerate(types.split("->")[0])]
    if name == "power" and inputs[0].dtype.kind in "iu":
        inputs[1] = numpy.abs(inputs[1] // 2) % 70  # negative exponents are refused
        inputs[1] = inputs[1].astype(inputs[0].dtype)
    return inputs


def evaluate(function, inputs):
    with numpy.errstate(all="ignore"):
        result = function(*inputs)
    return result if isinstance(result, tuple) else (result,)


def call(name, inputs):
    arrays = [weft.asarray(x) if x.ndim else weft.asarray(x)[()] for x in inputs]
    result = UFUNCS[TABLE[name].get("numpy", name)](*arrays)
    return result if isinstance(result, tuple) else (result,)


def assert_close(name, inputs, ours, theirs):
    ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    ulp = TABLE[name].get("ulp", 0.5)
    open_places = numpy.zeros(theirs.shape, bool)
    if name == "erfc":
        open_places = numpy.abs(inputs[0]) > 1  # SciPy loses digits there; test_accuracy.py knows better
    if name == "reciprocal" and theirs.dtype.kind in "iu":
        open_places = inputs[0] == 0
    if theirs.dtype.kind == "c":
        assert_complex_close(name, inputs, ours, theirs)
        return
    if theirs.dtype.kind != "f":
        wrong = (ours != theirs) & ~open_places
    else:
        if inputs[0].dtype.kind == "c":  # abs, whose error in NumPy is larger
            allowed = 2.01
        elif ulp == 0.5:
            allowed = 0
        else:
            allowed = ulp + (4 if name == "cbrt" else NUMPYS_ERROR[theirs.dtype.char])
        if name == "hypot" and theirs.dtype == numpy.float16:
            open_places = numpy.isinf(ours) & (
                numpy.isnan(inputs[0]) | numpy.isnan(inputs[1])
            )  # C99: infinity before nan
        if name in CANCELS:
            with numpy.errstate(all="ignore"):
                unit = numpy.spacing(numpy.maximum(numpy.abs(inputs[0]), numpy.abs(inputs[1])))
                open_places = numpy.abs(ours - theirs) <= 2 * unit
        with numpy.errstate(all="ignore"):
            wrong = (units_in_last_place(ours, theirs) > allowed) & ~open_places
            if name not in ZERO_SIGN_OPEN:
                wrong |= (numpy.signbit(ours) != numpy.signbit(theirs)) & ~numpy.isnan(theirs) & ~open_places
    report(name, inputs, ours, theirs, wrong)


def assert_complex_close(name, inputs, ours, theirs):
    """By norm where both are finite and nothing is near overflow; how parts overflow NumPy leaves to its loops."""
    info = numpy.finfo(theirs.real.dtype)
    with numpy.errstate(all="ignore"):
        norm = numpy.maximum(numpy.abs(theirs.real), numpy.abs(theirs.imag))
        distance = numpy.maximum(numpy.abs(ours.real - theirs.real), numpy.abs(ours.imag - theirs.imag))
        moderate = numpy.isfinite(theirs) & numpy.isfinite(ours)
        for x in inputs:
            if x.dtype.kind in "fc":
                moderate &= (numpy.abs(x) < 1e4) & ((numpy.abs(x) > 1e-4) | (x == 0))
        if name in ("power", "float_power"):
            # The error of exp(y log x) grows with its exponent.
            exponent = numpy.abs(inputs[1]) * (1 + numpy.abs(numpy.log(numpy.abs(inputs[0]))) + numpy.pi)
            wrong = moderate & (distance > 8 * info.eps * (1 + exponent) * norm + 4 * info.smallest_subnormal)
        elif name in COMPLEX_MATHEMATICS:
            wrong = moderate & (distance > 1e3 * info.eps * norm + 4 * info.smallest_subnormal)
        else:
            wrong = moderate & (distance > TABLE[name].get("ulp_complex", 1) * numpy.spacing(norm))
    report(name, inputs, ours, theirs, wrong)


def report(name, inputs, ours, theirs, wrong):
    if wrong.any():
        places = numpy.argwhere(wrong)[:5]
        lines = []
        for place in map(tuple, places):
            arguments = [repr(numpy.broadcast_to(x, theirs.shape)[place]) for x in inputs]
            lines.append(f"{name}({', '.join(arguments)}) = {ours[place]!r}, NumPy {theirs[place]!r}")
        pytest.fail(f"{wrong.sum()} of {wrong.size} differ:\n" + "\n".join(lines))


def check(name, inputs):
    theirs = evaluate(reference(name), inputs)
    ours = call(name, inputs)
    assert len(ours) == len(theirs)
    for mine, its in zip(ours, theirs):
        assert_close(name, inputs, mine, its)


@pytest.mark.parametrize(("name", "types"), LOOPS)
def test_eager_work(name, types):
    with weft.config(small=1 << 20):
        check(name, operands(name, types))


@pytest.mark.parametrize(("name", "types"), LOOPS)
def test_compiled(name, types):
    with weft.config(small=0):
        check(name, operands(name, types))


LAYOUTS = {
    "strided": lambda x: x[::3],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x[:1500].reshape(30, 50).T,
    "empty": lambda x: x[:0],
    "empty in two dimensions": lambda x: x[:0].reshape(0, 3),
    "0-d": lambda x: x[7:8].reshape(()),
    "one": lambda x: x[5:6],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "types"), LOOPS)
def test_layouts(name, types, layout):
    check(name, [LAYOUTS[layout](x) for x in operands(name, types)])


@pytest.mark.parametrize(("name", "types"), [p for p in LOOPS if len(p.values[1].split("->")[0]) == 2])
def test_broadcasts(name, types):
    x, y = operands(name, types)
    check(name, [x[:40].reshape(40, 1), y[:30]])
    check(name, [x[:40], y[3:4]])
    check(name, [x[9:10], y[:40]])


def test_every_operation_is_reachable():
    for name, row in TABLE.items():
        if row.get("namespace") != "kernel" and name not in ("real", "imag"):
            assert row.get("numpy", name) in UFUNCS or hasattr(weft, row.get("numpy", name)), name
            for alias in row.get("aliases", []):
                assert getattr(weft, alias) is getattr(weft, name), alias


@pytest.mark.parametrize("small", [1 << 20, 0], ids=["eager", "compiled"])
@pytest.mark.parametrize("source", "?bBhHiIlLefdFD")
def test_casts(source, small):
    for target in "?bBhHiIlLefdFD":
        x = values(source, COUNT, "cast", target)
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
            expected = x.astype(target)
        with weft.config(small=small), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = numpy.asarray(weft.asarray(x).astype(target))
        same = (got == expected) | ((got != got) & (expected != expected))
        if x.dtype.kind in "fc" and expected.dtype.kind in "iu":
            info = numpy.iinfo(target)
            whole = numpy.trunc(x.real.astype(float))
            same |= ~((whole >= info.min) & (whole < float(info.max)))  # out of range NumPy leaves it open
        report(f"astype({target!r})", [x], got, expected, ~same)
