"""The messages for what no type can save; errors/syntax/*.txt has them. WEFT_WRITE_GOLDEN=1 writes the files anew."""

import os
import pathlib

import pytest
from weft._jit import CompileError, SourceError, describe

GOLDEN = pathlib.Path(__file__).parent / "errors" / "syntax"

PROGRAMS = {
    "async_def": "async def f(a):\n    return a\n",
    "async_with": "def f(a):\n    async def g():\n        async with a: pass\n    return g\n",
    "await": "async def f(a):\n    return await a\n",
    "call_with_keywords": "def f(a):\n    return abs(a, **{})\n",
    "class": "def f(a):\n    class C(int):\n        pass\n    return C(a)\n",
    "decorated_inner": "def f(a):\n    @staticmethod\n    def g(): return 1\n    return g()\n",
    "dict": "def f(a):\n    return {a: 1, **{}}\n",
    "global": "def f(a):\n    global counter\n    counter = a\n",
    "import": "def f(a):\n    import math\n    return math.sqrt(a)\n",
    "import_from": "def f(a):\n    from math import sqrt\n    return sqrt(a)\n",
    "keywords": "def f(a, **options):\n    return a\n",
    "long_number": f"def f(a):\n    return a + {10**90}\n",
    "long_statement": "def f(a):\n    return (a +\n        {**a,\n         2: 3})\n",
    "match": "def f(a):\n    match a:\n        case 1: return 2\n",
    "multiple_bytes": "def f(ä):\n    ß = {'ö': 1, **ä}; return ß\n",
    "nonlocal": "def f(a):\n    b = 1\n    def g():\n        nonlocal b\n        b = 2\n    return a(g)\n",
    "raise_from": "def f(a):\n    raise ValueError('no') from a\n",
    "except_star": "def f(a):\n    try:\n        a = 1\n    except* ValueError:\n        a = 2\n    return a\n",
    "tabs": "def f(a):\n\tif a:\n\t\twith a: pass\n",
    "with": "def f(a):\n    with a as b:\n        return b\n",
    "yield": "def f(a):\n    for x in a:\n        y = yield x\n",
    "yield_else": "def f(a):\n    for x in a:\n        pass\n    else:\n        yield x\n",
    "yield_except": "def f(a):\n    try:\n        a += 1\n    except ValueError:\n        yield a\n",
    "yield_finally": "def f(a):\n    try:\n        yield a\n    finally:\n        a += 1\n",
    "yield_from": "def f(a):\n    b = yield from a\n",
    "yield_return": "def f(a):\n    yield a\n    return a\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_no_type_can_save_is_refused(name):
    text = PROGRAMS[name]
    names = {}
    exec(compile(text, "program.py", "exec"), names)
    with pytest.raises(CompileError) as caught:
        describe(names["f"], source=text)
    message = str(caught.value)
    assert not isinstance(caught.value, SourceError)
    assert len(message.split("\n")) <= 8
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("WEFT_WRITE_GOLDEN"):
        golden.write_text(message + "\n")
    assert message + "\n" == golden.read_text()


def test_each_golden_file_has_its_program():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(PROGRAMS)


def test_a_function_that_is_nested_too_deeply_is_refused():
    text = "def f(a):\n    return " + "-(" * 30 + "a" + ")" * 30 + "\n"
    names = {}
    exec(text, names)
    assert describe(names["f"], source=text).tree.count("(unary neg") == 30
    text = "def f(a):\n    return a" + "+a" * 600 + "\n"
    exec(text, names)
    with pytest.raises(CompileError, match="the function is nested too deeply"):
        describe(names["f"], source=text)


def test_after_a_refusal_other_functions_are_described():
    text = "def f(a):\n    with a: pass\ndef g(a): return a\n"
    names = {}
    exec(text, names)
    for _ in range(2):
        with pytest.raises(CompileError, match="`with` is not compiled"):
            describe(names["f"], source=text)
        assert describe(names["g"], source=text).name == "g"
