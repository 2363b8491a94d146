"""Texts that are made when the code runs, beside CPython's."""

import gc

import numpy
import pytest
import weft as np


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error).partition("\n")[0]  # pytest adds to what an assert says


def agree(function, *arguments):
    found, expected = outcome(np.jit(function), *arguments), outcome(function, *arguments)
    assert found == expected and type(found) is type(expected), arguments
    return found


def grows(n):
    text = "a"
    for i in range(n):
        text = text + "b" if i % 3 else "ä" + text
    return text


def test_a_text_grows():
    for n in (0, 1, 2, 50):
        agree(grows, n)


def digits(n):
    text = ""
    while n > 0:
        text = "0123456789"[n % 10] + text
        n //= 10
    return text or "0"


def test_characters_of_known_texts():
    for n in (0, 7, 1234567890):
        agree(digits, n)
    agree(lambda s, i: s[i], "größe", 2)
    agree(lambda s, i: s[i], "größe", -5)
    agree(lambda s, i: s[i], "größe", 5)
    agree(lambda s, i: s[i], "größe", -6)


def test_slices():
    def f(n, i, j, k):
        text = "x" * n + "abcdefg"
        return text[i:j], text[i:], text[:j], text[::k], text[i:j:k], text[-3:], len(text[i:j]), text[:]

    for i in (-20, -3, 0, 2, 9):
        for j in (-4, 0, 5, 30):
            for k in (1, 2, -1, -3):
                agree(f, 3, i, j, k)


def test_comparisons_and_truth():
    def f(n):
        a, b = "ab" * n, "ab" + "ab" * (n - 1)
        return (
            a == b, a != b, a < b, a <= "abab", a > "abc", a >= b, bool(a), not a, a == "abab", "abab" == a,
            "ba" in a, a in "xababx", "zz" not in a, a == 3, a in ("ab", "abab"), a is None, isinstance(a, str),
        )  # fmt: skip

    for n in (1, 2, 3):
        agree(f, n)


def test_iteration():
    def f(n):
        text = "añb" * n
        found = []
        for i, c in enumerate(text):
            if c != "b":
                found.append(c + str(i))
        return found, [c for c in text if c], sum([1 for c in text if c == "a"])

    for n in (0, 1, 3):
        agree(f, n)


METHODS = [
    lambda t: (t.upper(), t.lower(), t.swapcase(), t.capitalize(), t.title()),
    lambda t: (t.strip(), t.lstrip(), t.rstrip(), t.strip(" x"), t.lstrip("hx "), t.rstrip("x")),
    lambda t: (
        t.find("l"),
        t.rfind("l"),
        t.find("l", 4),
        t.find("l", -3, -1),
        t.find(""),
        t.rfind(""),
        t.count("l"),
    ),
    lambda t: (
        t.count("ll"),
        t.count(""),
        t.startswith("he"),
        t.endswith("x"),
        t.startswith(("q", "he", "  ")),
    ),
    lambda t: (t.split(), t.split("l"), t.split("l", 1), t.split(None, 1), t.split(sep="ll"), t.splitlines()),
    lambda t: (t.replace("l", "LL"), t.replace("l", "", 1), t.replace("", "-"), t.replace("ll", "x", 5)),
    lambda t: (t.ljust(20), t.rjust(20, "*"), t.center(21, "-"), t.zfill(20), t.zfill(2)),
    lambda t: (t.isupper(), t.islower(), t.isalpha(), t.isalnum(), t.isdigit(), t.isspace(), t.isascii()),
    lambda t: (t.removeprefix("he"), t.removesuffix("x"), t.removeprefix("q"), t * 2, 3 * t, t * 0, -1 * t),
    lambda t: (t.index("l"), t.rindex("l")),
    lambda t: t.split(""),
    lambda t: (hash(t) == hash(t + ""), str(t), repr(t), f"<{t}>", f"{t!r:>30}"),
]
TEXTS = ["", "hello", "  hello world x", "HELLO", "hello\nlines\r\nxx", "123", "-12", "x", "l"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", TEXTS)
def test_methods(method, text):
    def joined(a, b):
        return method(a + b)

    agree(joined, text[: len(text) // 2], text[len(text) // 2 :])
    agree(method, text)  # a known text


def test_spaces_beyond_ascii():
    agree(lambda t: (t.strip(), t.split(), t.isspace()), "\u2003größe\u00a0x\u3000")


def test_case_beyond_ascii_is_refused_when_it_is_met():
    f = np.jit(lambda t: t.upper())
    assert f("abc") == "ABC"
    with pytest.raises(ValueError, match="beyond ASCII"):
        f("größe")


def test_join():
    def f(n):
        names = ["a", "b"]
        for i in range(n):
            names.append("n" + str(i))
        return (
            ", ".join(names),
            "".join(names),
            "-".join(("x", names[0], "z")),
            "".join([c * 2 for c in "abc"]),
        )

    for n in (0, 1, 3):
        agree(f, n)


def test_numbers():
    def f(text):
        return int(text)

    def g(text):
        return float(text)

    def later(part, whole):
        return whole(part + "")

    for text in (
        "12",
        " -7 ",
        "+3",
        "1_000",
        "x",
        "",
        "1__0",
        "_1",
        "9223372036854775807",
        "-9223372036854775808",
    ):
        agree(f, text)
        agree(lambda t: int("0" + t) if t[:1] == "1" else int(t + ""), text)
    for text in ("1.5", "-inf", "nan"[:0] + "1e5", "  2_0.5 ", "x", "0x1p3", "1e400", ""):
        agree(lambda t: float(t + ""), text)
    with pytest.raises(OverflowError):
        np.jit(lambda t: int((t + "0")[:]))("9223372036854775807")


def test_texts_of_numbers():
    def f(n, x, flag):
        text = ""
        for _ in range(2):
            text = text + f"{n}:{x}:{flag}:{None};" + str(n) + str(x)
        return text, len(text)

    numbers = (0, 1, -1, 10, 1234567890123, -(2**63), 2**63 - 1)
    floats = (
        0.0,
        -0.0,
        1.0,
        0.1,
        1e16,
        1e15,
        123456.789,
        1e-5,
        0.0001,
        5e-324,
        1.7976931348623157e308,
        float("inf"),
    )
    for n in numbers:
        for x in floats:
            agree(f, n, x, n > 0)


def test_dictionaries_and_sets():
    def f(n):
        counts = {}
        for word in ("the cat and the dog and " * n).split():
            if word in counts:
                counts[word] += 1
            else:
                counts[word] = 1
        names = {"the"}
        for word in counts:
            names.add(word)
        return counts, len(names), "cat" in names, names

    for n in (1, 3):
        agree(f, n)


def test_dictionaries_of_known_texts():
    def f(x):
        d = {}
        d["a"] = 1
        d["b"] = x
        e = {"one": "uno", "two": "dos"}
        total = 0
        for k, v in d.items():
            total += v * len(k)
        return d, d["b"], "c" in d, total, e["two"], d.get("q", 7), e

    agree(f, 5)
    agree(lambda: {"a": 1}["b"])


def test_sorting():
    def f(n):
        words = ("pear fig apple date " + "x" * n).split()
        words.sort()
        return words, sorted(words, key=len), max(words), min(words)

    for n in (0, 1, 2):
        agree(f, n)


def test_errors_with_texts():
    def f(n):
        name = "x" * n
        if n == 1:
            raise ValueError(name)
        if n == 2:
            raise KeyError(f"no {name}", n)
        try:
            if n == 3:
                raise ValueError(name + "!")
        except ValueError:
            return "caught " + name
        assert n != 4, "of " + name
        return name

    for n in range(6):
        agree(f, n)


def test_print(capsys):
    def f(n):
        text = "a" * n
        print(text, [text, "b"], (text, 1), sep="|")
        print("".join(["ab"] * n))

    np.jit(f)(3)
    found = capsys.readouterr().out
    f(3)
    assert found == capsys.readouterr().out


def test_choices_and_what_may_be_none():
    def f(n):
        text = None
        if n > 0:
            text = "n" * n
        other = text if n > 1 else "none"
        if text is None:
            return other, 0
        return other + text, len(text)

    for n in range(4):
        agree(f, n)


def test_texts_go_through_calls_and_records():
    def shout(text, times):
        return text.upper() + "!" * times

    def f(n):
        pair = (shout("a" + "b" * n, n), shout("known", 1))
        return pair, [pair[0], pair[1]][n % 2]

    for n in range(3):
        agree(f, n)


def test_memory_is_given_back():
    def f(n):
        text = ""
        total = 0
        for i in range(n):
            text = "x" * 1000 + str(i)
            total += len(text)
        return total

    def peak():
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    compiled = np.jit(f)
    assert compiled(1000) == f(1000)
    gc.collect()
    before = peak()
    compiled(100_000)
    assert peak() - before < 20_000  # KiB; all texts together are 400 MB


def test_parameters_named_as_texts_are_arrays_no_more():
    f = np.jit(lambda a, n: (a + "x" * n, numpy.zeros(2)))
    text, array = f("a", 2)
    assert text == "axx" and array.tolist() == [0, 0]


def vowels(word):
    count = 0
    for c in word:
        if c in "aeiou":
            count += 1
    return count, word[::-1]


def test_many_texts_as_arguments_share_their_code():
    words = [f"word{'aeiou'[i % 5] * (i % 7)}{i}ß" for i in range(200)]
    compiled = np.jit(vowels)
    assert [compiled(word) for word in words] == [vowels(word) for word in words]
    assert len(compiled.signatures) < 30
    assert [compiled(word) for word in words[:3]] == [vowels(word) for word in words[:3]]


def test_many_names_of_dtypes_as_arguments_stay_known():
    compiled = np.jit(lambda name, x: np.zeros(1, name).itemsize if len(name) < 9 else 0)
    names = [
        "i1",
        "i2",
        "i4",
        "i8",
        "u1",
        "u2",
        "u4",
        "u8",
        "f4",
        "f8",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
    ]
    names += ["uint16", "uint32", "uint64", "float32", "float64", "bool"]
    assert [compiled(name, 1) for name in names] == [numpy.dtype(name).itemsize for name in names]


def test_lists_of_texts_as_arguments():
    def f(words, key):
        new = words[:]
        new.sort(key=key)
        words.append("added")
        return new, sorted(words, key=key, reverse=True), words[0], len(words), "b" in words

    for words in (["b", "a", "größe", "B"], ["one", ""]):
        for key in (None, np.jit(lambda t: t.lower() if t.isascii() else t)):
            found, expected = list(words), list(words)
            assert np.jit(f)(found, key) == f(expected, key)
            assert found == expected
    with pytest.raises(np.CompileError):
        np.jit(lambda words: words[0] + 1)(["a"])
