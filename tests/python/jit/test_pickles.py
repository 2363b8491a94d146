"""Compiled functions in pickles: by name where that leads to them, else by their code."""

import copy
import math
import pickle
import subprocess
import sys

import numpy
import pytest
import weft as np
from weft import numba

factor = 3.0


@np.jit
def cubed(x):
    return x * x * x


def made(k, inner=cubed):
    by_keyword = 10

    @np.jit
    def f(x, more=2, *, rest=by_keyword):
        """What it does."""
        return inner(x) * k + math.sqrt(factor * 12) + more + rest + np.float64(0)

    return f


def again(function):
    return pickle.loads(pickle.dumps(function))


def test_functions_of_modules_are_pickled_by_their_names():
    assert again(cubed) is cubed


def test_functions_of_functions_are_pickled_by_their_code():
    f = made(2)
    g = again(f)
    assert g is not f
    assert (g(2), g(2.0, 1), g(2, rest=0), g(0)) == (f(2), f(2.0, 1), f(2, rest=0), f(0))
    assert (g.__name__, g.__qualname__, g.__doc__, g.__module__) == (
        f.__name__,
        f.__qualname__,
        f.__doc__,
        __name__,
    )
    assert again(g)(2) == f(2)


def test_lambdas_and_functions_that_call_themselves():
    assert again(np.jit(lambda x, k=4: x + k))(3) == 7

    @np.jit
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert again(fibonacci)(12) == 144


def test_options_travel():
    f = np.jit(lambda x, y: x / y, error_model="numpy")
    assert again(f)(1.0, 0.0) == math.inf
    signed = numba.njit("f8(i4)", error_model="numpy")(lambda n: n / 0.0)
    assert again(signed)(1) == math.inf
    with pytest.raises(TypeError):
        again(signed)("text")
    changed = numba.njit(fastmath=True)(lambda x, y: (x - y) + y)
    assert (changed(0.1, 1e17), again(changed)(0.1, 1e17)) == (0.1, 0.1)


def test_signed_functions_keep_their_defaults_where_others_call():
    @numba.njit("f8(f8, i4)")
    def scaled(x, by=3):
        return x * by

    caller = numba.njit(lambda x: scaled(x))
    assert again(caller)(2) == caller(2) == 6.0


def test_arrays_of_closures_travel():
    weights = numpy.arange(4.0)
    f = np.jit(lambda i: weights[i] * 2)
    assert again(f)(3) == 6.0


def test_copies_are_the_function_itself():
    f = made(1)
    assert copy.copy(f) is f
    assert copy.deepcopy([f])[0] is f


def test_functions_of_main_reach_another_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import pickle, sys, math\n"
        "import weft as np\n"
        "scale = 5\n"
        "@np.jit\n"
        "def helper(x):\n"
        "    return x * scale\n"
        "@np.jit\n"
        "def f(x):\n"
        "    return helper(x) + math.floor(2.5)\n"
        "pickle.dump(f, open(sys.argv[1], 'wb'))\n"
    )
    kept = tmp_path / "f.pickle"
    subprocess.run([sys.executable, str(program), str(kept)], check=True)
    program.unlink()
    with open(kept, "rb") as file:
        assert pickle.load(file)(4) == 22


def test_another_version_of_python_is_refused(monkeypatch):
    import importlib.util

    text = pickle.dumps(made(1))
    monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"none")
    with pytest.raises(ValueError, match="another version of Python"):
        pickle.loads(text)


def test_names_of_other_things_do_not_stand_for_a_function():
    f = made(1)
    f.__qualname__ = "cubed"
    assert again(f) is not cubed
    assert again(f)(1) == f(1)
