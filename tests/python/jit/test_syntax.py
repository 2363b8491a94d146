"""The untyped tree of a function: golden texts, and the places of its nodes."""

import ast
import re

import numpy
import pytest
import weft as np
from jit_trees import nodes_of
from weft._jit import CompileError, describe


def described(text, **names):
    """What is told of the first function in `text`, whose free names are `names`."""
    names = {"np": np, "numpy": numpy, **names}
    exec(compile(text, "program.py", "exec"), names)
    name = re.search(r"^\s*(?:async )?def (\w+)|^(\w+) = lambda", text, re.M)
    return describe(names[name[1] or name[2]], source=text)


def body(statements, parameters="a, b, x, y", **names):
    """The tree of the statements of a function."""
    lines = "".join(f"    {line}\n" for line in statements.split("\n"))
    tree = described(f"def f({parameters}):\n{lines}", **names).tree
    return tree[tree.index("(block") :][len("(block ") : -2]


STATEMENTS = {
    "x = 1": "(assign (name x) (int 1))",
    "x = y = a": "(assign (name .1) (name a)) (assign (name x) (name .1)) (assign (name y) (name .1))",
    "x, (y, *a) = b": "(assign (tuple (name x) (tuple (name y) (starred (name a)))) (name b))",
    "[x, y] = b": "(assign (tuple (name x) (name y)) (name b))",
    "a[0], a.x = b": "(assign (tuple (index (name a) (int 0)) (attribute (name a) x)) (name b))",
    "x += 1": "(augment add (name x) (int 1))",
    "a[x, 1:] @= y": "(augment matmul (index (name a) (name x) (slice (int 1) (none) (none))) (name y))",
    "x: int = 3": "(assign (name x) (int 3))",
    "x: int": "(pass)",
    "pass": "(pass)",
    "a(b)": "(expr (call (name a) (name b)))",
    "if a: pass": "(if (name a) (block (pass)) (block))",
    "if a: x = 1\nelif b: x = 2\nelse: x = 3": (
        "(if (name a) (block (assign (name x) (int 1))) (block (if (name b) (block (assign (name x) (int 2)))"
        " (block (assign (name x) (int 3))))))"
    ),
    "while a:\n    break\nelse:\n    pass": "(while (name a) (block (break)) (block (pass)))",
    "for x, y in a:\n    continue": ("(for (tuple (name x) (name y)) (name a) (block (continue)) (block))"),
    "return": "(return)",
    "return a, b": "(return (tuple (name a) (name b)))",
    "raise a": "(raise (name a))",
    "raise a from None": "(raise (name a))",
    "raise": "(raise)",
    "assert a": "(assert (name a))",
    "assert a, 'no'": '(assert (name a) (string "no"))',
    "def g(p, q=a): return p": ("(def g (params (param p) (default q (name a))) (block (return (name p))))"),
}

EXPRESSIONS = {
    "3": "(int 3)",
    "-3": "(int -3)",
    "-9223372036854775808": "(int -9223372036854775808)",
    "2**64 - 1": "(int 18446744073709551615)",
    "(1 << 32) - 1": "(int 4294967295)",
    "2**-1": "(binary pow (int 2) (int -1))",
    "7 // 2": "(binary floordiv (int 7) (int 2))",
    "1.5": "(float 0x1.8000000000000p+0)",
    "-0.0": "(float -0x0.0p+0)",
    "1e999": "(float inf)",
    "2j": "(complex 0x0.0p+0 0x1.0000000000000p+1)",
    "True": "(bool 1)",
    "None": "(none)",
    "...": "(ellipsis)",
    "'a\"b\\\\\\n\\té'": r'(string "a\"b\\\n\x09\xc3\xa9")',
    "f'plain'": '(string "plain")',
    "a.shape[0]": "(index (attribute (name a) shape) (int 0))",
    "a[x]": "(index (name a) (name x))",
    "a[x, y]": "(index (name a) (name x) (name y))",
    "a[(x, y)]": "(index (name a) (name x) (name y))",
    "a[()]": "(index (name a) (tuple))",
    "a[..., None, x::2]": ("(index (name a) (ellipsis) (none) (slice (name x) (none) (int 2)))"),
    "a + b * -x": "(binary add (name a) (binary mul (name b) (unary neg (name x))))",
    "not a": "(unary not (name a))",
    "a < b <= x": "(compare (name a) lt (name b) le (name x))",
    "a is not None": "(compare (name a) is_not (none))",
    "a not in b": "(compare (name a) not_in (name b))",
    "a and b or x": "(or (and (name a) (name b)) (name x))",
    "a if b else x": "(ifexp (name b) (name a) (name x))",
    "a(b, *x, k=y)": "(call (name a) (name b) (starred (name x)) (keyword k (name y)))",
    "[a, b]": "(list (name a) (name b))",
    "()": "(tuple)",
    "[i * b for i in a if i]": (
        "(listcomp (binary mul (name i) (name b)) (comp (name i) (name a) (name i)))"
    ),
    "[x for x in x]": "(listcomp (name x.1) (comp (name x.1) (name x)))",
    "a(i for i in b)": "(call (name a) (genexp (name i) (comp (name i) (name b))))",
    "lambda p, q=1: p + a": (
        "(lambda (params (param p) (default q (int 1))) (binary add (name p) (name a)))"
    ),
    "(x := a)": "(walrus x (name a))",
    "np.sqrt(a)": "(call (global 0) (name a))",
    "np.float32": "(global 0)",
    "np.linalg.norm": "(global 0)",
    "np.nothing.at_all": "(attribute (global 0) at_all)",
    "a.b.c": "(attribute (attribute (name a) b) c)",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text):
    assert body(text) == STATEMENTS[text]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    assert body(f"return {text}") == f"(return {EXPRESSIONS[text]})"


def test_the_parameters_are_in_the_tree_and_their_values_travel_apart():
    found = described("def f(a, b, /, c=1, *d, e, f=2.5, g):\n    '''Doc.'''\n    return a\n")
    assert found.tree == (
        "(def f (params (param a) (param b) (default c) (rest d) (keyword e) (keyword_default f) (keyword g))"
        " (block (return (name a))))"
    )
    assert found.parameters == [
        ("a", "positional_only"),
        ("b", "positional_only"),
        ("c", "positional"),
        ("d", "rest"),
        ("e", "keyword"),
        ("f", "keyword"),
        ("g", "keyword"),
    ]
    assert found.defaults == (1, 2.5)


def test_layout_comments_and_annotations_do_not_show():
    plain = described("def f(a, b):\n    x = a + b\n    return x\n")
    other = described(
        "# before\n\n\ndef f(\n    a: int,  # one\n    b: 'float' = 0,\n) -> 'x':\n"
        '    """Doc."""\n\n    x: float = (\n        a\n        # why\n        + b\n    )\n    return x  # done\n'
    )
    assert other.tree.replace("default b", "param b") == plain.tree
    assert other.first_line == 4
    assert other.source[0] == "def f("
    assert other.source[-1] == "    return x  # done"


PROGRAM = '''
def f(a, é, n=3):
    """Doc."""
    total = first = 0.0  # ünicode
    for i, row in enumerate(a):
        if i % 2 == 0 and not row[0] or i > 7 < n:
            continue
        while total < é[i, ..., 1:n]:
            total += sum([x * 2 for x in row if x])
            break
        else:
            total = -total if n else (
                total ** 2
            )
    g = lambda q: q + np.float32(1)
    def inner(z, w=n):
        return z
    assert total is not None, "ßtext"
    if (m := g(inner(n, w=2))) > 1: raise ValueError("no")
    return total, [n, *é], 3j, first.real
'''


def test_every_node_has_the_place_of_its_text():
    found = described(PROGRAM)
    nodes = nodes_of(found.tree)
    assert len(found.positions) == 4 * len(nodes)
    checked = 0
    for k, (word, atoms, _) in enumerate(nodes):
        line, column, end_line, end_column = found.positions[4 * k : 4 * k + 4]
        lines = [
            text.encode() for text in found.source[line - found.first_line : end_line - found.first_line + 1]
        ]
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        text = b"\n".join(lines).decode()
        if word == "name" and not atoms[0].startswith("."):
            assert text == atoms[0]
        elif word == "global":
            assert text == found.symbols[int(atoms[0])][1]
        elif word in ("int", "float", "complex", "string"):
            assert repr(ast.literal_eval(text)) == repr(value_of(word, atoms))
        elif word in (
            "binary",
            "compare",
            "call",
            "index",
            "attribute",
            "ifexp",
            "and",
            "or",
            "listcomp",
            "dict",
            "set",
        ):
            ast.parse(f"({text})", mode="eval")
        elif word in ("for", "while", "assign", "augment", "return", "raise", "assert"):
            ast.parse(text if "\n" not in text else "if 1:\n" + " " * column + text)
        else:
            continue
        checked += 1
    assert checked > 80


def value_of(word, atoms):
    """The value of a literal of the tree."""
    if word == "int":
        return int(atoms[0])
    if word == "float":
        return float.fromhex(atoms[0])
    if word == "complex":
        return complex(*map(float.fromhex, atoms))
    return atoms[0]


def test_a_node_without_a_place_has_that_around_it():
    found = described("def f(a):\n    while a:\n        a -= 1\n")
    places = {
        word: tuple(found.positions[4 * k : 4 * k + 4])
        for k, (word, _, _) in reversed(list(enumerate(nodes_of(found.tree))))
    }
    assert places["params"] == places["def"] == (1, 0, 3, 14)
    assert places["while"] == (2, 4, 3, 14)


def test_what_python_has_no_word_for_in_a_tree_is_refused():
    with pytest.raises(CompileError, match=r"program\.py, line 2, in f: `with` is not compiled"):
        described("def f(a):\n    with a:\n        pass\n")
