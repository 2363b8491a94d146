"""Arrays of dtypes that weft leaves to NumPy: objects, strings, dates, structures, long doubles, other byte orders.

Each program runs with NumPy and with weft; results agree in kind, dtype, shape and text.
"""

import copy
import ctypes
import datetime
import decimal
import fractions
import io
import pickle
import warnings

import numpy
import pytest
import weft
from on_gpu import needs_gpu

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
    yield np.array(tuple(WORDS)), np.array(["a", 1]), np.array(("a", 1.5, True)), np.array((b"a", b"bc"))
    yield (
        np.array(WORDS, dtype=object),
        np.array([1, "a"], dtype=object),
        np.array([["a"], ["b"]]),
        np.array([]),
    )
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
    yield np.bmat([[[[1, 2]]], [[[3, 4]]]]) * 2, [int(x) for x in np.nditer(numpy.arange(3))]
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


CALLS = {
    "groupby": lambda np: [
        np.array([1, 2, 3])[np.array(["a", "b", "a"]) == k].sum()
        for k in np.unique(np.array(["a", "b", "a"]))
    ],
    "dict counts": lambda np: dict(
        zip(*[x.tolist() for x in np.unique(np.array(list("hello")), return_counts=True)])
    ),
    "choose str": lambda np: np.choose([0, 1], [np.array(["a", "b"]), np.array(["c", "d"])]),
    "select": lambda np: np.select([np.arange(3) < 1, np.arange(3) < 2], ["lo", "mid"], "hi"),
    "split": lambda np: np.split(np.array(["a", "b", "c", "d"]), 2),
    "tile": lambda np: np.tile(np.array(["a", "b"]), 2),
    "repeat": lambda np: np.repeat(["a", "b"], 2),
    "stack": lambda np: np.stack([np.array(["a"]), np.array(["b"])]),
    "hstack lists": lambda np: np.hstack([["a"], ["b", "c"]]),
    "append": lambda np: np.append(np.array(["a"]), "b"),
    "insert": lambda np: np.insert(np.array(["a", "c"]), 1, "b"),
    "delete": lambda np: np.delete(np.array(["a", "c"]), 0),
    "in1d": lambda np: np.intersect1d(["a", "b"], ["b", "c"]),
    "searchsorted": lambda np: np.searchsorted(np.array(["a", "c"]), "b"),
    "dates of NumPy's": lambda np: np.asarray(numpy.array(["2020-01-01", "2021-02-03"], dtype="M8[D]")),
    "dates of NumPy's joined": lambda np: np.concatenate([numpy.array(["2020-01-01"], dtype="M8[D]")] * 2),
    "dates copied": lambda np: np.array(np.array([["2020-01-01"]], dtype="M8[s]")),
    "durations of NumPy's": lambda np: np.unique(numpy.array([3, 1, 3], dtype="m8[h]")),
    "digitize dates": lambda np: np.digitize(np.array([1.5]), np.array([1, 2])),
    "max obj": lambda np: np.max(np.array([1, 5, 2], dtype=object)),
    "nan obj": lambda np: np.isnan(np.array([1.0, float("nan")], dtype=object).astype(float)),
    "datetime mean": lambda np: np.array(["2020-01-01", "2020-01-03"], dtype="M8[D]").astype("i8").mean(),
    "date range sel": lambda np: (lambda d: d[(d >= np.datetime64("2020-01-02"))])(
        np.arange("2020-01-01", "2020-01-05", dtype="M8[D]")
    ),
    "td div": lambda np: np.timedelta64(3, "D") / np.timedelta64(1, "h"),
    "td arr div": lambda np: (
        np.diff(np.arange("2020-01-01", "2020-01-05", dtype="M8[D]")) / np.timedelta64(1, "D")
    ),
    "td sum": lambda np: np.diff(np.arange("2020-01-01", "2020-01-05", dtype="M8[D]")).sum(),
    "rec sort": lambda np: np.sort(
        np.array([("b", 2), ("a", 1)], dtype=[("n", "U1"), ("v", "i4")]), order="n"
    ),
    "rec field assign": lambda np: (lambda a: (a.__setitem__("v", [5, 6]), a)[1])(
        np.zeros(2, dtype=[("n", "U1"), ("v", "i4")])
    ),
    "rec view": lambda np: np.zeros(2, dtype=[("n", "f4"), ("v", "f4")]).view("f4").reshape(2, 2),
    "nested dtype": lambda np: np.zeros(1, dtype=np.dtype([("p", [("x", "f4"), ("y", "f4")])]))["p"]["x"],
    "dtype from float": lambda np: np.dtype([("a", np.float32), ("b", np.int64, (2,))]),
    "array of lists": lambda np: (lambda a: (a.__setitem__(0, [1, 2]), a)[1])(np.empty(2, dtype=object)),
    "object dot": lambda np: np.dot(np.array([1, 2], dtype=object), np.array([3, 4], dtype=object)),
    "object mat": lambda np: (
        np.array([[1, 2], [3, 4]], dtype=object) @ np.array([[1, 0], [0, 1]], dtype=object)
    ),
    "obj + weft": lambda np: np.array([1, 2], dtype=object) + np.arange(2),
    "weft + obj": lambda np: np.arange(2) + np.array([1, 2], dtype=object),
    "iadd": lambda np: (lambda a: (a.__iadd__(1), a)[1])(np.array([1, 2], dtype=object)),
    "weft[...]=obj": lambda np: (
        lambda a: (a.__setitem__(slice(None), np.array([1, 2], dtype=object)), a)[1]
    )(np.zeros(2)),
    "weft iadd obj": lambda np: np.add(np.arange(2.0), np.array([1, 2], dtype=object)),
    "any str": lambda np: any(np.array(["a", "b"]) == "b"),
    "str mult": lambda np: np.char.multiply(np.array(["a"]), 3),
    "join": lambda np: "-".join(np.array(["a", "b"])),
    "format": lambda np: f"{np.array(['a'])[0]:>3}",
    "sorted": lambda np: sorted(np.array(["b", "a"])),
    "enumerate": lambda np: [(i, str(x)) for i, x in np.ndenumerate(np.array(["a", "b"]))],
    "meshgrid": lambda np: np.meshgrid(np.array(["a"]), np.arange(2)),
    "argsort str idx": lambda np: np.arange(3.0)[np.array(["c", "a", "b"]).argsort()],
    "bool idx": lambda np: np.arange(3)[np.array(["c", "a", "b"]) != "a"],
    "mask astype": lambda np: (np.array(["c", "a"]) == "a").astype(int).sum(),
    "copyto": lambda np: (lambda a: (np.copyto(a, "z"), a)[1])(np.array(["c", "a"])),
    "full_like": lambda np: np.full_like(np.array(["c", "a"]), "z"),
    "zeros_like": lambda np: np.zeros_like(np.array(["c", "a"])),
    "empty_like shape": lambda np: np.empty_like(np.array(["c", "a"], dtype=object)),
    "savetxt": lambda np: (lambda s: (np.savetxt(s, np.array(["a", "b"]), fmt="%s"), s.getvalue())[1])(
        io.StringIO()
    ),
    "float128 lin": lambda np: np.linspace(0, 1, 3, dtype="longdouble"),
    "longdouble sum": lambda np: np.sum(np.ones(3), dtype=np.longdouble),
    "clongdouble": lambda np: np.ones(2, dtype=np.clongdouble) * 1j,
    "bytes": lambda np: np.array([b"a", b"bc"]).astype("U"),
    "frombuffer struct": lambda np: np.frombuffer(b"\x01\x00\x02\x00", dtype=[("a", "<i2"), ("b", "<i2")])[
        "b"
    ],
    "S to int": lambda np: np.array([b"12", b"3"]).astype(int),
    "big endian": lambda np: np.frombuffer(b"\x00\x01\x00\x02", dtype=">u2") + 1,
    "big endian sum": lambda np: np.array([1, 2], dtype=">f8").sum(),
    "newbyteorder": lambda np: np.dtype("i4").newbyteorder(">"),
    "timedelta pandas": lambda np: np.array([1, 2], dtype="timedelta64[s]").astype("m8[ms]"),
    "isinstance str_": lambda np: isinstance(np.array(["a"])[0], np.str_),
    "vectorize str": lambda np: np.vectorize(lambda s: s.upper())(np.array(["a", "bb"])),
    "apply_along": lambda np: np.apply_along_axis(lambda r: r[0], 1, np.array([["a", "b"], ["c", "d"]])),
    "r_": lambda np: np.r_[np.array(["a"]), np.array(["b"])],
    "c_": lambda np: np.c_[np.array(["a"]), np.array(["b"])],
    "T tolist": lambda np: np.array([["a", "b"], ["c", "d"]]).T.tolist(),
    "shape assign": lambda np: (lambda a: (setattr(a, "shape", (2, 1)), a)[1])(np.array(["a", "b"])),
    "broadcast_to": lambda np: np.broadcast_to(np.array(["a"]), (2,)),
    "atleast": lambda np: np.atleast_1d("a"),
    "ravel": lambda np: np.ravel([["a"], ["b"]]),
    "ndim": lambda np: np.ndim(["a"]),
    "shape fn": lambda np: np.shape([["a", "b"]]),
    "size fn": lambda np: np.size(["a"]),
    "array of arrays": lambda np: np.array([np.array(["a"]), np.array(["b"])]),
    "asarray dtype obj": lambda np: np.asarray([1, 2], dtype=object),
    "unique rows": lambda np: np.unique(np.array([["a", "b"], ["a", "b"]]), axis=0),
    "cumsum obj": lambda np: np.cumsum(np.array([1, 2], dtype=object)),
    "frompyfunc": lambda np: np.frompyfunc(lambda a, b: a + b, 2, 1)(
        np.array(["a"], dtype=object), "b"
    ).tolist(),
    "int of arr": lambda np: int(np.array("5")),
    "float arr": lambda np: float(np.array(3, dtype=object)),
    "where None": lambda np: np.where([True, False], None, [1, 2]),
    "ndmax": lambda np: np.array([[1, 2], [3, 4]], dtype=object, ndmax=1),
    "ndmax of numbers": lambda np: np.array([1, 2], ndmax=1),
    "isinstance dtype": lambda np: [
        isinstance(np.dtype(each), np.dtype) for each in ("U5", ">i4", "O", "M8[D]", "i4", "g")
    ],
    "issubclass": lambda np: [
        issubclass(np.str_, np.generic),
        issubclass(np.timedelta64, np.signedinteger),
        issubclass(np.longdouble, np.floating),
        issubclass(np.str_, np.number),
    ],
    "isinstance of scalars": lambda np: [
        isinstance(np.array(["a"])[0], np.generic),
        isinstance(np.longdouble(1), np.floating),
    ],
    "memory of strings": lambda np: bytes(np.array([b"ab", b"c"])),
    "memory of a structure": lambda np: memoryview(np.array([(1, 2.0)], FIELDS)).format,
    "asarray keeps the order": lambda np: np.asarray(np.array([1, 2], ">i4")),
    "array of other order": lambda np: np.array(np.array([1, 2], ">i4"), dtype="f8"),
    "getfield": lambda np: np.array([1 + 2j, 3]).getfield("f8", 8),
    "getfield of strings": lambda np: np.array([1, 2]).getfield("S4", 0),
    "setfield": lambda np: (lambda a: (a.setfield(5, "f8", 8), a)[1])(np.array([1 + 2j])),
    "ctypes": lambda np: [np.dtype(each) for each in (ctypes.c_int, ctypes.c_double, ctypes.c_char)],
    "StringDType": lambda np: np.array(["a", "bcd"], dtype=np.dtypes.StringDType()) + "!",
    "StringDType len": lambda np: np.strings.str_len(np.array(["a", "bcd"], dtype=np.dtypes.StringDType())),
    "_CopyMode": lambda np: np.array([1], copy=np._CopyMode.IF_NEEDED),
    "q": lambda np: [np.dtype("q").char, np.dtype("Q").num, np.dtype("q") == np.dtype("l")],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    assert repr(CALLS[name](weft)) == repr(CALLS[name](numpy))


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
    days = weft.array(DAYS, "M8[D]")
    for _ in range(3):
        weft.sort(days)
    rows = {row["function"]: row for row in weft.fallback_report()}
    assert rows["sort"]["calls"] == 3 and rows["array"]["calls"] == 1
    assert rows["sort"]["reason"] == "dtype <M8[D]" and "test_host_arrays.py:" in rows["sort"]["line"]
    assert rows["sort"]["bytes"] == 0 and rows["sort"]["seconds"] > 0
    assert "sort" in repr(weft.fallback_report())
    weft.clear_fallbacks()
    assert weft.fallback_report() == [] and "nothing" in repr(weft.fallback_report())


def test_numpy_may_be_refused():
    with weft.config(fallback="error"):
        assert weft.config.fallback == "error"
        with pytest.raises(NotImplementedError, match="array would be done by NumPy"):
            weft.array(DAYS, "M8[D]")
        assert weft.arange(3).sum() == 3
    with weft.config(fallback="warn"), pytest.warns(RuntimeWarning, match="done by NumPy"):
        weft.array(DAYS, "M8[D]")
    assert weft.config.fallback == "silent"
    with pytest.raises(ValueError, match="one of silent, warn, error"):
        weft.config.fallback = "loud"


def test_results_go_into_numpys_arrays():
    out, given = numpy.zeros(3), weft.arange(3.0)
    assert weft.add(given, 1, out=out) is out and out.tolist() == [1, 2, 3]
    assert weft.cumsum(given, out=out) is out and out.tolist() == [0, 1, 3]
    assert given.tolist() == [0, 1, 2]


def test_functions_of_modules_are_that_modules_own():
    """numpy.trace and numpy.linalg.trace, for one, sum other axes."""
    stacked = numpy.arange(12).reshape(3, 2, 2).astype(object)
    ours = weft.linalg.trace(weft.array(stacked, dtype=object))
    assert ours.tolist() == numpy.linalg.trace(stacked).tolist() != numpy.trace(stacked).tolist()


def test_assignments_by_numpy_are_counted():
    weft.clear_fallbacks()
    target = weft.zeros(2)
    target[:] = weft.array([1, 2], dtype=object)
    assert target.tolist() == [1, 2]
    assert "setitem" in [row["function"] for row in weft.fallback_report()]
    with weft.config(fallback="error"), pytest.raises(NotImplementedError):
        target[:] = numpy.array([3, 4], dtype=object)
    assert target.tolist() == [1, 2]


def test_iterators_write_into_the_array():
    x = weft.arange(3.0, device="cpu")
    with weft.nditer(x, op_flags=["readwrite"]) as iterator:
        for each in iterator:
            each[...] = 2 * each
    assert x.tolist() == [0, 2, 4] and (x + 1).tolist() == [1, 3, 5]


@needs_gpu
def test_structures_with_objects_lend_no_buffer():
    """NumPy would take the buffer before __array__, and not understand it."""
    things = weft.array([("a", 1)], dtype=[("x", object), ("y", "i4")])
    with pytest.raises(BufferError):
        memoryview(things)
    assert numpy.asarray(things).dtype == things.dtype


def test_asarray_gives_the_array_itself():
    words = weft.array(WORDS)
    assert weft.asarray(words) is words


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_folds_of_lists_of_times_have_no_initial_value(name):
    times = [numpy.timedelta64(3, "s"), numpy.timedelta64(5, "s")]
    assert getattr(weft, name)(times) == getattr(numpy, name)(times)


@pytest.mark.parametrize(
    ("text", "words"),
    [("where([True], 1)", "either both or neither"), ("array([1], ndmax=-1)", "ndmax must be in range")],
)
def test_bad_calls(text, words):
    with pytest.raises(ValueError, match=words):
        eval(f"np.{text}", {"np": weft})


def test_a_gpu_is_told_of():
    with pytest.raises(TypeError, match="on the host alone"):
        weft.array(WORDS, device="cuda")
    x = weft.arange(3.0, device="cuda")
    with pytest.raises(TypeError, match="over the CPU's memory"):
        weft.nditer(x)
    weft.clear_fallbacks()
    assert weft.concatenate([weft.array(WORDS), x]).tolist() == [*WORDS, "0.0", "1.0", "2.0"]
    (row,) = [row for row in weft.fallback_report() if row["function"] == "concatenate"]
    assert row["bytes"] == x.nbytes
    weft.clear_fallbacks()
    with pytest.raises(weft.linalg.LinAlgError):
        weft.linalg.svd(weft.full((20, 20), numpy.nan, device="cuda"))  # LAPACK decides
    (row,) = [row for row in weft.fallback_report() if "svd" in row["reason"]]
    assert row["calls"] == 1 and row["bytes"] == 3200


def test_what_numpy_was_given_ends_with_the_call():
    import gc
    import weakref

    words = numpy.array(WORDS)
    alive = weakref.ref(words)
    given = weft.asarray(words)
    gc.collect()
    gc.disable()
    try:
        weft.sort(given)
        del words, given
        assert alive() is None
    finally:
        gc.enable()
