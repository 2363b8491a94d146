"""Arrays of texts (dtypes S and U) whose order, sets, comparisons and contents the engine finds, beside NumPy's.

Every result is NumPy's byte for byte; what the engine leaves to NumPy is counted, what it does is not.
"""

# ruff: noqa: B023 - what is made in a loop is called there

import random

import numpy
import pytest
import weft

ALPHABETS = (
    "ab",
    "abcdefgh",
    "aB .,\t\0x",
    "aé\u0301ßİ中\U0001f600",
    "a\x1c\x85\xa0\u2003 ",
    "".join(map(chr, range(1, 128))),
)
KINDS = ("S", "U")


def texts_of(source, kind, shape, width, alphabet):
    """NumPy's array of few or many different texts, shorter ones among them."""
    if kind == "S":
        alphabet = alphabet.encode("latin1", "ignore").decode("latin1")
    count = int(numpy.prod(shape))
    pool = [
        "".join(source.choice(alphabet) for _ in range(source.randint(0, width)))
        for _ in range(source.choice([3, 20, max(count, 1)]))
    ]
    chosen = [source.choice(pool) for _ in range(count)]
    if kind == "S":
        chosen = [each.encode("latin1") for each in chosen]
    array = numpy.zeros(count, f"{kind}{width}")
    for i, text in enumerate(chosen):
        array[i] = text
    return array.reshape(shape)


def arranged(source, array):
    """The same array, or one that lies otherwise in memory."""
    way = source.randrange(5)
    if way == 0 and array.ndim:
        return array[::-1]
    if way == 1 and array.ndim:
        return numpy.repeat(array, 2, axis=-1)[..., ::2]
    if way == 2:
        return array.T
    if way == 3 and array.ndim == 1:
        fields = numpy.zeros(array.shape, [("number", "i1"), ("text", array.dtype)])  # not aligned
        fields["text"] = array
        return fields["text"]
    return array


def ours(array):
    return weft.asanyarray(array)


def outcome(call):
    try:
        return call(), None
    except Exception as error:
        return None, type(error).__name__.strip("_")


def assert_same(got, expected, what):
    if isinstance(expected, tuple):
        assert len(got) == len(expected), what
        for mine, theirs in zip(got, expected, strict=True):
            assert_same(mine, theirs, what)
    elif isinstance(expected, list):
        assert got == expected, what
    else:
        mine, theirs = numpy.asarray(got), numpy.asarray(expected)
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), what
        assert mine.tobytes() == theirs.tobytes(), (what, mine, theirs)


def check(what, call, theirs, mine):
    """call(module, *arrays) with NumPy's arrays and weft's."""
    (expected, error), (got, my_error) = (
        outcome(lambda: call(numpy, *theirs)),
        outcome(lambda: call(weft, *mine)),
    )
    assert error == my_error, what
    if error is None:
        assert_same(got, expected, what)


SETS = ("intersect1d", "union1d", "setxor1d", "setdiff1d")
OPERATORS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__")
SEARCHES = ("find", "rfind", "count", "startswith", "endswith")
CASES = ("lower", "upper", "swapcase", "capitalize", "title")


@pytest.mark.parametrize("seed", range(40))
def test_every_function_beside_numpy(seed):
    source = random.Random(seed)
    kind, alphabet = source.choice(KINDS), source.choice(ALPHABETS)
    width = source.choice([1, 2, 3, 5, 8, 9, 16, 17, 33, 64])
    count = source.choice([0, 1, 2, 5, 30, 300, 3000])
    shape = source.choice([(count,), (count,), (3, count // 3), (count // 6, 2, 3)])
    a = arranged(source, texts_of(source, kind, shape, width, alphabet))
    b = texts_of(source, kind, a.shape, source.choice([width, width + 3, max(width - 1, 1)]), alphabet)
    b = arranged(source, b).reshape(a.shape)
    if source.random() < 0.1 and kind == "U":
        b = b.astype(b.dtype.newbyteorder())  # NumPy's
    one = a.flat[source.randrange(a.size)] if a.size else ("x" if kind == "U" else b"x")
    part = one[: source.randint(0, 2)]
    A, B = ours(a), ours(b)

    for axis in (-1, 0, 1, None, 7):
        for order in (None, "stable", "bad"):
            check(("sort", axis, order), lambda m, x: m.sort(x, axis, order), (a,), (A,))
        check(("argsort", axis), lambda m, x: m.argsort(x, axis, "stable"), (a,), (A,))
    check("sort in place", lambda m, x: [y := x.copy(), y.sort()] and y, (a,), (A,))
    for asked in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)):
        check(("unique", asked), lambda m, x: m.unique(x, *map(bool, asked)), (a,), (A,))
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        check(name, lambda m, x: getattr(m, name)(x), (a,), (A,))
    check("unique_values", lambda m, x: m.sort(m.unique_values(x)), (a,), (A,))
    row = numpy.sort(a.ravel())
    for side in ("left", "right", "middle"):
        check(("searchsorted", side), lambda m, r, x: m.searchsorted(r, x, side), (row, b), (ours(row), B))
    for invert in (False, True):
        check("isin", lambda m, x, y: m.isin(x, y, invert=invert), (a, b), (A, B))
        check("isin few", lambda m, x, y: m.isin(x, y[:2], invert=invert), (a, b), (A, B))
    for name in SETS:
        check(name, lambda m, x, y: getattr(m, name)(x, y), (a, b), (A, B))
    check("indices", lambda m, x, y: m.intersect1d(x, y, return_indices=True), (a, b), (A, B))
    for name in OPERATORS:
        check(name, lambda m, x, y: getattr(x, name)(y), (a, b), (A, B))
        check((name, one), lambda m, x: getattr(x, name)(one), (a,), (A,))
    for name in ("equal", "less", "greater_equal"):
        check(name, lambda m, x, y: getattr(m, name)(x, y), (a, b), (A, B))
        check(name, lambda m, x: getattr(m.strings, name)(x, one), (a,), (A,))
    check("char.add", lambda m, x, y: m.char.add(x, y), (a, b), (A, B))
    check("str_len", lambda m, x: m.char.str_len(x), (a,), (A,))
    for name in SEARCHES:
        check((name, part), lambda m, x: getattr(m.char, name)(x, part), (a,), (A,))
        check(name, lambda m, x, y: getattr(m.strings, name)(x, y), (a, b), (A, B))
        check((name, "from 1"), lambda m, x: getattr(m.strings, name)(x, part, 1), (a,), (A,))
    for name in ("strip", "lstrip", "rstrip"):
        check(name, lambda m, x: getattr(m.char, name)(x), (a,), (A,))
        check((name, part), lambda m, x: getattr(m.char, name)(x, part), (a,), (A,))
    for name in CASES:
        check(name, lambda m, x: getattr(m.char, name)(x), (a,), (A,))
    check("tolist", lambda m, x: x.tolist(), (a,), (A,))
    if a.ndim == 1:
        numbers = numpy.random.default_rng(seed).integers(0, 3, a.shape)
        for way in (lambda m, x, k: m.lexsort((x, k)), lambda m, x, k: m.lexsort((k, x))):
            check("lexsort", way, (a, numbers), (A, weft.asarray(numbers)))
        texts = a.tolist()
        check("array", lambda m: m.array(texts), (), ())
    del A, B


def many(kind, style, width, count=150_000):
    """Arrays that are sorted in each of the ways that the engine has."""
    source = numpy.random.default_rng(len(style) + width)
    letters = numpy.frombuffer(b"abcdefghijklmnopqrstuvwxyz", "u1")
    if style == "few":
        characters = letters[source.integers(0, 26, (300, width))][source.integers(0, 300, count)]
    else:
        characters = letters[source.integers(0, 26, (count, width))]
    if style == "prefix":
        characters[:, : max(width - 3, 0)] = 97
    if style == "two prefixes":  # each is shared by more texts than one thread sorts
        characters[:, : max(width - 3, 0)] = source.integers(97, 99, (count, 1))
    array = numpy.ascontiguousarray(characters).view(f"S{width}").ravel()
    if style in ("ascending", "descending"):
        array = numpy.unique(array)
    if style == "descending":
        array = array[::-1].copy()
    if style == "nearly":
        array = numpy.sort(array)
        array[-1] = b"a"
    return array.astype(f"{kind}{width}")


STYLES = ("random", "few", "prefix", "two prefixes", "ascending", "descending", "nearly")


@pytest.mark.parametrize("width", [3, 8, 20])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_texts_on_all_threads(kind, style, width):
    a = many(kind, style, width)
    order = numpy.argsort(a, kind="stable")
    row = a[order]
    A, sorted_row = ours(a), ours(row)
    weft.clear_fallbacks()
    assert_same(weft.sort(A), row, "sort")
    assert_same(weft.argsort(A), order, "argsort")
    assert_same(weft.unique(A, True, True, True), numpy.unique(a, True, True, True), "unique")
    for side in ("left", "right"):
        assert_same(weft.searchsorted(sorted_row, A, side), numpy.searchsorted(row, a, side), side)
    assert_same(weft.isin(A, A[::7]), numpy.isin(a, a[::7]), "isin")
    assert weft.fallback_report() == []


def test_results_do_not_depend_on_threads():
    arrays = [many("U", style, 12) for style in STYLES]
    before = weft.config.num_threads
    found = []
    try:
        for threads in (1, 3):
            weft.config.num_threads = threads
            found.append([[*weft.unique(ours(a), True, True, True), weft.argsort(ours(a))] for a in arrays])
    finally:
        weft.config.num_threads = before
    for one, three in zip(*found, strict=True):
        for mine, theirs in zip(one, three, strict=True):
            assert_same(mine, numpy.asarray(theirs), "threads")


def test_only_texts_beyond_ascii_change_case_in_numpy():
    words = ["plain", "Straße", "İstanbul", *["Word"] * 20]
    weft.clear_fallbacks()
    array = weft.array(words)
    assert weft.char.upper(weft.array(["a", "B"])).tolist() == ["A", "B"]
    assert weft.fallback_report() == []
    assert weft.char.lower(array).tolist() == numpy.char.lower(numpy.array(words)).tolist()
    (row,) = weft.fallback_report()
    assert (row["function"], row["reason"]) == ("char.lower", "texts that are not of ASCII")


def test_what_the_engine_leaves_to_numpy_is_counted():
    words = weft.array(["b", "a", "b"])
    weft.clear_fallbacks()
    assert weft.strings.find(words, "b", 1).tolist() == [-1, -1, -1]
    assert weft.sort(words.astype(">U1")).tolist() == ["a", "b", "b"]
    assert {row["function"] for row in weft.fallback_report()} >= {"strings.find", "sort"}
    weft.config.fallback = "error"
    try:
        assert weft.sort(words).tolist() == ["a", "b", "b"]
        with pytest.raises(NotImplementedError):
            weft.strings.find(words, "b", 1)
    finally:
        weft.config.fallback = "silent"


def test_sort_leaves_what_cannot_be_written():
    array = numpy.array(["b", "a"])
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours(array).sort()
    assert array.tolist() == ["b", "a"]


def test_lists_with_something_else_are_numpys():
    for values in (["a", 1], ["a", b"b"], [["a"], ["b"]], [], ["a", None], ["", ""], [b"", b"xy"]):
        expected, got = numpy.array(values), weft.array(values)
        assert str(got.dtype) == str(expected.dtype) and got.tolist() == expected.tolist()


def test_code_points_that_are_none():
    raw = numpy.array([0x110000, 97, 0xFFFFFFFF], "u4").view("U1")
    array = ours(raw)
    assert weft.argsort(array).tolist() == [1, 0, 2]
    check("tolist", lambda m, x: x.tolist(), (raw,), (array,))
    assert ours(numpy.array(["\ud800x"])).tolist() == ["\ud800x"]
