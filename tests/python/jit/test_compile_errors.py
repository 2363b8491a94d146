"""The messages for what a function's types do not allow; errors/*/*.txt has them. WEFT_WRITE_GOLDEN=1 writes them.

Each case is a program, a call of its `f` that is refused, and one that works, where there is one.
"""

import linecache
import math
import os
import pathlib
from typing import NamedTuple

import numpy
import pytest
import weft as np

GOLDEN = pathlib.Path(__file__).parent / "errors"


class Point(NamedTuple):
    x: float
    y: float


def read_only():
    """An array that is not written."""
    array = numpy.arange(3.0)
    array.flags.writeable = False
    return array


def balls():
    """Structures."""
    return numpy.zeros(3, [("mass", float), ("count", int), ("tag", "S3")])


NAMES = {
    "attribute_of_array": ("def f(a):\n    return a.shpae[0]\n", "f(ones(3))", None),
    "attribute_of_int": ("def f(a):\n    return a.rael\n", "f(1)", None),
    "attribute_of_list": ("def f(a):\n    a.apend(1)\n    return a\n", "f([1])", None),
    "attribute_of_module": ("def f(a):\n    return np.sqroot(a)\n", "f(1.0)", None),
    "attribute_of_module_unlike": ("def f(a):\n    return math.cosinus(a)\n", "f(1.0)", None),
    "attribute_of_record": ("def f(a):\n    return a.z\n", "f(Point(1.0, 2.0))", None),
    "function_not_compiled": ("def f(a):\n    return np.packbits(a)\n", "f(ones(3))", None),
    "global": ("def f(a):\n    return distanse(a)\n\ndef distance(a):\n    return a\n", "f(1)", None),
    "global_dict": ("table = {}\ndef f(a):\n    return table[a]\n", "f(1)", None),
    "global_unlike": ("def f(a):\n    return qqqzzz + a\n", "f(1)", None),
    "method_of_array": ("def f(a):\n    return a.flaten()\n", "f(ones(3))", None),
    "method_of_float": ("def f(a):\n    return a.conjugat()\n", "f(1.5)", None),
    "method_of_tuple": ("def f(a):\n    return a.conut(1)\n", "f((1, 2))", None),
    "raised": ("def f(a):\n    if a > 1:\n        raise ValueEror(a)\n    return a\n", "f(1)", None),
    "variable": ("def f(a):\n    total += a\n    return total\n", "f(1)", None),
    "variable_later": (
        "def f(a):\n    if a > 3:\n        return total\n    total = a\n    return total\n",
        "f(1)",
        None,
    ),
}

CALLS = {
    "builtin_count": ("def f(a):\n    return len(a, a)\n", "f([1])", None),
    "builtin_count_range": ("def f(a):\n    for i in range(a, 1, 2, 3): pass\n", "f(1)", None),
    "builtin_keyword": ("def f(a):\n    return np.sqrt(a, where=True)\n", "f(1.0)", None),
    "count": ("def g(x, y, *, z=1):\n    return x\ndef f(a):\n    return g(a)\n", "f(1)", None),
    "count_many": ("def g(x, y=1):\n    return x\ndef f(a):\n    return g(a, 2, 3)\n", "f(1)", None),
    "keyword": ("def g(x):\n    return x\ndef f(a):\n    return g(a, y=1)\n", "f(1)", None),
    "keyword_print": ("def f(a):\n    print(a, file=None)\n", "f(1)", None),
    "keyword_zeros": ("def f(a):\n    return np.zeros(a, like=a)\n", "f(1)", None),
    "method_count": ("def f(a):\n    a.append(1, 2)\n    return a\n", "f([1])", None),
    "not_called": ("def f(a):\n    return a(1)\n", "f(1)", "f(abs_of)"),
    "outer_count": ("def f(a, b):\n    return a\n", "f(1)", "f(1, 2)"),
    "recursion": ("def f(n):\n    return f(n - 1) + 1\n", "f(1)", None),
    "recursion_grows": ("def f(n, t):\n    return n if n == 0 else f(n - 1, (t, n))\n", "f(1, 0)", None),
    "recursion_of_two": (
        "def g(n):\n    return f(n - 1)\ndef f(n):\n    return g(n) + 1\n",
        "f(1)",
        None,
    ),
    "twice": ("def g(x):\n    return x\ndef f(a):\n    return g(a, x=1)\n", "f(1)", None),
}

TYPES = {
    "argument_dict": ("def f(a):\n    return a\n", "f(frozenset())", "f(1)"),
    "argument_list": ("def f(a):\n    return len(a)\n", "f([1, (1, 2)])", "f([1, 2])"),
    "argument_list_of_texts": ("def f(a):\n    return len(a)\n", "f([1, 'text'])", "f([1, 2])"),
    "argument_objects": ("def f(a):\n    return len(a)\n", "f(numpy.array([None]))", "f(ones(2))"),
    "choice": ("def f(a, b):\n    return a if a else b\n", "f(1, 'text')", "f(1, 2)"),
    "compare_complex": ("def f(a, b):\n    return a < b\n", "f(1j, 2j)", "f(1, 2)"),
    "list": ("def f(a):\n    b = [1, (a, 2)]; b.append(a)\n", "f(1)", None),
    "list_appended": ("def f(a):\n    b = [1]\n    b.append(a)\n    return b\n", "f((1, 2))", "f(1)"),
    "list_assigned": ("def f(a, x):\n    a[0] = x\n    return a\n", "f([1], (1, 2))", "f([1], 2)"),
    "list_of_texts": ("def f(a):\n    return [a, 'text'][a]\n", "f(1)", None),
    "operator": ("def f(a, b):\n    return a + b\n", "f(1, 'text')", "f(1, 2)"),
    "operator_arrays": ("def f(a, b):\n    return a * b\n", "f(ones(2), (1.0, 2.0))", "f(ones(2), 2)"),
    "operator_floats": ("def f(a):\n    return a << 1\n", "f(1.0)", "f(1)"),
    "operator_none": ("def f(a, b):\n    return a + b\n", "f(None, 1)", "f(1, 2)"),
    "overflow": ("def f(a):\n    return a\n", "f(2**63)", "f(2**63 - 1)"),
    "overflow_constant": ("def f(a):\n    return a + 2**70\n", "f(1)", None),
    "overflow_global": ("LARGE = 2**70\ndef f(a):\n    return a + LARGE\n", "f(1)", None),
    "overflow_in_list": ("def f(a):\n    return a[0]\n", "f([2**63])", "f([-2**63])"),
    "overflow_of_float": ("def f(a):\n    return int(a)\n", "f(1e300)", "f(2.5)"),
    "returns": (
        "def f(a, b):\n    if a == 0:\n        return a\n    return b\n",
        "f(1, (1, 2))",
        "f(1, 2)",
    ),
    "returns_function": ("def f(a):\n    def g(): return a\n    return g\n", "f(1)", None),
    "truth": ("def f(a):\n    return 1 if a else 2\n", "f(ones(2))", "f(3)"),
    "unpacked": ("def f(a):\n    x, y = a\n    return x\n", "f(1)", "f((1, 2))"),
    "variable": (
        "def f(c):\n    y = 1\n    if c:\n        y = 'text'\n    return y\n",
        "f(1)",
        None,
    ),
    "variable_argument": (
        "def f(a, b):\n    if b != 0:\n        a = b\n    return a\n",
        "f((1, 2), 1)",
        "f(1, 2)",
    ),
    "variable_dimensions": (
        "def f(a, b):\n    c = a\n    if len(a) > 2:\n        c = b\n    return c.ndim\n",
        "f(ones(2), ones((2, 2)))",
        "f(ones(2), ones(2))",
    ),
    "variable_in_loop": (
        "def f(a, n):\n    for i in range(n):\n        a = (a, i)\n    return a\n",
        "f(1, 2)",
        None,
    ),
    "variable_integers": (
        "def f(a, b):\n    if b > 0:\n        a = b\n    return a\n",
        "f(np.uint64(1), np.int64(1))",
        "f(np.uint64(1), np.uint64(2))",
    ),
}

ARRAYS = {
    "assigned_array": ("def f(a, b):\n    a[0] = b\n    return a\n", "f(ones(2), ones(2))", "f(ones(2), 2)"),
    "assigned_complex": ("def f(a, b):\n    a[0] = b\n    return a\n", "f(ones(2), 1j)", "f(ones(2), 2)"),
    "assigned_int": ("def f(a):\n    a[0] = 1\n    return a\n", "f(1)", "f(ones(2))"),
    "global_written": ("TABLE = ones(3)\ndef f(a):\n    TABLE[0] = a\n", "f(1)", None),
    "index_bool": ("def f(a, i):\n    return a[i]\n", "f(ones(2), True)", "f(ones(2), 1)"),
    "index_by_array": ("def f(a, i):\n    return a[i]\n", "f(ones(2), ones(2))", "f(ones(2), 1)"),
    "index_float": ("def f(a):\n    return a[len(a) / 2]\n", "f(ones(3))", None),
    "index_float_of_list": ("def f(a, i):\n    return a[i]\n", "f([1, 2], 1.0)", "f([1, 2], 1)"),
    "index_float_of_tuple": ("def f(a, i):\n    return a[i]\n", "f((1, 2), 1.0)", "f((1, 2), 1)"),
    "index_of_int": ("def f(a):\n    return a[0]\n", "f(1)", "f(ones(2))"),
    "index_of_mixed_tuple": ("def f(a, i):\n    return a[i]\n", "f((1, 'a'), 1)", "f((1, 2), 1)"),
    "index_text": ("def f(a):\n    return a['x']\n", "f(ones(2))", None),
    "indices_many": ("def f(a):\n    return a[0, 1]\n", "f(ones(3))", "f(ones((2, 2)))"),
    "indices_many_of_list": ("def f(a):\n    return a[0, 1]\n", "f([1, 2])", "f(ones((2, 2)))"),
    "indices_many_slice": ("def f(a):\n    return a[:, 0, 1]\n", "f(ones(3))", "f(ones((2, 2, 2)))"),
    "indices_many_written": ("def f(a):\n    a[0, 1] = 2\n    return a\n", "f(ones(3))", "f(ones((2, 2)))"),
    "looped": ("def f(a):\n    for x in a:\n        return x\n", "f(1)", "f(ones(2))"),
    "read_only": ("def f(a):\n    a[0] += 1\n    return a\n", "f(read_only())", "f(ones(3))"),
    "read_only_fill": ("def f(a):\n    a.fill(2)\n    return a\n", "f(read_only())", "f(ones(3))"),
    "read_only_in_callee": (
        "def g(b):\n    b[1:] = 0\ndef f(a):\n    g(a)\n    return a\n",
        "f(read_only())",
        "f(ones(3))",
    ),
    "read_only_sort": ("def f(a):\n    a.sort()\n    return a\n", "f(read_only())", "f(ones(3))"),
    "size_float": ("def f(a):\n    return np.zeros(a)\n", "f(2.0)", "f(2)"),
    "slice_float": ("def f(a, i):\n    return a[i:]\n", "f(ones(2), 1.0)", "f(ones(2), 1)"),
}


def loop(body, before="", after="a"):
    """A program with a parallel loop over an array."""
    lines = [before] if before else []
    lines += ["for i in np.prange(len(a)):", *("    " + line for line in body.split("\n")), f"return {after}"]
    return "def f(a, b=1):\n" + "".join(f"    {line}\n" for line in lines)


PARALLEL = {
    "break": (loop("if i > 1: break"), "f(ones(3))", None),
    "carried_previous": (loop("t = s\ns = i", "s = t = 0", "t"), "f(ones(3))", None),
    "carried_read": (loop("s += a[i]\na[i] = s", "s = 0.0", "s"), "f(ones(3))", None),
    "carried_two_operations": (loop("s = s * 2 + a[i]", "s = 0.0", "s"), "f(ones(3))", None),
    "carried_tuple": (loop("s = s + (i,)", "s = (0,)", "s"), "f(ones(3))", None),
    "list": (loop("s.append(i)", "s = [0]", "s"), "f(ones(3))", None),
    "meets_in_element": (loop("a[0] = i"), "f(ones(3))", None),
    "meets_in_integers": (loop("b[i % 2] += 0.5", after="b"), "f(ones(3), numpy.zeros(2, int))", None),
    "meets_in_list": (loop("s[0] += 1", "s = [0]", "s"), "f(ones(3))", None),
    "meets_in_neighbour": (loop("a[i] = a[i - 1]"), "f(ones(3))", None),
    "meets_in_two_operations": (
        loop("b[i % 2] += a[i]\nb[i % 2] *= 2", after="b"),
        "f(ones(3), ones(2))",
        None,
    ),
    "return": (loop("if i > 1: return i", after="0"), "f(ones(3))", None),
}

STRUCTURES = {
    "field": ("def f(a):\n    return a[0]['mas']\n", "f(balls())", None),
    "field_of_array": ("def f(a):\n    a.speed[0] = 1\n", "f(balls())", None),
    "field_text": ("def f(a):\n    return a['tag'][0][1]\n", "f(balls())", None),
    "fields_few": ("def f(a):\n    a[0] = (1.0, 2)\n", "f(balls())", None),
    "fields_mixed": (
        "def f(a, b):\n    name = 'mass' if b else 'count'\n    return a[0][name]\n",
        "f(balls(), True)",
        None,
    ),
    "field_number": ("def f(a):\n    return a[0][3]\n", "f(balls())", None),
    "operator": ("def f(a):\n    return a + 1\n", "f(balls())", None),
    "stored": ("def f(a):\n    a[0] = 'x'\n", "f(balls())", None),
    "made": ("def f(a):\n    return np.ones_like(a)\n", "f(balls())", None),
    "meets": (
        "def f(a):\n    for i in np.prange(len(a)):\n        a[i % 2].mass += 1\n",
        "f(balls())",
        None,
    ),
}

TOPICS = {
    "names": NAMES,
    "calls": CALLS,
    "types": TYPES,
    "arrays": ARRAYS,
    "parallel": PARALLEL,
    "structures": STRUCTURES,
}
CASES = [(topic, name) for topic, cases in TOPICS.items() for name in cases]


def program(text, jit):
    """The names of a program, whose functions are compiled ones or Python's."""
    linecache.cache["program.py"] = (len(text), None, text.splitlines(keepends=True), "program.py")
    names = {"np": np, "numpy": numpy, "math": math, "Point": Point, "__name__": "program"}
    names |= {"ones": numpy.ones, "balls": balls, "read_only": read_only, "abs_of": lambda x: abs(x) + 1}
    exec(compile(text, "program.py", "exec"), names)
    if jit:
        names["f"] = np.jit(names["f"])
    return names


@pytest.mark.parametrize(("topic", "name"), CASES)
def test_what_types_do_not_allow_is_refused(topic, name):
    text, bad, good = TOPICS[topic][name]
    names = program(text, True)
    messages = set()
    for _ in range(2):  # a function that was refused is refused in the same way again
        with pytest.raises((TypeError, OverflowError)) as caught:
            eval(bad, names)
        messages.add(str(caught.value))
    (message,) = messages
    assert len(message.split("\n")) <= 8
    golden = GOLDEN / topic / f"{name}.txt"
    if os.environ.get("WEFT_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(message + "\n")
    assert message + "\n" == golden.read_text()
    if isinstance(caught.value, np.CompileError):
        place, line, caret, *_ = message.split("\n")
        assert place.startswith("program.py, line ") and line[4:].strip() in text and "^" in caret
    if good is not None:
        assert numpy.array_equal(eval(good, names), eval(good, program(text, False)))


@pytest.mark.parametrize("topic", TOPICS)
def test_each_golden_file_has_its_program(topic):
    assert {path.stem for path in (GOLDEN / topic).glob("*.txt")} == set(TOPICS[topic])


SIGNATURES = [
    "",
    "x",
    "x, y",
    "x, y=1",
    "x=1, y=2",
    "x, y, z, w",
    "x, *, y",
    "x, *, y=1",
    "*, x, y=1",
    "x, *y",
    "x, *y, z",
]
GIVEN = [
    "",
    "1",
    "1, 2",
    "1, 2, 3",
    "x=1",
    "1, x=1",
    "1, y=2",
    "1, 2, y=3",
    "1, 2, 3, y=1",
    "1, other=2",
    "1, 2, z=1",
]


@pytest.mark.parametrize("parameters", SIGNATURES)
def test_arguments_that_do_not_fit_are_cpython_s_errors(parameters):
    for given in GIVEN:
        text = f"def g({parameters}):\n    return 5\ndef f():\n    return g({given})\n"
        wanted = ""
        names = program(text, False)
        try:
            names["f"]()
        except TypeError as error:
            wanted = str(error)
        told = []
        for call in (f"g({given})", "f()"):
            names = program(text, True)
            if call[0] == "g":
                names["g"] = np.jit(names["g"])
            try:
                eval(call, names)
                told.append("")
            except TypeError as error:
                told.append(str(error).split("\n")[0].removeprefix("program.py, line 4, in f: "))
        assert told == [wanted, wanted], text
