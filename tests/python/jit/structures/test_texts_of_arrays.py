"""Texts in arrays, dtypes S and U, in compiled functions, against NumPy."""

import numpy
import pytest
import weft as np

TEXTS = ["abc", "d", "", "abd", "zz"]
DTYPES = ["U3", "U7", "S3", "S8"]


def given(dtype):
    return numpy.array(TEXTS, dtype)


def same(got, expected):
    assert type(got) is type(expected)
    assert got == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_element_is_numpys_scalar(dtype):
    texts = given(dtype)
    for layout in (texts, texts[::-1], texts[::2], numpy.repeat(texts, 2)[::2]):
        for i in range(-2, 2):
            same(np.jit(lambda a, i: a[i])(layout, i), layout[i])


def test_an_element_that_is_read_is_a_copy():
    def swapped(a):
        first = a[0]
        a[0] = a[1]
        a[1] = first
        return first

    texts = given("U3")
    same(np.jit(swapped)(texts), numpy.str_("abc"))
    assert texts.tolist()[:2] == ["d", "abc"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", ["", "x", "abcdefghij"])
def test_a_known_text_is_stored_as_numpy_stores_it(dtype, text):
    def put(a, i, text):
        a[i] = text

    ours, theirs = given(dtype), given(dtype)
    for i in range(len(ours)):
        np.jit(put)(ours, i, text)
        put(theirs, i, text)
        numpy.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("of", "into"), [("U3", "U3"), ("U7", "U2"), ("U2", "U7"), ("S8", "S1"), ("S1", "S8")]
)
def test_texts_are_stored_in_arrays_of_other_lengths(of, into):
    def copied(a, b):
        b[0] = a[0]
        b[1:] = a[1:]
        return b

    source = given(of)
    theirs = copied(source, numpy.full(5, "?????????", into))
    ours = np.jit(copied)(source, numpy.full(5, "?????????", into))
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


def test_characters_that_are_no_ascii():
    texts = numpy.array(["\u00e9\u4e2d\U0001f600", "x"])

    def put(a):
        a[1] = "\u4e2d\U0001f600!?"
        return a[0] == "\u00e9\u4e2d\U0001f600", len(a[0]), a[1]

    same(np.jit(put)(texts), (True, 3, numpy.str_("\u4e2d\U0001f600!")))
    with pytest.raises(np.CompileError, match="'ascii' codec can't encode"):
        np.jit(put)(numpy.zeros(2, "S3"))


COMPARED = [
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
]


@pytest.mark.parametrize("compare", COMPARED)
@pytest.mark.parametrize(("left", "right"), [("U3", "U3"), ("U3", "U7"), ("S8", "S3")])
def test_texts_compare_as_numpys(compare, left, right):
    a, b = given(left), given(right)[::-1]
    compiled = np.jit(compare)
    numpy.testing.assert_array_equal(numpy.asarray(compiled(a, b)), compare(a, b))
    each = np.jit(lambda a, i, b, j: compare(a[i], b[j]))
    for i in range(len(a)):
        numpy.testing.assert_array_equal(
            numpy.asarray(np.jit(lambda a, b, i: compare(a, b[i]))(a, b, i)), compare(a, b[i])
        )
        for j in range(len(b)):
            assert bool(each(a, i, b, j)) == compare(a[i], b[j])


@pytest.mark.parametrize("compare", COMPARED)
@pytest.mark.parametrize("text", ["", "d", "abca"])
def test_texts_compare_with_known_ones(compare, text):
    a = given("U3").reshape(5, 1)
    numpy.testing.assert_array_equal(
        numpy.asarray(np.jit(lambda a: compare(a, text))(a)), compare(a, numpy.str_(text))
    )


def test_arrays_of_different_sizes_do_not_compare():
    with pytest.raises(ValueError, match="broadcast"):
        np.jit(lambda a, b: a == b)(given("U3"), given("U3")[1:])


def test_bytes_equal_no_text():
    same(np.jit(lambda a: (a[0] == "abc", a[0] != "abc"))(given("S3")), (False, True))
    with pytest.raises(np.CompileError, match="no order"):
        np.jit(lambda a: a[0] < "abc")(given("S3"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_length_and_truth(dtype):
    def told(a):
        total = 0
        for text in a:
            if text:
                total += len(text)
        return total

    assert np.jit(told)(given(dtype)) == told(given(dtype))


ASKED = [
    lambda a: numpy.nonzero(a),
    lambda a: a.nonzero(),
    lambda a: numpy.where(a),
    lambda a: (numpy.flatnonzero(a),),
    lambda a: (numpy.argwhere(a),),
    lambda a: (numpy.count_nonzero(a),),
]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_that_ask_for_what_is_not_empty(ask, dtype):
    for texts in (given(dtype), given(dtype)[::2], numpy.array([TEXTS, TEXTS[::-1]], dtype)):
        for got, expected in zip(np.jit(ask)(texts), ask(texts), strict=True):
            numpy.testing.assert_array_equal(numpy.asarray(got), expected)


@pytest.mark.parametrize("trim", ["f", "b", "fb"])
@pytest.mark.parametrize("row", [["", "a", "", "b", ""], ["", ""], ["x"]])
def test_empty_texts_are_trimmed(row, trim):
    texts = numpy.array(row)
    trimmed = np.jit(lambda a: numpy.trim_zeros(a, trim))(texts)
    assert numpy.asarray(trimmed).tolist() == numpy.trim_zeros(texts, trim).tolist()


def test_fields_are_read_and_written():
    dtype = numpy.dtype([("key", "U4"), ("size", "<i2"), ("tag", "S3")])  # not aligned
    ours = numpy.zeros(3, dtype)
    ours["key"], ours["tag"] = ["one", "two", "three"], [b"x", b"yyy", b""]
    theirs = ours.copy()

    def changed(a, i):
        key, tag = a[i]["key"], a["tag"][i]
        a[i]["key"] = "changed"
        a[i]["tag"] = a[i - 1]["tag"]
        a[i]["size"] = len(key)
        return key, tag, a[i]["key"]

    for i in range(3):
        same(np.jit(changed)(ours, i), changed(theirs, i))
        numpy.testing.assert_array_equal(ours, theirs)


def test_texts_are_printed(capsys):
    def show(a, i):
        print(a[i], a[i + 1], i)

    for dtype in DTYPES:
        show(given(dtype), 0)
        expected = capsys.readouterr().out
        np.jit(show)(given(dtype), 0)
        assert capsys.readouterr().out == expected


def test_what_texts_do_not_have_is_told():
    for refused in (lambda a: a[0][0], lambda a: a[0].upper, lambda a: a[0] + "x"):
        with pytest.raises(np.CompileError):
            np.jit(refused)(given("U3"))
    with pytest.raises(np.CompileError, match="cannot be stored in a text"):

        def put(a):
            a[0] = 3

        np.jit(put)(given("U3"))


def test_memory_of_texts_that_are_read_is_given_back():
    def last(a):
        found = a[0]
        for text in a:
            if text > found:
                found = text
        return found

    same(np.jit(last)(numpy.repeat(given("U7"), 1000)), numpy.str_("zz"))
