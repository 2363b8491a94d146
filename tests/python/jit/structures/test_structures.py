"""Arrays of structures in compiled functions: NumPy's structured dtypes, and its records."""

import copy

import numpy
import pytest
import weft as np

BALL = numpy.dtype([("mass", "f8"), ("count", "i4"), ("tag", "S3")])
ALIGNED = numpy.dtype([("flag", "?"), ("mass", "f8"), ("small", "i2"), ("z", "c8")], align=True)
PLACE = numpy.dtype([("x", "f4"), ("y", "f4")])
NESTED = numpy.dtype([("number", "u1"), ("place", PLACE), ("grid", "i8", (2, 3)), ("path", PLACE, (2,))])
LARGE = numpy.dtype([("head", "i2"), ("body", "f8", (40,)), ("tail", "u1", (3,))])
SPREAD = numpy.dtype({"names": ["b", "a"], "formats": ["f8", "i2"], "offsets": [16, 3], "itemsize": 32})


def filled(dtype, shape):
    """An array with other bytes in each structure."""
    array = numpy.zeros(shape, dtype)
    bytes_of = array.view("u1")
    bytes_of[...] = (numpy.arange(bytes_of.size) * 7 % 61).reshape(bytes_of.shape)
    if "flag" in (dtype.names or ()):
        array["flag"] = numpy.arange(array.size).reshape(shape) % 2
    if "count" in dtype.names:
        array["count"] = numpy.arange(array.size).reshape(shape) + 3
    for name in ("mass", "b"):
        if name in dtype.names:
            array[name] = numpy.arange(array.size).reshape(shape) * 1.5 + 1
    if dtype is LARGE:
        array["body"] = numpy.arange(array.size * 40).reshape(*array.shape, 40)
    if dtype is NESTED:
        array["place"]["x"] = numpy.arange(array.size).reshape(shape) - 2
        array["grid"] = numpy.arange(array.size * 6).reshape(*array.shape, 2, 3)
    return array


def balls(shape=5):
    return filled(BALL, shape)


def text(value):
    """What a value is, to the bit."""
    if isinstance(value, np.ndarray):
        value = numpy.asarray(value)
    if isinstance(value, numpy.void | numpy.ndarray) and value.dtype.names:
        return (value.dtype.descr, value.shape, str(value.tolist()))
    if isinstance(value, numpy.ndarray):
        return (str(value.dtype), value.tolist())
    if isinstance(value, tuple | list):
        return [text(each) for each in value]
    if isinstance(value, numpy.generic | np.generic):
        return value.item()
    return value


def check(function, *arguments):
    """The compiled function gives what Python gives, and leaves the same in its arguments."""
    theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = function(*theirs)
    assert text(np.jit(function)(*ours)) == text(expected)
    assert [text(each) for each in ours] == [text(each) for each in theirs]


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]["mass"] * a["count"][i]
    return s


def by_elements(a):
    s = 0.0
    for each in a:
        each["mass"] = each["mass"] + each["count"]
        each["count"] -= 2
        s += each["mass"]
    return s


def whole_fields(a):
    a["mass"][1:] = 7
    a["count"] += 2
    a["count"][0] *= 3
    return a["mass"].sum(), a["count"].max(), (a["mass"] * 2)[1], a["mass"]


def stored_structures(a):
    a[0] = a[1]
    a[2:4] = a[0]
    a[-1] = a[-2]
    a[1:3] = a[0:2]  # of the same memory


def views(a):
    return a[2], a[1:3], a[::-2], a, a[3]["mass"]


def made(a):
    b = np.zeros_like(a)
    b[:] = a
    b[1]["mass"] = 9
    c = np.empty(len(a), a.dtype)
    c[...] = b
    one = c[0].copy()
    one["count"] = 100
    return b, c, one, c[0], a.copy()


def sizes(a):
    return a.shape, a.ndim, a.itemsize, a.size, a.nbytes, a.strides, len(a), len(a[0]), a.T.strides


def by_numbers(a):
    return a[1][0], a[1][-2]


@pytest.mark.parametrize(
    "function", [total, by_elements, whole_fields, stored_structures, views, made, sizes, by_numbers]
)
def test_structures_are_as_numpys(function):
    check(function, balls())
    check(function, balls(12)[1:11:2])
    check(function, numpy.ascontiguousarray(balls(6))[::-1])


def copies(a):
    b = np.zeros(a.shape, a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, -1 - j]
    row = b[0]
    row[1] = b[1, 0]
    return b, row, a[1, 1]


@pytest.mark.parametrize("dtype", [BALL, ALIGNED, NESTED, LARGE, SPREAD], ids="BANLS")
def test_structures_are_copied_byte_for_byte(dtype):
    given = filled(dtype, (3, 2))
    made, row, one = np.jit(copies)(given)
    expected, expected_row, expected_one = copies(given)
    for name in dtype.names:
        assert made[name].tobytes() == expected[name].tobytes()
        assert row[name].tobytes() == expected_row[name].tobytes()
        assert one[name].tobytes() == expected_one[name].tobytes()
    assert made.dtype == dtype and made.strides == expected.strides


def inner_fields(a):
    s = 0
    for i in range(len(a)):
        a[i]["place"]["x"] += 1
        a["place"]["y"][i] = a[i]["place"]["x"] * 2
        for j in range(2):
            a[i]["path"][j]["y"] = j
            for k in range(3):
                s += a[i]["grid"][j, k]
    a[0]["grid"][:] = 5
    a[1]["grid"][1] = a[0]["grid"][0]
    a[1]["path"] = a[0]["path"]
    a[1]["place"] = (3, 4)
    a["grid"][2, 0] = 8
    return s, a["grid"].shape, a[0]["grid"].strides, a[0]["grid"], a["path"]["y"], a[2]["place"]


def test_fields_of_fields_and_arrays_in_structures():
    check(inner_fields, filled(NESTED, 4))
    check(inner_fields, filled(NESTED, 8)[::2])


def stored_others(a, b):
    a[0] = (1.5, 2)
    a[1] = 7
    a[2] = b[1]  # another dtype: field by field, in their order
    a[3:] = b[0]
    a[4] = (True, 2.5)


def test_tuples_numbers_and_other_structures_are_stored_field_by_field():
    a, b = numpy.zeros(6, [("x", "f8"), ("y", "i4")]), numpy.zeros(2, [("y", "i2"), ("x", "f4")])
    b["y"], b["x"] = [3, 4], [5, 6]
    check(stored_others, a, b)


def test_attributes_are_fields_as_of_numba():
    def plus(a):
        s = 0.0
        for i in range(len(a)):
            a[i].mass += a[i].count
            s += a[i].mass
        a.count[0] = 5
        a.mass = s
        return s

    def expected(a):
        s = 0.0
        for i in range(len(a)):
            a[i]["mass"] += a[i]["count"]
            s += a[i]["mass"]
        a["count"][0] = 5
        a["mass"] = s
        return s

    ours, theirs = balls(), balls()
    assert np.jit(plus)(ours) == expected(theirs)
    assert text(ours) == text(theirs)
    records = balls().view(numpy.recarray)
    assert np.jit(plus)(records) == expected(balls())
    assert text(records) == text(theirs)


def test_records_stay_records():
    records = balls().view(numpy.recarray)
    one = np.jit(lambda a: a[1])(records)
    assert type(one) is numpy.record and one.mass == records[1].mass
    one.mass = -3
    assert records[1].mass == -3
    part = np.jit(lambda a: a[1:])(records)
    assert isinstance(part, np.ndarray) and part.mass[0] == -3
    assert type(part[0]) is numpy.record
    assert type(np.jit(lambda a: a[1:])(balls())[0]) is numpy.void


def test_what_is_returned_is_in_the_memory_of_the_argument():
    a = balls()
    assert np.jit(lambda a: a)(a) is a
    one = np.jit(lambda a: a[2])(a)
    part = np.jit(lambda a: a[1:3])(a)
    assert numpy.shares_memory(numpy.asarray(part), a)
    one["mass"], part["count"] = -1, 77
    assert a[2]["mass"] == -1 and a["count"].tolist()[1:3] == [77, 77]
    mass = np.jit(lambda a: a["mass"])(a)
    mass[0] = 5
    assert a[0]["mass"] == 5
    assert np.jit(lambda a: a["mass"])(a[1:]).dtype == "f8"  # which is not aligned
    del a
    assert part["count"].tolist() == [77, 77]


def test_what_is_made_keeps_its_memory():
    def f(n):
        a = np.zeros(n, BALL)
        a[1]["mass"] = 2
        return a[1], a[1:], a["mass"]

    for _ in range(3):
        one, rest, mass = np.jit(f)(4)
        one["mass"] = 8
        assert rest[0]["mass"] == 8 and mass[1] == 8
        del rest, mass
        assert one["mass"] == 8


def test_structures_are_arguments():
    def f(r, amount):
        r["mass"] += amount
        return r["count"], r

    check(f, balls()[2], 1.5)
    a = balls()
    count, same = np.jit(f)(a[1], 2.0)
    assert a[1]["mass"] == balls()[1]["mass"] + 2 and count == a[1]["count"]
    same["mass"] = 0
    assert a[1]["mass"] == 0
    assert np.jit(lambda t: t[0]["mass"])((a[2], 1)) == a[2]["mass"]


def test_structures_go_through_calls_branches_lists_and_generators():
    def mass(r):
        return r["mass"]

    def chosen(a, k):
        r = a[0] if k > 1 else a[1]
        best = None
        for each in a:
            if best is None or each["mass"] > best["mass"]:
                best = each
        kept = [a[0]]
        kept.append(r)
        s = 0.0
        for each in kept:
            s += mass(each)
        r["count"] = -k
        return mass(r), s, best, kept

    def generated(a):
        for each in a:
            yield each["mass"]
            yield mass(a[0])

    check(chosen, balls(), 1)
    check(chosen, balls(), 2)
    assert list(np.jit(generated)(balls(3))) == list(generated(balls(3)))


GLOBAL = balls()
GLOBAL_ONE = balls()[3]


def of_globals(i):
    return GLOBAL[i]["mass"] + GLOBAL["count"][i] + GLOBAL_ONE["mass"]


def test_global_structures_are_read():
    compiled = np.jit(of_globals)
    assert compiled(2) == of_globals(2)
    GLOBAL["mass"][2] = 1000
    GLOBAL_ONE["mass"] = 50
    assert compiled(2) == of_globals(2)

    def writes():
        GLOBAL[0]["mass"] = 1

    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(writes)()


def test_read_only_structures_are_not_written():
    a = balls()
    a.flags.writeable = False

    def f(a):
        a[0]["mass"] = 1

    with pytest.raises(np.CompileError, match="array 'a' is read-only"):
        np.jit(f)(a)
    part = np.jit(lambda a: a[1:])(a)
    assert not part.flags.writeable


def test_indices_are_checked():
    def f(a, i):
        return a[i]["mass"]

    compiled = np.jit(f)
    assert compiled(balls(), -1) == f(balls(), -1)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        compiled(balls(), 5)


def test_one_array_twice_is_one_memory():
    def f(a, b):
        a[0]["mass"] = 1
        b[0]["mass"] = 2
        return a[0]["mass"]

    a = balls()
    compiled = np.jit(f)
    assert compiled(a, balls()) == 1
    assert compiled(a, a) == 2
    assert compiled(a, a[:2]) == 2
    assert np.jit(lambda a, m: f(a, a) + m[0])(a, a["mass"]) == 4


def test_fields_that_are_chosen_by_a_loop_of_names():
    def f(a):
        s = 0.0
        for name in ("mass", "speed"):
            s = s * 10 + a[0][name] + a[name].sum()
        return s

    a = numpy.zeros(3, [("speed", "f8"), ("count", "i4"), ("mass", "f8")])
    a["mass"], a["speed"] = [1, 2, 3], [5, 6, 7]
    check(f, a)


def test_prange_over_structures():
    def f(a):
        for i in np.prange(len(a)):
            a[i].mass = i * 0.5
            each = a[i]
            each.count = i
        return a["mass"].sum()

    a = balls(10000)
    assert np.jit(f)(a) == numpy.arange(10000).sum() * 0.5
    assert a["count"].tolist() == list(range(10000))

    def meets(a):
        for i in np.prange(1, len(a)):
            a[i].mass = a[i - 1].mass

    with pytest.raises(np.CompileError, match="an iteration of prange uses an element of 'a'"):
        np.jit(meets)(a)


def test_equal_dtypes_are_compiled_once():
    compiled = np.jit(lambda a: a[0]["mass"])
    for _ in range(3):
        compiled(numpy.zeros(2, numpy.dtype([("mass", "f8"), ("count", "i4")])))
    assert len(compiled.stats) == 1
    compiled(numpy.zeros(2, numpy.dtype([("mass", "f8"), ("count", "i8")])))
    assert len(compiled.stats) == 2


def test_arrays_without_dimensions_are_no_structures():
    a = numpy.array((1.5, 2, b"a"), BALL)
    mass, whole, one = np.jit(lambda a: (a["mass"], a, a[()]))(a)
    assert mass.shape == () and whole is a and type(one) is numpy.void


def test_fields_in_the_other_byte_order_are_copied_only():
    a = numpy.zeros(3, [("big", ">f8"), ("n", "i4")])
    a["big"], a["n"] = [1, 2, 3], [4, 5, 6]

    def f(a):
        a[0] = a[2]
        return a[0]["n"]

    check(f, a)
    with pytest.raises(np.CompileError, match="field 'big' has dtype >f8"):
        np.jit(lambda a: a[0]["big"])(a)


def test_wefts_arrays_of_structures_are_arguments():
    def f(a):
        a["mass"] += 1
        return a, a[1:], a["mass"].sum()

    a = np.asarray(balls())
    same, rest, total = np.jit(f)(a)
    assert same is a and isinstance(rest, np.ndarray) and total == balls()["mass"].sum() + 5
    assert rest["mass"].tolist() == (balls()["mass"][1:] + 1).tolist()


def test_fields_that_are_not_aligned_are_returned():
    a = numpy.zeros(4, [("flag", "u1"), ("x", "f8")])
    a["x"] = [1, 2, 3, 4]
    x = np.jit(lambda a: a["x"])(a)
    assert isinstance(x, np.ndarray) and (x * 2).tolist() == [2, 4, 6, 8]
    x[1] = 9
    assert a["x"][1] == 9

    dtype = a.dtype
    assert np.jit(lambda: np.zeros(3, dtype)["x"])().tolist() == [0, 0, 0]


def test_structures_with_objects_are_no_arguments():
    a = numpy.zeros(2, [("x", "f8"), ("thing", "O")])
    dtype = a.dtype
    with pytest.raises(TypeError, match="has elements of format"):
        np.jit(lambda a: a[0]["x"])(a)
    with pytest.raises(TypeError):
        np.jit(lambda a: a["x"])(a[0])
    with pytest.raises(np.CompileError, match="must be a data-type"):
        np.jit(lambda: np.zeros(2, dtype))()


def test_structures_from_before_a_parallel_loop():
    def f(a, n):
        r, total = a[1], 0.0
        for i in np.prange(n):
            total += r.mass * i + a[i % len(a)].count
        return total

    a = balls()
    expected = sum(a[1]["mass"] * i + a[i % 5]["count"] for i in range(2000))
    assert np.jit(f)(a, 2000) == pytest.approx(expected, rel=1e-12)


TITLED = numpy.dtype([(("across", "x"), "i4"), (("down", "y"), "f8"), ("plain", "i2")])


def test_titles_name_fields_too():
    def count(a):
        for i in range(len(a)):
            a[i]["x"] = i + 1
            a[i]["across"] += 10
            a[i].down = a[i]["x"] / 2
        a["across"] *= 2
        return a["down"].sum() + a[0]["plain"]

    given, wanted = numpy.zeros(3, TITLED).view(numpy.recarray), numpy.zeros(3, TITLED).view(numpy.recarray)
    assert np.jit(count)(given) == count(wanted)
    numpy.testing.assert_array_equal(given, wanted)
    with pytest.raises(np.CompileError, match="Field 'z' was not found"):
        np.jit(lambda a: a[0]["z"])(given)
    other = numpy.dtype([(("across", "y"), "i4"), (("down", "x"), "f8"), ("plain", "i2")])
    assert np.jit(lambda a: a[0]["across"])(numpy.array([(3, 4.0, 5)], other)) == 3


@pytest.mark.parametrize("kind", [numpy.ndarray, numpy.recarray])
def test_arrays_in_one_structure_are_returned(kind):
    a = filled(NESTED, 2).view(kind)

    def parts(one):
        return one["grid"], one["grid"][1:], one["path"]["x"]

    for given, wanted in zip(np.jit(parts)(a[1]), parts(a[1]), strict=True):
        numpy.testing.assert_array_equal(given, wanted)
    grid = np.jit(lambda one: one["grid"])(a[0])
    grid[0, 0] = 99  # it is the structure's memory
    assert a[0]["grid"][0, 0] == 99
