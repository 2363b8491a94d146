"""Where the text of a function is found, and what is said where it is not."""

import functools
import importlib.util
import linecache
import os
import re
import subprocess
import sys
import textwrap
import warnings
import zipfile

import pytest
import weft
from weft._jit import CompileError, SourceError, capture, describe


@pytest.fixture
def module(tmp_path):
    """Makes a module of a text, whose file stays."""
    made = []

    def make(text, name=None, encoding="utf-8", newline=None):
        name = name or f"jit_program_{len(made)}"
        made.append(name)
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding=encoding, newline=newline)
        return load(name, path)

    yield make
    for name in made:
        sys.modules.pop(name, None)


def load(name, path):
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def returned(function, source=None):
    """What the function's last return has in the tree."""
    return re.findall(r"\(return (.*?)\)\)+$", describe(function, source).tree)[0]


SHAPES = '''
import functools

def other(f):
    return f

def with_arguments(*a, **k):
    return other

@other
@with_arguments(
    1,
    b=2,
)
def decorated(a):
    return a + 1

class Owner:
    scale = 3

    def method(self, a):
        return self.__private * a + 2

    @staticmethod
    def static(a):
        return a + 3

    @classmethod
    def of_class(cls, a):
        return a + 4

    class Inner:
        def __deep(self):
            return self.__x + 5

        def get(self):
            return self.__deep

def outer(n):
    local = n

    def inner(a, *, b=local):
        return a + local + 6

    def recursive(a):
        return recursive(a - 1) + 7 if a else n

    return inner, recursive

def text_further_left(a):
    b = """
no indent (
"""
    c = (
a,
    )
    d = a + \\
1
    return c[0] + 8

def head_further_left(
a, b=(
    1,
)): return a + 9

def one_line(a): return a + 10

if True:
\tif True:
\t\tdef tabs(a):
\t\t\tif a:
\t\t\t\treturn 1
\t\t\treturn a + 11

if True:
    # a comment further left is none of its end
    def comments(a):
        b = a
# here
        c = b

  # and here

        return c + 12

def ünïcode(ä):
    "Doc."; return ä + 13

@functools.wraps(one_line)
def wrapper(a):
    return one_line(a) + 14

def the_last(a):
    return a + 15  # without a line after it'''


def test_definitions_of_all_shapes(module):
    made = module(SHAPES)
    inner, recursive = made.outer(3)
    owner = made.Owner
    functions = {
        2: owner.method,
        1: made.decorated,
        3: owner.static,
        4: owner.of_class,
        6: inner,
        8: made.text_further_left,
        9: made.head_further_left,
        10: made.one_line,
        11: made.tabs,
        12: made.comments,
        13: made.ünïcode,
        14: made.wrapper,
        15: made.the_last,
    }
    for number, function in functions.items():
        found = describe(function)
        assert found.tree.endswith(f" (int {number})))))"), function
        assert f"+ {number}" in found.source[-1]
        assert found.source == SHAPES.split("\n")[found.first_line - 1 :][: len(found.source)]
    assert describe(owner.Inner().get()).tree.endswith("__x) (int 5)))))")
    assert describe(owner().method).parameters[0] == ("self", "positional")
    assert describe(made.decorated).source[0] == "@other"
    assert "(ifexp (name a)" in describe(recursive).tree
    assert describe(inner).symbols == [("constant", "local", 3)]
    assert describe(inner).defaults == (3,)
    assert describe(recursive).symbols[0] == ("function", "recursive", recursive)


def test_what_is_defined_twice_is_the_one_of_its_line(module):
    made = module("def f(a): return a + 1\ng = f\ndef f(a): return a + 2\n")
    assert returned(made.g) == "(binary add (name a) (int 1"
    assert returned(made.f) == "(binary add (name a) (int 2"


LAMBDAS = """
def identity(f, *more):
    return f
one, two = lambda a: a + 1, lambda a: a + 2
pair = [lambda a: a * b, lambda a: b * a] if (b := 2) else None
nested = lambda a: (lambda a: a + 3)
many = identity(lambda a:
    a
    + 4, lambda: 5)
inside = {"k": [identity(identity(lambda a, b=lambda: 0: a - 6, lambda: 0))]}
long = (lambda a:
a - 7)
same = [lambda: 8, lambda: 8]
deep = [lambda a: a + k for k in range(2)]
"""


def test_lambdas_are_told_apart(module):
    made = module(LAMBDAS)
    assert returned(made.one) == "(binary add (name a) (int 1"
    assert returned(made.two) == "(binary add (name a) (int 2"
    assert returned(made.pair[0]) == "(binary mul (name a) (global 0"
    assert returned(made.pair[1]) == "(binary mul (global 0) (name a"
    assert returned(made.nested(1)) == "(binary add (name a) (int 3"
    assert "(lambda (params (param a))" in describe(made.nested).tree
    assert returned(made.many) == "(binary add (name a) (int 4"
    assert returned(made.inside["k"][0]) == "(binary sub (name a) (int 6"
    assert describe(made.inside["k"][0]).tree.startswith("(def lambda (params (param a) (default b))")
    assert returned(made.long) == "(binary sub (name a) (int 7"
    assert describe(made.deep[1]).symbols == [("constant", "k", 1)]
    first, second = map(describe, made.same)
    assert first.tree == second.tree
    assert first.positions[9] <= second.positions[9]  # Python 3.12 has one code for both


def test_a_text_that_was_edited_after_its_import_is_refused(module):
    made = module("def f(a):\n    return a + 1\n\ndef g(a):\n    return a\n", "edited")
    path = made.__file__
    for text in (
        "def f(a):\n    return a - 1\n",
        "# new\n",
        "def f(a):\n    return (a\n",
        "def g(a): pass\n",
    ):
        with open(path, "w") as file:
            file.write(text)
        with pytest.raises(SourceError, match=r"f.*edited since it was imported") as caught:
            describe(made.f)
        assert len(str(caught.value).split("\n")) <= 8
    with open(path, "w") as file:
        file.write("def f(a):\n    return a + 1\n")
    assert returned(made.f) == "(binary add (name a) (int 1"
    assert returned(load("edited", path).f) == "(binary add (name a) (int 1"


def test_the_text_is_that_of_the_decoration(module):
    made = module("def f(a):\n    return a + 1\n", "decorated")
    text = capture(made.f)
    with open(made.__file__, "w") as file:
        file.write("def f(a):\n    return a + 20\n")
    assert returned(made.f, text) == "(binary add (name a) (int 1"
    again = load("decorated", made.__file__)
    assert returned(again.f) == "(binary add (name a) (int 20"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(module, newline):
    made = module("def f(a):\n    b = a\n    return b + 1\n", newline=newline)
    assert describe(made.f).source == ["def f(a):", "    b = a", "    return b + 1"]


def test_encodings(module):
    text = "# -*- coding: latin-1 -*-\ndef f(ä):\n    return ä + len('é')\n"
    found = describe(module(text, encoding="latin-1").f)
    assert '(string "\\xc3\\xa9")' in found.tree
    assert describe(module("def f(a): return a + 1\n", encoding="utf-8-sig").f).first_line == 1


def test_future_statements(module):
    made = module("from __future__ import annotations\ndef f(a: nothing) -> at_all:\n    return a + 1\n")
    assert returned(made.f) == "(binary add (name a) (int 1"


def test_modules_in_archives(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("zipped_program.py", "def f(a):\n    return a + 1\n")
    monkeypatch.syspath_prepend(tmp_path / "archive.zip")
    import zipped_program

    assert returned(zipped_program.f) == "(binary add (name a) (int 1"


def cell(text, name):
    """Runs a text as a notebook does its cells."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return names


def test_cells_of_notebooks():
    first = cell("import math\ndef f(a):\n    return math.sqrt(a) + 1\n", "/tmp/ipykernel_1/11.py")
    second = cell("def f(a):\n    return math.sqrt(a) + 2\n", "<ipython-input-2-abc>")
    second["math"] = first["math"]
    assert returned(first["f"]).endswith("(int 1")
    assert returned(second["f"]).endswith("(int 2")


def test_doctests_find_their_lines():
    """
    >>> from weft._jit import describe
    >>> def f(a):
    ...     return a + 1
    >>> describe(f).source
    ['def f(a):', '    return a + 1']
    """


def test_assertions_that_pytest_rewrote():
    def f(a):
        assert a > 0, "no"
        return a + 1

    assert '(assert (compare (name a) gt (int 0)) (string "no"))' in describe(f).tree


def test_code_that_runs_is_the_same_code():
    def f(n):
        total = 0
        for i in range(n):
            total += i * len("abc") if i > 3 else i
        return total

    for _ in range(100):  # until the interpreter has specialised its instructions
        f(100)
    assert describe(f).source[0].strip() == "def f(n):"


def executed(text, name="f"):
    """The function that exec() makes of a text."""
    names = {}
    exec(text, names)
    return names[name]


def test_text_given_to_exec_is_found_where_it_still_is():
    text = "def f(a):\n    return a + 1\n"
    unlike = "def f(a):\n    return a + 2\n"
    assert describe(executed(text)).source[0].strip() == "def f(a):"
    names = {"jit": weft.jit}
    exec("@jit\ndef f(a):\n    return a * 3\ng = jit(lambda a: a - 1)\n", names)
    assert (names["f"](5), names["g"](5)) == (15, 4)
    assert "return a + 2" in "".join(describe(executed(unlike)).source)
    with pytest.raises(SourceError, match="made by exec"):  # another line of another text
        describe(executed("x = ') f('\n" + text))
    behind = "x = ') f('\n" + text
    assert describe(executed(behind)).first_line == 2


def test_texts_of_other_kinds_are_read_without_warnings():
    other = "f = '\\d'  # which has an escape that Python warns of"
    text = "def f(a):\n    return a + 1\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert describe(executed(text)).first_line == 1
    assert (len(other), caught) == (52, [])


def test_code_without_source_says_so():
    made = executed("".join(("def f(a): ", "return a + 5")))
    with pytest.raises(SourceError) as caught:
        describe(made)
    assert str(caught.value) == "f was made by exec() and has no source; give weft.jit(f, source=...)"
    assert issubclass(SourceError, CompileError)
    assert issubclass(CompileError, TypeError)
    names = {}
    exec(compile("".join(("def f(a): ", "return a + 1")), "/nowhere/at_all.py", "exec"), names)
    with pytest.raises(
        SourceError, match=r"f has no source, since /nowhere/at_all\.py cannot be read; give weft\.jit"
    ):
        describe(names["f"])


def test_source_may_be_given():
    text = (
        "x = 1\ndef f(a):\n    return a + 1\ndef f(a):\n    return a + 2\ndef g(): return lambda a: a + 3\n"
    )
    found = describe(executed(text), source=text)
    assert (found.file, found.first_line, found.source) == ("<string>", 4, ["def f(a):", "    return a + 2"])
    assert returned(executed(text, "g")(), text) == "(binary add (name a) (int 3"
    with pytest.raises(SourceError, match="f was not compiled from the source that was given"):
        describe(executed("def f(a): return a"), source=text)
    with pytest.raises(SourceError, match=r"line 1 of its source is not Python"):
        describe(executed("def f(a): return a"), source="def f(a:")
    with pytest.raises(TypeError, match="source must be a str, not bytes"):
        describe(executed("def f(a): return a"), source=b"def f(a): return a")


def test_indented_source_may_be_given():
    class Owner:
        def method(self, a):
            return a + 1

    text = "    def method(self, a):\n        return a + 1\n"
    found = describe(Owner.method, source=text)
    assert found.first_line == 1
    assert tuple(found.positions[:4]) == (1, 4, 2, 20)


@pytest.mark.parametrize(
    "thing, what",
    [
        (len, "a builtin_function_or_method"),
        (int, "the class int"),
        (functools.partial(executed), "a partial"),
        (3, "a int"),
    ],
)
def test_what_is_no_function_is_refused(thing, what):
    with pytest.raises(CompileError, match=f"weft.jit compiles Python functions, and was given {what}$"):
        describe(thing)


def test_the_prompt_keeps_no_source():
    lines = "from weft._jit import describe\ndef f(a):\n    return a + 1\n\ndescribe(f)\n"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(
        [sys.executable, "-i"],
        input=lines,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    if sys.version_info < (3, 13):
        assert "SourceError: f was typed at a prompt that keeps no source" in answer.stderr


def test_a_code_object_is_read_once(module, monkeypatch):
    made = module("def outer(n):\n    def f(a):\n        return a + n\n    return f\n")
    first = describe(made.outer(1))
    monkeypatch.setattr("weft._jit._source.find", None)
    second = describe(made.outer(2.5))
    assert second.tree is first.tree
    assert (first.symbols, second.symbols) == ([("constant", "n", 1)], [("constant", "n", 2.5)])


def test_names_that_become_modules_make_another_tree(module):
    made = module("def f(a):\n    return n.pi + a\n")
    made.n = 3
    assert returned(made.f) == "(binary add (attribute (global 0) pi) (name a"
    import math

    made.n = math
    assert returned(made.f) == "(binary add (global 0) (name a"
