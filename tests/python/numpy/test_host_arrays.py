"""Arrays of dtypes that weft leaves to NumPy: objects, strings, dates, structures, long doubles, other byte orders.

Each program runs with NumPy and with weft; results agree in kind, dtype, shape and text.
"""

import copy
import datetime
import decimal
import fractions
import io
import pickle
import warnings

import numpy
import pytest
import weft

WORDS, DAYS = ["b", "a", "b"], ["2020-01-01", "2020-02-01", "NaT"]
FIELDS = [("x", "f8"), ("y", "i8")]


def strings(np):
    words = np.array(WORDS)
    yield words, words == "b", words < "b", words[1:], words[words == "b"], words[0], len(words), words.dtype
    yield np.sort(words), np.argsort(words), np.unique(words, return_counts=True), np.isin(words, ["a"])
    yield np.sort(WORDS), np.concatenate([words, words]), np.where([True, False, True], words, "z")
    yield np.add(words, words), np.add(["a"], ["b"]), np.arange(3).astype("U"), np.arange(3).astype("S")
    yield np.array(["1.5", "2"]).astype(float) + 1, np.zeros(2, "U5"), np.full(2, "ab"), np.array([b"x"])
    yield np.char.upper(words), np.strings.str_len(words) + 1, words.reshape(3, 1).T, words.tolist()
    yield np.concatenate([np.arange(3), words]), np.array_equal(words, words), np.array2string(words)
    yield (
        np.lexsort((words, np.arange(3))),
        np.arange(3)[np.argsort(words)],
        np.where(np.arange(3) > 1, "a", "b"),
    )
    yield np.vectorize(len)(words), np.fromiter(WORDS, "U1"), np.frombuffer(b"abcd", "S2")
    changed = np.array(WORDS)
    changed[0] = "q"
    changed[1:] = np.array(["r", "s"])
    yield changed, copy.copy(changed), copy.deepcopy(changed), pickle.loads(pickle.dumps(changed))


def objects(np):
    things = np.array([1, None, "x"], dtype=object)
    yield (
        things,
        np.array([1, None]),
        np.array(None),
        np.array([2**100, 1]),
        np.zeros(2, object),
        np.empty(2, "O"),
    )
    yield np.array([[1, 2], [3]], dtype=object), np.arange(3).astype(object) + 1, things == 1
    yield np.sum(np.array([1, 2, 3], object)), np.median(np.array([1, 3, 2], object)), things[2]
    yield (
        np.arange(3) * fractions.Fraction(1, 3),
        np.arange(3) + decimal.Decimal(2),
        decimal.Decimal(2) - np.arange(3),
    )
    yield np.array([datetime.date(2020, 1, 1)]), np.arange(4).sum(dtype=object)


def dates(np):
    days = np.array(DAYS, dtype="datetime64[D]")
    yield (
        days,
        np.diff(days),
        days[1] - days[0],
        np.isnat(days),
        days.astype("i8")[:2] + 1,
        days + np.timedelta64(1, "D"),
    )
    yield np.arange("2020-01", "2020-05", dtype="datetime64[M]"), np.datetime64("2020-01-01") + 1
    yield np.busday_count("2011-01", "2011-02"), np.datetime_as_string(days), np.is_busday(days[:2])
    yield np.promote_types("M8[D]", "M8[s]"), np.issubdtype(days.dtype, np.datetime64), days.dtype
    yield np.add(numpy.datetime64("2020"), 1), np.array(numpy.timedelta64(5))


def structures(np):
    records = np.zeros(3, dtype=FIELDS)
    records["x"][1] = 5
    records["y"] = np.arange(3)
    yield records, records["x"] + 1, records["y"].sum(), records[1], records[["x"]], records.dtype.names
    yield np.arange(4, dtype="f8").view([("a", "f4"), ("b", "f4")]), np.sort(records, order="y")
    yield np.rec.fromarrays([np.arange(3), np.arange(3.0)], names="a,b").b + 1
    yield np.loadtxt(["a 1", "b 2"], dtype=[("n", "U1"), ("v", "i4")])


def others(np):
    yield (
        np.arange(3.0).astype("longdouble").sum(),
        np.longdouble(1) / 3,
        np.ones(2, "longdouble") + np.ones(2),
    )
    yield (
        np.array([1, 2], dtype=">i4") + 1,
        np.dtype(">f8"),
        np.result_type("U3", "i4"),
        np.can_cast("i4", "U11"),
    )
    yield np.bmat([[[[1, 2]]], [[[3, 4]]]]) * 2, [int(x) for x in np.nditer(np.arange(3))]
    yield np.histogram(np.array([1, 2], dtype=object))
    yield np.issubdtype(np.array(WORDS).dtype, np.str_), np.issubdtype(np.float64, np.character)
    stream = io.BytesIO()
    np.save(stream, np.array(WORDS))
    stream.seek(0)
    yield np.load(stream)


def flat(value):
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from flat(each)
    else:
        yield value


@pytest.mark.parametrize("program", [strings, objects, dates, structures, others])
def test_programs(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step, (theirs, ours) in enumerate(zip(program(numpy), program(weft), strict=True)):
            for expected, result in zip(flat(theirs), flat(ours), strict=True):
                assert repr(result) == repr(expected).replace("np.ndarray", "ndarray"), step
                assert isinstance(result, weft.ndarray) == isinstance(expected, numpy.ndarray), step
                if isinstance(expected, numpy.ndarray):
                    assert result.dtype == expected.dtype and result.shape == expected.shape, step


def test_numeric_results_are_wefts_own():
    words = weft.array(WORDS)
    for result in (
        words == "b",
        weft.argsort(words),
        weft.strings.str_len(words),
        words.astype("S").view("u1"),
    ):
        assert type(result) is weft.ndarray
    assert type(weft.zeros(3, FIELDS)["x"]) is weft.ndarray
    assert type(weft.sum(weft.array([1.5, 2], object).astype(float))) is weft.float64


def test_a_field_shares_its_memory():
    records = weft.zeros(3, FIELDS)
    field = records["x"]
    field[1] = 7
    field += 1
    assert records["x"].tolist() == [1, 8, 1] and numpy.asarray(records)["x"].tolist() == [1, 8, 1]


def test_numpys_functions_take_them():
    words = weft.array(WORDS)
    assert numpy.asarray(words).dtype == "U1"
    joined = numpy.concatenate([words, words])
    assert isinstance(joined, weft.ndarray) and joined.tolist() == WORDS * 2
    assert numpy.equal(words, "b").tolist() == [True, False, True]


def test_errors_are_numpys():
    for wrong in (
        lambda np: np.add(np.array(WORDS), 1),
        lambda np: np.zeros("abc"),
        lambda np: np.array(WORDS).reshape(7),
        lambda np: np.array(WORDS)[5],
        lambda np: np.array(WORDS).nonsense,
        lambda np: np.sum("abc"),
        lambda np: np.dtype("f3"),
        lambda np: np.array(WORDS, dtype=float),
    ):
        with pytest.raises(Exception) as theirs:
            wrong(numpy)
        builtin = next(kind for kind in type(theirs.value).__mro__ if kind.__module__ == "builtins")
        with pytest.raises(builtin):
            wrong(weft)


def test_they_stay_on_the_host():
    words = weft.array(WORDS)
    assert words.device == "cpu" and words.to_device("cpu") is words
    with pytest.raises(TypeError, match="on the host alone"):
        words.to_device("cuda")


def test_what_numpy_does_is_counted_by_line():
    weft.clear_fallbacks()
    words = weft.array(WORDS)
    for _ in range(3):
        weft.sort(words)
    rows = {row["function"]: row for row in weft.fallback_report()}
    assert rows["sort"]["calls"] == 3 and rows["array"]["calls"] == 1
    assert rows["sort"]["reason"] == "dtype <U1" and "test_host_arrays.py:" in rows["sort"]["line"]
    assert rows["sort"]["bytes"] == 0 and rows["sort"]["seconds"] > 0
    assert "sort" in repr(weft.fallback_report())
    weft.clear_fallbacks()
    assert weft.fallback_report() == [] and "nothing" in repr(weft.fallback_report())


def test_numpy_may_be_refused():
    with weft.config(fallback="error"):
        assert weft.config.fallback == "error"
        with pytest.raises(NotImplementedError, match="array would be done by NumPy"):
            weft.array(WORDS)
        assert weft.arange(3).sum() == 3
    with weft.config(fallback="warn"), pytest.warns(RuntimeWarning, match="done by NumPy"):
        weft.array(WORDS)
    assert weft.config.fallback == "silent"
    with pytest.raises(ValueError, match="silent, warn or error"):
        weft.config.fallback = "loud"
