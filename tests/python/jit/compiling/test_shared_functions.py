"""Large functions of NumPy's that programs share: their code is shipped with weft."""

import os
import pathlib
import re
import subprocess
import sys
import threading

import numpy
import pytest
import weft as np

SHIPPED = pathlib.Path(np._core.__file__).with_name("libweft.functions").exists()
needs_file = pytest.mark.skipif(not SHIPPED, reason="this build ships no functions")


def program(body, **options):
    source = f"def f(x, s):\n    {body}\n"
    names = {"np": numpy}
    exec(source, names)
    return names["f"], np.jit(names["f"], source=source, cache=False, **options)


X = numpy.random.default_rng(5).random(40)
S = numpy.arange(12.0)


@needs_file
@pytest.mark.parametrize(
    "text", ["np.std(x)", "np.sum(x)", "np.interp(x, s, s)", "np.unique(x)", "np.sort(x), np.cumsum(x)"]
)
def test_what_is_shipped_is_not_compiled(text, tmp_path):
    """In a process of its own: what is shipped is for the settings that programs have, and tests change these."""
    file = tmp_path / "program.py"
    file.write_text(
        f"""
import numpy
import numpy as np
import weft

def plain(x, s):
    return {text}

f = weft.jit(plain, cache=False)
x, s = numpy.random.default_rng(5).random(40), numpy.arange(12.0)
before = weft.cache_info()["compiled"]
found = f(x, s)
assert weft.cache_info()["compiled"] - before == 1  # the program
numpy.testing.assert_allclose(numpy.asarray(found), plain(x, s), rtol=1e-12)
(code,) = f.inspect_llvm().values()
print("call ptr @weft_lazy_part" in code)  # there is none in a program that has the functions in its place
"""
    )
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True\n", done.stderr


@needs_file
@pytest.mark.parametrize("text", ["missing", "empty", "damaged", "of another engine"])
def test_without_what_is_shipped_functions_are_compiled(text, tmp_path):
    folder = pathlib.Path(np._core.__file__).parent
    package = tmp_path / "weft"
    package.mkdir()
    for each in folder.iterdir():
        if each.name not in ("libweft.functions", "libweft.so"):
            (package / each.name).symlink_to(each.resolve())
    os.link(folder / "libweft.so", package / "libweft.so")  # it looks beside itself
    shipped = bytearray((folder / "libweft.functions").read_bytes())
    if text == "of another engine":  # another key for each function
        rows = int.from_bytes(shipped[16:24], "little")
        for row in range(rows):
            shipped[24 + 80 * row] ^= 1
    if text == "damaged":
        for i in range(len(shipped) // 2, len(shipped), 64):
            shipped[i] ^= 0x55
    if text != "missing":
        (package / "libweft.functions").write_bytes(b"" if text == "empty" else shipped)
    file = tmp_path / "program.py"
    file.write_text(
        "import numpy, weft\nf = weft.jit(lambda x: numpy.std(x))\nprint(weft.__file__)\nprint(f(numpy.arange(9.0)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "WEFT_CACHE": "0"}
    found = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=True
    )
    place, result = found.stdout.split()
    assert place.startswith(str(tmp_path)) and float(result) == numpy.std(numpy.arange(9.0))


def test_calls_that_loops_reach_through_functions_are_compiled_with_the_program():
    source = """def sum_of(x):
    return np.sum(x)

def f(x, s):
    t = 0.0
    for i in range(len(x)):
        t += sum_of(x[i:i + 3]) + sum_of(s)
    return t
"""
    names = {"np": numpy}
    exec(source, names)
    sum_of = np.jit(names["sum_of"], source=source.split("def f")[0])
    names["sum_of"] = sum_of
    f = np.jit(names["f"], source=source[source.index("def f") :], cache=False)
    f(X, S)
    (ir,) = f.inspect_ir().values()
    assert "call lazy @" not in ir
    sum_of(X)
    (outside,) = sum_of.inspect_ir().values()
    assert "call lazy @" in outside


@pytest.mark.parametrize("cpu", ["", "x86-64-v2"])
def test_the_bits_are_those_of_compiled_code(cpu):
    text = "return np.std(x), np.sum(x * s[0] + x), np.mean(x), np.interp(x, s, s * s), np.median(x), np.cumsum(x)"
    _, f = program(text)
    found = f(X, S)
    with np.config(cpu=cpu, verify=True):  # such code is not shipped
        others = program(text)[1](X, S)
    for one, other in zip(found, others, strict=True):
        assert numpy.asarray(one).tobytes() == numpy.asarray(other).tobytes()


def test_errors_are_those_of_the_call():
    source = """def f(x, k):
    a = np.bincount(x)
    if k == 1:
        np.bincount(x - 50)
    if k == 2:
        return np.histogram(x, k - 2)[0]
    b = np.bincount(x + k)
    for i in range(3):
        b = np.bincount(x + k * i)
    return a if k == 3 else b
"""
    names = {"np": numpy}
    exec(compile(source, "program.py", "exec"), names)
    f = np.jit(names["f"], source=source, cache=False)
    x = numpy.arange(9)
    assert f(x, 3).tolist() == [1] * 9 and f(x, 0).tolist() == [1] * 9
    for k, line, error, text in (
        (1, 4, ValueError, "must have no negative elements"),
        (2, 6, ValueError, "`bins` must be positive"),
        (-1, 7, ValueError, "must have no negative elements"),
    ):
        with pytest.raises(error, match=re.escape(text)) as raised:
            f(x, k)
        assert raised.traceback[-1].lineno + 1 == line
    with pytest.raises(ValueError, match="must have no negative elements") as raised:
        f(x + 1, -1)
    assert raised.traceback[-1].lineno + 1 == 9


def test_errors_of_several_calls_are_caught():
    plain, f = program(
        "try:\n        return np.bincount(np.sort(s).astype(np.int64) - 3)[0]\n"
        "    except ValueError:\n        return np.sum(x) + np.bincount(s.astype(np.int64))[0]"
    )
    assert f(X, S) == plain(X, S)


def test_calls_in_loops_have_the_function_in_their_place():
    _, f = program("t = 0.0\n    for i in range(len(x)):\n        t += np.sum(x[i:i + 3])\n    return t")
    f(X, S)
    (ir,) = f.inspect_ir().values()
    assert "call lazy @" not in ir


def test_a_function_that_is_called_in_both_ways():
    plain, f = program("t = np.max(x)\n    for i in range(3):\n        t += np.max(x[i:])\n    return t")
    for given in (X, X.reshape(5, 8)):
        assert f(given, S) == plain(given, S)


def test_threads_reach_a_shared_function_at_once():
    plain, _ = program("return np.std(x)")
    for _ in range(3):
        _, f = program("return np.std(x)", nogil=True)
        start, results = threading.Barrier(6), [None] * 6

        def work(k, f=f, start=start, results=results):
            start.wait()
            results[k] = f(X, S)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(results)) == 1
        numpy.testing.assert_allclose(results[0], plain(X, S))
