"""Texts of which a branch or a loop decides which of several it is; and identity."""

import numpy
import pytest
import weft as np


def name_of(x):
    if x > 1:
        name = "many"
    elif x == 1:
        name = "one"
    else:
        name = ""
    return name


@pytest.mark.parametrize("x", [-1, 0, 1, 2])
def test_a_branch_decides(x):
    def used(x):
        name = name_of(x)
        other = "one" if x else "none"
        return (
            name == "one", name != "many", name == other, name < "nine", name >= other, len(name), bool(name),
            "an" in name, name in ("one", "two"), name in other, name + "!" + other, f"<{name:>6}>", str(name),
            name is other, max(name, other), isinstance(name, str), name == x,
        )  # fmt: skip

    assert np.jit(name_of)(x) == name_of(x)
    assert np.jit(used)(x) == used(x)


def test_texts_beyond_ascii():
    def f(x):
        name = "größe" if x else "a"
        return len(name), name, name < "ä", len("größe")

    for x in (0, 1):
        assert np.jit(f)(x) == f(x)


def test_a_loop_decides(capsys):
    def last(items):
        found = "nothing"
        for x in items:
            if x < 0:
                found = "negative"
            elif x > 10:
                found = "large"
                break
        print(found)
        return found

    for items in ([], [-1, 2], [20, -1], [1]):
        assert np.jit(last)(numpy.array(items)) == last(numpy.array(items))
    shown = capsys.readouterr().out.split()
    assert shown[::2] == shown[1::2]


def test_errors_and_what_may_be_none():
    def f(x):
        text = "positive" if x > 0 else "negative"
        if x == 0:
            text = None
        if text is None:
            return text
        if x > 5:
            raise ValueError(text, x)
        raise KeyError(text)

    for x in (-1, 0, 1, 6):
        outcomes = []
        for function in (np.jit(f), f):
            try:
                outcomes.append(function(x))
            except Exception as error:
                outcomes.append((type(error), error.args))
        assert outcomes[0] == outcomes[1]

    def caught(x):
        try:
            if x:
                raise ValueError("no")
            return "not raised"
        except ValueError:
            return "caught"

    assert [np.jit(caught)(x) for x in (0, 1)] == ["not raised", "caught"]


def test_lists_of_texts():
    def f(n):
        names = ["b", "a", "c", "a"]
        names.append("zz" if n else "b")
        found = [len(name) for name in names if name != "c"]
        return (
            names,
            sorted(names),
            names[n],
            names.index("c"),
            names.count("a"),
            "zz" in names,
            found,
            max(names),
        )

    for n in (0, 1):
        assert np.jit(f)(n) == f(n)


def test_texts_go_through_calls():
    def inner(text, n):
        return text if n else "inner"

    def f(n):
        return inner("one" if n > 1 else "two", n), inner("three", n)

    for n in range(3):
        assert np.jit(f)(n) == f(n)


VALUES = [1, 2, 1.0, -0.0, 0.0, True, numpy.float64(1), numpy.int64(1), 2j, float("nan"), None, "a", "b"]


def test_identity():
    compiled = np.jit(lambda a, b: (a is b, a is not b))
    for i, a in enumerate(VALUES):
        for k, b in enumerate(VALUES):
            assert compiled(a, b) == (i == k, i != k), (a, b)


def test_identity_of_arrays():
    def f(a, b):
        c = a
        return a is b, a is c, c is not b, a is None, a[1:] is a

    a, b = numpy.arange(3), numpy.arange(3)
    assert np.jit(f)(a, b) == (False, True, True, False, False)
    assert np.jit(f)(a, a)[:3] == (True, True, False)


def test_identity_of_what_may_be_none():
    def f(a, n):
        x = a if n else None
        y = 3 if n > 1 else None
        return x is y, x is not y, x is a, x is None

    for n in range(3):
        for a in (3, 4):
            x, y = a if n else None, 3 if n > 1 else None
            assert np.jit(f)(a, n) == (x == y, x != y, x == a, x is None)


def test_what_no_text_can_do_is_refused():
    with pytest.raises(np.CompileError, match="dtype"):
        np.jit(lambda n: np.zeros(n, "f4" if n else "f8"))(3)


def test_texts_beside_none_are_compared():
    def f(x, n):
        some = None if n else "b"
        return 5 in [None, "b"], x in [None, "b"], x in ("a", None), some == x, some != "b", some == None  # noqa: E711

    for x in (5, "b", "q", None):
        for n in (0, 1):
            assert np.jit(f)(x, n) == f(x, n)
