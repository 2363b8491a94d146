"""Functions are described by several threads at once."""

import ast
import threading

import pytest
import weft
from weft._jit import _describe, _trees, describe


def test_threads_describe_one_function():
    def f(a):
        total = 0
        for i in range(10):
            total += a * i
        return total

    found, errors = [], []

    def work():
        try:
            for _ in range(20):
                _describe._known.clear()
                found.append(describe(f).tree)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 320
    assert len(set(found)) == 1


@pytest.mark.parametrize("times", [1, 20])
def test_trees_are_made_again_where_threads_were_in_each_other_s_way(times, monkeypatch):
    """CPython 3.11 raises SystemError then; any other error of its is told."""
    failures = iter(["AST constructor recursion depth mismatch (before=30, after=24)"] * times)

    def unlucky(text):
        for text_of_error in failures:
            raise SystemError(text_of_error)
        return ast.parse(text)

    monkeypatch.setattr(_trees, "_parse", unlucky)

    def made(text):
        names = {}
        exec(text, names)
        return weft.jit(names["f"], source=text)

    assert made(f"def f(x):\n    return x + {times}\n")(1) == 1 + times
    failures = iter(["something else"])
    other = f"def f(x):\n    return x - {times}\n"
    with pytest.raises(SystemError, match="something else"):
        made(other)(1)
    assert made(other)(1) == 1 - times
