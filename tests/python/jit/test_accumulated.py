"""Arrays of which several iterations of prange update the same elements: copies, and what is refused."""

import textwrap

import numpy
import pytest
import weft


def compiled(text, **options):
    names = {"np": weft, "range": range}
    text = textwrap.dedent(text)
    exec(text, names)
    return weft.jit(names["f"], source=text, **options)


def of_body(body, before=""):
    lines = ["def f(a, k, x):", *textwrap.dedent(before).splitlines()]
    text = lines[0] + "\n" + textwrap.indent("\n".join(lines[1:]), "    ") + ("\n" if before else "")
    return compiled(
        text + "    for i in np.prange(len(k)):\n" + textwrap.indent(textwrap.dedent(body), 8 * " ") + "\n"
    )


UPDATES = {
    "add": "a[k[i]] += x[i]",
    "subtract": "a[k[i]] -= x[i]",
    "multiply": "a[k[i]] *= 1 + x[i] % 2",
    "written out": "a[k[i]] = x[i] + a[k[i]]",
    "min": "a[k[i]] = min(a[k[i]], x[i])",
    "max": "a[k[i]] = max(x[i], a[k[i]])",
    "maximum": "a[k[i]] = np.maximum(a[k[i]], x[i])",
    "fmin": "a[k[i]] = np.fmin(a[k[i]], x[i])",
    "if": "if x[i] > a[k[i]]:\n    a[k[i]] = x[i]",
    "if not above": "if a[k[i]] >= x[i]:\n    a[k[i]] = x[i]",
    "conditional": "if x[i] > 3:\n    a[k[i]] += 1\nelse:\n    a[k[i]] -= 1",
    "several": "a[k[i]] += x[i]\na[k[i] // 2] += 1\nfor j in range(3):\n    a[j] += j",
    "neighbours": "a[i % 7] += 1\na[i % 7 + 1] += x[i]",
    "one element": "a[3] += x[i]",
    "by its sizes": "a[k[i] % a.shape[0]] += len(a)",
    "function of the index": "a[int(k[i])] = a[int(k[i])] + 1",
}
INTEGERS = {
    "and": "a[k[i]] &= x[i]",
    "or": "a[k[i]] |= x[i]",
    "xor": "a[k[i]] ^= x[i] * 3",
}
SIZES = (0, 1, 127, 129, 1000, 40_000)


def operands(size, dtype, elements=50):
    generator = numpy.random.default_rng(size)
    return generator.integers(0, elements, size), generator.integers(0, 9, size).astype(dtype)


@pytest.mark.parametrize("dtype", (numpy.int64, numpy.int16, numpy.uint8, numpy.float64, numpy.float32))
@pytest.mark.parametrize("name", [*UPDATES, *INTEGERS])
def test_equal_to_one_iteration_after_the_other(name, dtype):
    if name in INTEGERS and numpy.dtype(dtype).kind == "f":
        pytest.skip("floats have no bits to combine")
    body = {**UPDATES, **INTEGERS}[name]
    together = of_body(body)
    for size in SIZES:
        k, x = operands(size, dtype)
        found = []
        for count in (1, 2, 7):
            a = numpy.arange(50).astype(dtype)
            with weft.config(num_threads=count):
                together(a, k, x)
            found.append(a)
        expected = numpy.arange(50).astype(dtype)
        with numpy.errstate(all="ignore"):
            together.py_func(expected, k, x)
        for a in found:
            assert numpy.array_equal(a, found[0])
            if name == "multiply" and numpy.dtype(dtype).kind == "f":
                assert numpy.allclose(a, expected, rtol=1e-4, equal_nan=True)
            else:
                assert numpy.array_equal(a, expected)


LAYOUTS = {
    "contiguous": lambda: numpy.zeros((30, 20)),
    "transposed": lambda: numpy.zeros((20, 30)).T,
    "every second": lambda: numpy.zeros((30, 40))[:, ::2],
    "backwards": lambda: numpy.zeros((30, 20))[::-1, ::-1],
    "repeated": lambda: numpy.zeros((60, 20))[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_dimensions(layout):
    function = compiled("""\
        def f(a, k, m, x):
            for i in np.prange(len(k)):
                a[k[i], m[i]] += x[i]
                a[k[i]][0] += 1
        """)
    for size in SIZES:
        k, x = operands(size, numpy.float64, 30)
        m, _ = operands(size, numpy.float64, 20)
        a = LAYOUTS[layout]()
        function(a, k, m, x)
        expected = numpy.zeros((30, 20))
        numpy.add.at(expected, (k, m), x)
        numpy.add.at(expected, (k, 0), 1)
        assert numpy.array_equal(a, expected)


def test_sums_of_floats_have_the_same_bits_for_any_number_of_threads():
    function = of_body("a[k[i]] += x[i]")
    k, _ = operands(100_000, numpy.float64)
    x = numpy.random.default_rng(3).standard_normal(100_000)
    found = []
    for count in (1, 2, 3, 7):
        a = numpy.zeros(50)
        with weft.config(num_threads=count):
            function(a, k, x)
        found.append(a)
    assert all(numpy.array_equal(a, found[0]) for a in found)
    assert numpy.allclose(found[0], numpy.bincount(k, x, 50), rtol=1e-12)


def test_arrays_that_the_function_allocates():
    function = compiled("""\
        def f(k, bins):
            counts = np.zeros(bins, np.int64)
            most = np.full(bins, -1)
            for i in np.prange(len(k)):
                counts[k[i]] += 1
                if i > most[k[i]]:
                    most[k[i]] = i
            return counts, most
        """)
    k, _ = operands(30_000, numpy.float64)
    counts, most = function(k, 50)
    assert numpy.array_equal(counts, numpy.bincount(k, minlength=50))
    assert numpy.array_equal(most, [numpy.flatnonzero(k == j).max() for j in range(50)])


def test_in_a_parallel_loop_inside_of_another():
    function = compiled("""\
        def f(k, bins):
            counts = np.zeros(bins, np.int64)
            total = 0
            for i in np.prange(k.shape[0]):
                for j in np.prange(k.shape[1]):
                    counts[k[i, j]] += 1
                    total += 1
            return counts, total
        """)
    k = numpy.random.default_rng(2).integers(0, 40, (300, 200))
    counts, total = function(k, 40)
    assert numpy.array_equal(counts, numpy.bincount(k.ravel(), minlength=40))
    assert total == k.size


def test_errors_leave_no_memory_behind():
    function = of_body("a[k[i]] += x[i]")
    k, x = operands(50_000, numpy.float64)
    k[40_000] = 99
    for _ in range(20):
        with pytest.raises(IndexError, match="index 99 is out of bounds for axis 0 with size 50"):
            function(numpy.zeros(50), k, x)
    k[40_000] = 3
    a = numpy.zeros(50)
    function(a, k, x)
    assert a.sum() == x.sum()


# Elements of different iterations are different ones, so nothing is copied.
OWN = {
    "counter": "a[i] += x[i]",
    "moved": "a[i + 1] += x[i]",
    "from behind": "a[len(k) - i] += x[i]",
    "every third": "a[3 * i + 2] += 1",
    "by a variable": "j = 2 * i\na[j + 1] += 1",
    "digits": "for j in range(w):\n    a[i * w + j] += 1",
    "more digits": "for j in range(h):\n    for l in range(w):\n        a[(i * h + j) * w + l] += 1",
    "digits of a shape": "for j in range(b.shape[1]):\n    a[i * b.shape[1] + j] += 1",
    "one of two": "b[i, k[i] % 3] += 1",
    "the last": "t[k[i] % 3, i] += 1",
    "the last, set": "t[1, i] = x[i]",
    "literal digits": "for j in range(1, 4):\n    a[4 * i + j] += 1",
    "view": "row = b[i]\nrow[k[i] % 3] += 1",
    "row": "b[i][k[i] % 3] += 1",
}
NOT_OWN = {
    "digits that meet": "for j in range(w + 1):\n    a[i * w + j] += 1",
    "digits from below": "for j in range(-1, w):\n    a[i * w + j + 1] += 1",
    "no digits": "for j in range(w):\n    a[i + j] += 1",
    "another size": "for j in range(h):\n    a[i * w + j] += 1",
    "half": "a[i // 2] += 1",
    "the other": "b[k[i], 1] += 1",
    "times a variable": "a[i * w] += 1",
    "a changed variable": "j = i\nj = j % 5\na[j] += 1",
}


@pytest.mark.parametrize("name", [*OWN, *NOT_OWN])
def test_copies_are_made_where_iterations_meet_alone(name):
    body = {**OWN, **NOT_OWN}[name]
    function = of_body(body, "w = 4\nh = 3\nb = np.zeros((len(k) + 60, 3))\nt = b.T")
    k, x = operands(1000, numpy.float64)
    a = numpy.zeros(20_000)
    function(a, k, x)
    assert ("updates a copy of" in str(function.explain())) == (name in NOT_OWN)
    expected = numpy.zeros(20_000)
    function.py_func(expected, k, x)
    assert numpy.array_equal(a, expected)


REFUSED = {
    "read": ("a[k[i]] += 1\nx[i] = a[3]", "is read here, which is no update"),
    "read in the index": ("k[k[i]] += 1", "is read here, which is no update"),
    "read in the value": ("a[k[i]] += a[i]", "is read here, which is no update"),
    "set": ("a[k[i]] += 1\na[i] = 0", "gets a new value here"),
    "two operations": ("a[k[i]] += 1\na[k[i]] *= 2", "is updated by two operations"),
    "order": ("a[k[i]] = 1 - a[k[i]]", "no update of a reduction|order does not matter"),
    "through a view": ("v = a[k[i]:]\nv[0] += 1", "'v' is a part of 'a'"),
    "two names": ("a[k[i]] += c[i]", "'a' and 'c' are one array"),
    "in a function": ("a[k[i]] += 1\nx[i] = g(i)", "'g' reads 'a', which this loop over prange changes"),
    "rounded": ("k[i // 2] += x[i]", "'k' has integers"),
    "the one before": ("a[i] = a[i - 1] + 1", "uses an element of 'a' here that another one writes"),
    "the one behind": ("a[i + 1] = x[i]\nx[i] = a[i]", "uses an element of 'a' here that another one writes"),
    "a row before": (
        "for j in range(3):\n    b[i, j] = b[i - 1, j]",
        "uses an element of 'b' here that another one writes",
    ),
    "one element": ("a[0] = x[i]", "every iteration of prange writes the same element of 'a'"),
    "an item of a tuple": ("t[0][k[i]] += 1", "'t' is tuple"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, message = REFUSED[name]
    before = "b = np.zeros((9, 3))\nc = a\nt = (x, 1)"
    if name == "in a function":
        before += "\ndef g(j):\n    return a[j]"
    function = of_body(body, before)
    with pytest.raises(weft.CompileError, match=message) as caught:
        function(numpy.ones(60), numpy.arange(9), numpy.ones(60))
    assert len(str(caught.value).splitlines()) <= 8


# Not seen to be in each other's way.
FINE = {
    "a flag": "if x[i] > 3:\n    a[0] = 1",
    "halves": "a[2 * i] = a[2 * i + 1] + x[i]",
    "under a condition": "if i % 2 == 1:\n    a[i] = a[i - 1]",
    "chosen places": "a[k[i]] = 7",
    "far away": "a[i] = a[i + len(k)]",
}


@pytest.mark.parametrize("name", FINE)
def test_not_refused(name):
    function = of_body(FINE[name])
    k, x = operands(500, numpy.float64)
    a, expected = numpy.arange(2000.0), numpy.arange(2000.0)
    function(a, k, x)
    function.py_func(expected, k, x)
    assert numpy.array_equal(a, expected)
