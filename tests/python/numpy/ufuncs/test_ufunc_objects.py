"""What every ufunc of the op table offers as an object, against NumPy's: attributes, keywords, folds."""

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome

NAMES = sorted(
    name
    for name in dir(numpy)
    if isinstance(getattr(numpy, name), numpy.ufunc)
    and isinstance(getattr(weft, name, None), weft.ufunc)
    and getattr(numpy, name).__name__ in (name, "remainder", "absolute")
)
BINARY = [name for name in NAMES if getattr(numpy, name).nin == 2 and getattr(numpy, name).nout == 1]
WEFTS = frozenset(
    "?bBhHiIlLefdFD"
)  # the characters of both; E is bfloat16, NumPy's q, Q are int64's other names


def loops(ufunc):
    return [loop for loop in ufunc.types if set(loop) - {"-", ">"} <= WEFTS]


def operand(np, character, shape, seed=0):
    rng = numpy.random.default_rng([seed, ord(character)])
    return np.array(rng.integers(1, 6, shape).astype(character))


def assert_same(call, *, ulp=0):
    expected, result = outcome(call, numpy), outcome(call, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert not isinstance(result, Exception), result
        assert_equal(result, expected, ulp=ulp)


@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    mine, other = getattr(weft, name), getattr(numpy, name)
    for attribute in ("__name__", "nin", "nout", "nargs", "identity", "signature"):
        assert getattr(mine, attribute) == getattr(other, attribute), attribute
    assert mine.ntypes == len(mine.types)
    assert set(loops(mine)) <= {loop.translate({ord("q"): "l", ord("Q"): "L"}) for loop in other.types}
    assert mine.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_signature_asks_for_each_loop(name):
    for loop in set(loops(getattr(weft, name))) & set(getattr(numpy, name).types):
        own = loop[0] if loop[0] == "?" else "l"

        def call(np, own=own, loop=loop):
            ufunc = getattr(np, name)
            inputs = [operand(np, own, (2, 3), k) for k in range(ufunc.nin)]
            return ufunc(*inputs, signature=loop, casting="unsafe")

        assert_same(call, ulp=8)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("name", BINARY)
def test_casting(name, casting):
    for characters in ("dd", "ld", "fd", "bl", "Fd"):

        def call(np, characters=characters):
            inputs = [operand(np, character, (3,)) for character in characters]
            return getattr(np, name)(*inputs, casting=casting)

        assert_same(call, ulp=8)


SIGNATURES = """
np.sqrt([1, 4], signature=(None, 'f')); np.add([1], [2], signature='d'); np.add([1], [2], signature='dd->f')
np.add([1.5], [2], signature='ll->l'); np.add([1], [2], signature=('d', None, None)); np.add(1, 2.5, sig='ff->f')
np.add([1], [2], signature=('d', 'd')); np.add([1], [2], signature=('d', None, 'f')); np.add([1], [2], signature=5)
np.less([1], [2], signature=('d', None, None)); np.add([1], [2], signature='dd->d', dtype='d')
np.add([1], [2], signature='ii'); np.add([1], [2], signature='iii->i'); np.add(300, x.astype('B'), signature='BB->B')
np.divmod(x, 2, signature='hh->hh'); np.frexp(x, signature='f->fi'); np.add(x, 1, casting='nowhere')
np.add([1.5], [2], signature='ll->l', casting='unsafe'); np.add(x, 1, casting='no'); np.add(x, 1.5, casting='no')
np.add(x, x, out=...); np.add(1, 2, out=...); np.add.reduce(x, out=...); np.logaddexp.reduce(x, out=...)
np.divmod(7, 2, out=...); np.add(x, x, out=(np.zeros(4, 'f'),)); np.add(x, x, out=(np.zeros(4, 'f'), None))
np.divmod(x, 2, out=(None, np.zeros(4, int))); np.divmod(x, 2, out=np.zeros(4)); np.add(x, x, nothing=1)
np.divmod(x, 2, np.zeros(4, int)); np.divmod(x, 2, np.zeros(4, int), np.zeros(4, int)); np.add(x, x, axis=0)
np.add(x, x, out=np.zeros(4, int), where=x > 2); np.add(x, x, subok=False, order='F')
np.add.outer(x, [1, 2], dtype='f'); np.multiply.outer([[1, 2], [3, 4]], x).shape; np.add.outer(1, 2)
np.subtract.outer(x, 1.5); np.negative.outer(x, x)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in SIGNATURES if p.strip()])
def test_keywords(program):
    ulp = 4 if "logaddexp" in program else 0  # a function of the device's own library
    assert_same(lambda np: eval(program, {"np": np, "x": np.arange(1, 5)}), ulp=ulp)


RESOLVED = """
np.add.resolve_dtypes((d('f4'), float, None)); np.add.resolve_dtypes((d('f4'), d('i4'), None))
np.add.resolve_dtypes((d('f4'), None, None), reduction=True); np.add.resolve_dtypes((d('f4'), float))
np.add.resolve_dtypes((None, d('f4'), None), reduction=True); np.less.resolve_dtypes((d('i4'), d('f4'), None))
np.add.resolve_dtypes((d('i4'), d('f4'), d('i4'))); np.sqrt.resolve_dtypes((d('i4'), None))
np.add.resolve_dtypes((d('i4'), d('f4'), d('i4')), casting='unsafe')
np.divmod.resolve_dtypes((d('u1'), int, None, None))
np.add.resolve_dtypes((d('i4'), d('f4'), None), signature='dd->d')
np.bitwise_and.resolve_dtypes((d('f4'), d('f4'), None))
np.add.resolve_dtypes((d('i4'), d('f4'), None), casting='no'); np.sqrt.resolve_dtypes((d('i4'), None), reduction=True)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in RESOLVED if p.strip()])
def test_resolve_dtypes(program):
    def call(np):
        return eval(program, {"np": np, "d": np.dtype})

    expected, result = outcome(call, numpy), outcome(call, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert [one.str for one in result] == [one.str for one in expected]


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
@pytest.mark.parametrize("name", BINARY)
def test_folds(name, method):
    """Of every function with two operands, along each axis, of bools, integers and floats."""
    for character in "?bld":
        for axis in (0, 1, -1):

            def call(np, character=character, axis=axis):
                fold = getattr(getattr(np, name), method)
                x = operand(np, character, (3, 4))
                return fold(x, [0, 2, 1], axis) if method == "reduceat" else fold(x, axis)

            if (name == "arctan2" or (name == "power" and character == "d")) and method != "accumulate":
                continue  # NumPy's vector loops do not wait for the result of the step before
            # Of runs of one element there is nothing to fold, wherever the types lead.
            if name == "ldexp" and method == "reduce" and character in "?bl":
                continue  # its exponents are of another type: weft folds in one
            assert_same(call, ulp=8)


REDUCTIONS = """
u.reduce(x, axis=None); u.reduce(x, axis=(0, 1)); u.reduce(x, axis=()); u.reduce(x, keepdims=True)
u.reduce(x, axis=1, initial=3); u.reduce(x, axis=1, where=x > 2); u.reduce(x, axis=1, where=x > 2, initial=3)
u.reduce(x[:0]); u.reduce(x[:0], initial=2); u.reduce(x[:, :0], axis=0); u.reduce(x, axis=2); u.reduce(x, axis=(0, 0))
u.reduce(x, out=np.zeros(4)); u.reduce(x, out=np.zeros(3)); u.reduce(x, out=np.zeros((3, 4))); u.reduce(x, dtype='d')
u.reduce(x.T, axis=1); u.reduce(5); u.reduce(5, axis=None); u.reduce(x, out=(np.zeros(4),), keepdims=False); u.reduce(y)
u.reduce(y, axis=1, keepdims=True); u.reduce(y, axis=2); u.reduce(x, 0, None, None, True)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in REDUCTIONS if p.strip()])
@pytest.mark.parametrize(
    "name", ["bitwise_xor", "subtract", "fmax", "logaddexp", "gcd", "lcm", "hypot", "logical_xor"]
)
def test_reductions_with_options(name, program):
    def call(np):
        x = operand(np, "l", (3, 4))
        y = operand(np, "l", (2, 5, 3)).transpose(2, 0, 1)
        return eval(program, {"np": np, "u": getattr(np, name), "x": x, "y": y})

    assert_same(call, ulp=8)


@pytest.mark.parametrize(
    "name", ["subtract", "divide", "bitwise_xor", "fmin", "gcd", "logaddexp", "copysign"]
)
def test_long_folds(name):
    """What is not associative is folded from the left, however long."""
    a = numpy.random.default_rng(1).integers(1, 9, (3, 1000))
    ulp = 8 if name == "divide" else 64  # the roundings of a thousand logarithms
    for method in ("reduce", "accumulate"):
        expected = getattr(getattr(numpy, name), method)(a, axis=1)
        assert_equal(getattr(getattr(weft, name), method)(weft.array(a), axis=1), expected, ulp=ulp)
    expected = getattr(numpy, name).reduceat(a, [0, 500, 7], axis=1)
    assert_equal(getattr(weft, name).reduceat(weft.array(a), [0, 500, 7], axis=1), expected, ulp=ulp)
