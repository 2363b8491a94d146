"""Expressions of whole arrays in compiled functions: one loop each, with the results and writes of one operator after
the other."""

import copy
import random
import re

import numpy
import pytest
import weft as np

VIEWS = [
    *(
        "a[1:-1, 1:-1]",
        "a[:-2, 1:-1]",
        "a[2:, 2:]",
        "b[1:-1, :-2]",
        "b[2:, 1:-1]",
        "c[1:-1, 1:-1]",
        "v[1:-1]",
    ),
    *("w[1:-1, None]", "v[None, 2:]", "a[0, 1:-1]", "b[1:-1, 0:1]", "s", "x", "x"),
]


def expression(chance, depth):
    def inner():
        return expression(chance, depth - 1)

    if depth == 0 or chance.random() < 0.15:
        return chance.choice(["2.0", "3", "0.5"] if chance.random() < 0.15 else VIEWS)
    kind = chance.random()
    if kind < 0.6:
        return f"({inner()} {chance.choice('+-*/+*')} {inner()})"
    if kind < 0.7:
        return f"np.{chance.choice(['maximum', 'minimum', 'hypot'])}({inner()}, {inner()})"
    if kind < 0.8:
        return f"np.{chance.choice(['sqrt', 'abs', 'floor'])}({inner()})"
    if kind < 0.87:
        return f"np.where({inner()} > {inner()}, {inner()}, {inner()})"
    return f"(-{inner()})" if kind < 0.93 else f"({inner()} < {inner()}) * 1.0"


def program(chance):
    lines = []
    for _ in range(chance.choice([1, 2, 3, 5])):
        given = expression(chance, chance.choice([1, 2, 3, 4]))
        to = chance.choice(["a[1:-1, 1:-1]", "b[1:-1, 1:-1]", "c[:-2, :-2]", "a[2:, 2:]"])
        lines.append(chance.choice([f"x = {given}", f"{to} = {given}", f"{to} += {given}", f"x *= {given}"]))
    return "def f(a, b, c, v, w, s):\n    x = a[1:-1, 1:-1] * 1.0\n" + "".join(
        f"    {line}\n" for line in [*lines, "return x"]
    )


def arguments(chance):
    generator = numpy.random.default_rng(chance.randrange(1 << 30))

    def array(shape, dtype="f8"):
        return (generator.random(shape) * 4 - 1).astype(dtype)

    n, m = chance.choice([(6, 6), (5, 7), (3, 3), (9, 4), (2, 5)])
    a, b = array((n, m)), array((n, m))
    if chance.random() < 0.3:
        a = numpy.asfortranarray(a)
    if chance.random() < 0.3:
        b = array((2 * n, 2 * m))[::2, ::-2]
    if chance.random() < 0.15:
        b = a
    w = array(n if chance.random() < 0.9 else n + 1)
    return (
        a,
        b,
        array((n, m), chance.choice(["f8", "i8", "i4"])),
        array(m, chance.choice(["f8", "i4"])),
        w,
        1.5,
    )


def outcome(function, given):
    try:
        return function(*given)
    except (ValueError, TypeError) as error:
        return error


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(seed):
    chance = random.Random(seed)
    source = program(chance)
    space = {"np": numpy}
    exec(source, space)
    given = arguments(chance)
    theirs, ours = copy.deepcopy(given), copy.deepcopy(given)
    with numpy.errstate(all="ignore"):
        wanted = outcome(space["f"], theirs)
    found = outcome(np.jit(space["f"], source=source), ours)
    if isinstance(found, np.CompileError):
        refused = "on one way and" in str(found) or "dimensions" in str(found)
        assert refused or isinstance(wanted, Exception), source
        return
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted)), source
    else:
        found = numpy.asarray(found)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, source
        numpy.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=source)
    for array, expected in zip(ours[:5], theirs[:5], strict=True):
        numpy.testing.assert_allclose(array, expected, rtol=1e-12, atol=1e-12, err_msg=source)


def test_an_expression_makes_no_array_but_its_result():
    @np.jit
    def f(a):
        return np.sqrt(a * a + 1.0) / (a + 2.0) - np.where(a > 0.5, a, -a)

    a = numpy.random.default_rng(1).random((20, 30))
    assert (f(a) == numpy.sqrt(a * a + 1.0) / (a + 2.0) - numpy.where(a > 0.5, a, -a)).all()
    (text,) = f.inspect_ir().values()
    assert len(re.findall(r"= heap ", text)) == 1

    @np.jit
    def g(a, b):
        b[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]

    b = numpy.zeros(50)
    g(a.ravel()[:50], b)
    assert (b[1:-1] == 0.25 * a.ravel()[:48] + 0.5 * a.ravel()[1:49] + 0.25 * a.ravel()[2:50]).all()


def test_what_an_expression_reads_does_not_change_while_it_is_evaluated():
    def doubled(a):
        a *= 2.0
        return a

    def f(a):
        return (a + 1.0) * doubled(a)

    def g(a):
        b = a.copy()
        return (b + 1.0) * (b := a * 3.0) + b

    a = numpy.arange(5.0)
    jitted = np.jit(doubled)
    expected = f(a.copy())
    space = {"doubled": jitted}
    exec("def f(a):\n    return (a + 1.0) * doubled(a)\n", space)
    assert (
        np.jit(space["f"], source="def f(a):\n    return (a + 1.0) * doubled(a)\n")(a.copy()) == expected
    ).all()
    assert (np.jit(g)(a) == g(a)).all()


def test_parts_of_one_array_are_read_before_they_are_written():
    def shift(a):
        a[1:] = a[:-1] + a[1:] * 0.5
        a[:-1] += a[1:] * 2.0 - a[:-1]

    def across(a, b):
        b[1:-1] = a[:-2] * 2.0 + a[2:]

    a = numpy.arange(9.0)
    ours, theirs = a.copy(), a.copy()
    np.jit(shift)(ours)
    shift(theirs)
    assert (ours == theirs).all()
    ours, theirs = a.copy(), a.copy()
    np.jit(across)(ours, ours)
    across(theirs, theirs)
    assert (ours == theirs).all()


def test_shapes_that_do_not_fit_are_told_before_what_follows():
    @np.jit
    def f(a, b, c):
        c[0] = 1.0
        return (a + b) * c[5]

    c = numpy.zeros(3)
    with pytest.raises(ValueError, match="broadcast"):
        f(numpy.ones(4), numpy.ones(5), c)
    assert c[0] == 1.0
    with pytest.raises(IndexError):
        f(numpy.ones(4), numpy.ones(4), c)

    @np.jit
    def g(a, b):
        a += b

    with pytest.raises(np.CompileError, match="an array of 1 dimensions does not hold a result of 2"):
        g(numpy.ones(1), numpy.ones((1, 1)))


def test_dimensions_of_one_element_are_repeated():
    def f(a, b):
        return (a[:, None] + 1.0) * (b[None, :] - 1.0) + a[:, None] * b

    def g(a, b):
        return (a + 1.0) * (b - 1.0)

    a, b = numpy.arange(4.0), numpy.arange(5.0)
    assert (np.jit(f)(a, b) == f(a, b)).all()
    jitted = np.jit(g)
    for left, right in [
        ((3, 4), (3, 4)),
        ((3, 1), (1, 4)),
        ((1, 4), (3, 4)),
        ((3, 4), (1, 1)),
        ((0, 4), (1, 4)),
    ]:
        x, y = numpy.random.default_rng(2).random(left), numpy.random.default_rng(3).random(right)
        assert (jitted(x, y) == g(x, y)).all()


def test_expressions_where_their_elements_are_looked_at_otherwise():
    def f(a, b):
        inside = 3.0 in (a + b), 3.0 not in a * b, (a + b) is None, a - b is not a
        first = (a + b)[0]
        total = (a * b).sum() + np.max(a - b) + len(a + b) + (a + b).T.shape[0]
        chain = ((a < b).sum(), (0.0 < a[0] + b[0] < 9.0))
        x, y = a[:2] + b[:2]
        for item in a - b:
            total += item
        values = [item for item in a * 2.0]  # noqa: C416
        return inside, first, total, chain, x, y, sum(a + b), values, (a + 1.0 if total > 0 else b - 1.0)

    def g(a, b, i):
        a[i] = (b * 2.0)[i]
        b[i + 1 : i + 2] = a[i] * b[:1]
        a[(b < 0.0).sum()] += (b + a)[1]
        return np.sqrt(a + b), -(a + b), abs(a - b), np.array([a + b, a - b])

    def h(a, out):
        numpy.add(a * 2.0, a + 1.0, out)
        numpy.multiply(out - a, 2.0, out=out)
        return out

    a, b = numpy.array([1.0, 5.0, 2.5]), numpy.array([2.0, 0.5, 4.0])
    for function, given in ((f, (a, b)), (g, (a, b, 1)), (h, (a, b))):
        theirs, ours = copy.deepcopy(given), copy.deepcopy(given)
        expected, found = function(*theirs), np.jit(function)(*ours)
        numpy.testing.assert_equal(tuple(map(numpy.asarray, found)), tuple(map(numpy.asarray, expected)))
        numpy.testing.assert_equal(ours[0], theirs[0])
        numpy.testing.assert_equal(ours[1], theirs[1])
