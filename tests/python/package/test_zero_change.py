"""python -m weft, weft.install() and what they promise: docs/guide/zero-change.md."""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import textwrap

import pytest
import weft

pytestmark = pytest.mark.host


def run(*words, code=0, text=None, folder=None, **environment):
    """A process of Python's, and what it wrote; with `code` as its exit status."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, **environment},
    )
    assert code is None or done.returncode == code, done.stderr
    return done


def program(folder, text, name="program.py"):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


FACTS = """
import json, sys
names = sorted(globals())
print(json.dumps([
    __name__, globals().get("__file__"), sys.argv, sys.path[0], names, __package__, type(__loader__).__name__,
    __doc__, __spec__ and __spec__.name, sys.modules["__main__"].__dict__ is globals(), repr(__builtins__)[:20],
]))
"""


def ways(folder, text):
    """The words and the standard input that run a text by each way that Python has."""
    path = program(folder, text)
    program(folder, text, "package/__main__.py")
    program(folder, "", "package/__init__.py")
    program(folder, text, "directory/__main__.py")
    return {
        "file": ([path.name, "-m", "x"], None),
        "whole path": ([path], None),
        "module": (["-m", "program", "a"], None),
        "package": (["-m", "package", "--help"], None),
        "directory": (["directory", "a"], None),
        "code": (["-c", text, "-c", "b"], None),
        "input": ([], text),
        "input with arguments": (["-", "a"], text),
    }


WAYS = ["file", "whole path", "module", "package", "directory", "code", "input", "input with arguments"]


@pytest.mark.parametrize("way", WAYS)
def test_a_program_sees_itself(way, tmp_path):
    words, text = ways(tmp_path, FACTS)[way]
    expected = json.loads(run(*words, text=text, folder=tmp_path).stdout)
    assert json.loads(run("-m", "weft", *words, text=text, folder=tmp_path).stdout) == expected


FAILING = """
import sys, os, signal
def inner():
    if sys.argv[-1] == "raise":
        raise ValueError("wrong")
    if sys.argv[-1] == "chain":
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise KeyError("x") from error
    if sys.argv[-1] == "hook":
        sys.excepthook = lambda kind, value, trace: print(kind.__name__, trace.tb_lineno, trace.tb_next.tb_lineno)
        raise ValueError
    if sys.argv[-1] == "import":
        import nothing_of_that_name
    if sys.argv[-1] == "text":
        sys.exit("the end")
    if sys.argv[-1] == "three":
        sys.exit(3)
    if sys.argv[-1] == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**6): pass
    if sys.argv[-1] == "exit":
        import atexit; atexit.register(print, "at exit"); raise SystemExit
inner()
"""


def plain(text):
    """Without the order of what runpy shows, which -m always has."""
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("end", ["raise", "chain", "hook", "import", "text", "three", "interrupt", "exit"])
def test_a_program_ends_as_ever(end, tmp_path):
    for way in ("file", "module") if end in ("raise", "interrupt") else ("file",):
        words, text = ways(tmp_path, FAILING)[way]
        expected = run(*words, end, text=text, folder=tmp_path, code=None)
        found = run("-m", "weft", *words, end, text=text, folder=tmp_path, code=None)
        assert found.returncode == expected.returncode
        assert found.stdout == expected.stdout
        assert plain(found.stderr) == plain(expected.stderr)


@pytest.mark.parametrize(
    "words", [["-c", "x = ("], ["nothing.py"], ["-m", "nothing_of_that_name"], ["-c", "1 / 0"]]
)
def test_what_cannot_run_is_refused_in_pythons_words(words, tmp_path):
    expected = run(*words, folder=tmp_path, code=None)
    found = run("-m", "weft", *words, folder=tmp_path, code=None)
    assert (found.returncode, found.stdout, plain(found.stderr)) == (
        expected.returncode,
        expected.stdout,
        plain(expected.stderr),
    )


def test_the_command_line_of_its_own(tmp_path):
    assert "python -m weft [options] program.py" in run("-m", "weft", "--help").stdout
    assert run("-m", "weft", "--version").stdout == f"weft {weft.__version__}\n"
    assert "unknown option --nothing" in run("-m", "weft", "--nothing", "x.py", code=2).stderr
    assert "--fallback is one of" in run("-m", "weft", "--fallback=x", "x.py", code=2).stderr


PROMISES = """
import sys
import numpy as np
from numpy import sin, linalg
from numpy.linalg import norm
import numpy.fft as fft
import numpy.linalg as la
import importlib, pickle, copy, collections.abc, functools

# All ways of importing give one module, and NumPy is not needed yet.
assert type(np.arange(3)).__module__ == "weft" and "numpy._core" not in sys.modules
assert sys.modules["numpy"] is np and importlib.import_module("numpy") is np
assert la is linalg is np.linalg and np.sin is sin and fft.fft is np.fft.fft and norm is np.linalg.norm
def inside():
    import numpy
    from numpy import cos
    return numpy is np and cos is np.cos
assert inside()
exec("import numpy; assert numpy is np")
nameless = {}
exec("from numpy import *; import numpy", nameless)
assert nameless["numpy"] is np and nameless["sin"] is sin
assert np.__name__ == "numpy" and np.__spec__.name == "numpy" and np.__file__.endswith("__init__.py")

# A library gets NumPy, and what it gives is an array for the program.
import scipy.linalg, scipy.special
real = scipy.linalg._basic.np
assert real is not np and real is sys.modules["numpy"] and not isinstance(np.ones(1), real.ndarray)
given = scipy.linalg.inv(np.eye(2) * 2)
assert type(given) is real.ndarray
for x in (given, np.ones(2)):
    assert isinstance(x, np.ndarray) and issubclass(type(x), np.ndarray) and isinstance(x.dtype, np.dtype)
    for kind in (np.generic, np.number, np.inexact, np.floating, np.float64):
        assert isinstance(x.sum(), kind) and issubclass(type(x.sum()), kind), kind
    assert not isinstance(x.sum(), (np.ndarray, np.float32, np.integer)) and not isinstance(x, np.generic)
    assert isinstance(x.ravel()[0] > 0, np.bool_) and x.dtype == np.float64 and x.dtype == np.dtype("f8")
    assert {np.dtype("f8"): 1}[x.dtype] == 1 and isinstance(x.astype("i4").max(), np.integer)
assert isinstance(scipy.special.expit, np.ufunc) and isinstance(np.sin, np.ufunc)
assert not isinstance(3.0, np.ndarray) and not isinstance([1], np.floating) and not isinstance(None, np.dtype)
assert isinstance(real.random.default_rng(0), np.random.Generator)
@functools.singledispatch
def kind(x): return "other"
@kind.register(np.ndarray)
def _(x): return "array"
assert kind(np.ones(1)) == "array" and kind(1.0) == "other"

# What writes into an array writes into a library's, too.
np.copyto(given, np.full((2, 2), 3.0))
np.put(given, [0], 9.0)
np.putmask(given, np.eye(2, dtype=bool)[::-1], 4.0)
np.place(given, given == 3.0, [1.0])
np.fill_diagonal(given, 5.0)
given += np.ones((2, 2))
assert type(given) is real.ndarray and given.tolist() == [[6.0, 5.0], [5.0, 6.0]]

# Classes of the program's.
class A(np.ndarray):
    def __new__(cls, x): return np.asarray(x).view(cls)
class B(np.ndarray, collections.abc.Sized): pass
assert isinstance(A([1.0]), np.ndarray) and isinstance(A([1.0]), A) and type(A([1.0]) + 1) is A
assert not isinstance(np.ones(1), A) and not isinstance(given, A) and issubclass(A, np.ndarray)
assert type(np.ndarray.__new__(np.ndarray, (2,))) is np.ndarray and len(np.ones(2).view(B)) == 2

# Errors of libraries.
try:
    scipy.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError:
    pass
for name in ("nothing", "float"):
    try:
        getattr(np, name)
    except AttributeError as error:
        assert f"module 'numpy' has no attribute '{name}'" in str(error)
    else:
        raise AssertionError(name)

# What is replaced is seen by all, both ways, and can be put back.
before = np.sin
np.sin = lambda x: "replaced"
assert real.sin(0) == "replaced" == np.sin(0)
np.sin = before
assert np.sin is before and type(real.sin) is real.ufunc and float(real.sin(0.0)) == 0.0
np.new = 1
assert real.new == 1
del np.new
assert not hasattr(real, "new") and not hasattr(np, "new")
from unittest import mock
with mock.patch("numpy.linalg.norm", lambda x: "mocked"):
    assert np.linalg.norm(1) == "mocked" == real.linalg.norm(1)
assert np.linalg.norm([3.0, 4.0]) == 5 and real.linalg.norm([3.0, 4.0]) == 5

# State.
np.random.seed(5)
first = real.random.get_state()[1][0]
assert first == 5
np.set_printoptions(precision=3)
assert str(given / 7) == str(np.asarray(given) / 7) and real.get_printoptions()["precision"] == 3
with np.errstate(divide="raise"):
    assert real.geterr()["divide"] == "raise" == np.geterr()["divide"]
assert real.geterr()["divide"] == "warn"
with np.printoptions(precision=1):
    assert real.get_printoptions()["precision"] == 1

# Pickles are NumPy's own.
for protocol in range(6):
    for x in (np.arange(6.0).reshape(2, 3), np.arange(4)[::2], np.float32(2), np.dtype("i4"), np.float64, np.ndarray):
        text = pickle.dumps(x, protocol)
        assert b"weft" not in text, (x, protocol)
        again = pickle.loads(text)
        if isinstance(x, np.ndarray):
            assert isinstance(again, np.ndarray) and (again == x).all() and again.dtype == x.dtype
assert type(copy.deepcopy(np.ones(2))) is np.ndarray and copy.copy(np.float64) is np.float64

# What weft does not have.
assert np.ma.masked_array([1.0, 2.0], [True, False]).sum() == 2 and hasattr(np, "char") and "sin" in dir(np)
assert np.get_include().endswith("include") and "numpy" in np.get_include()
import numpy.ma as ma
assert ma is np.ma
np.testing.assert_allclose(np.ones(3), [1, 1, 1])
print("held")
"""


@pytest.mark.parametrize("way", ["file", "code", "input"])
def test_promises(way, tmp_path):
    words, text = ways(tmp_path, PROMISES)[way]
    assert run("-m", "weft", *words, text=text, folder=tmp_path).stdout == "held\n"


def is_prepared():
    folder = pathlib.Path(sysconfig.get_path("purelib"))
    return any("_weft_install" in path.read_text() for path in folder.glob("*weft*.pth"))


CHILDREN = """
import multiprocessing, subprocess, sys
import numpy as np

def kind(x):
    import numpy
    return type(numpy.ones(1)).__module__, type(np.ones(1)).__module__, float(np.sum(x * 2)), isinstance(x, np.ndarray)

if __name__ == "__main__":
    for way in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(way)
        with context.Pool(1) as pool:
            got = pool.map(kind, [np.ones(3)])
        assert got == [("weft", "weft", 6.0, True)], (way, got)
    code = "import numpy.linalg as la, numpy; print(type(numpy.ones(1)).__module__, la.norm.__name__)"
    print(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout, end="")
    code = "import scipy.linalg; print(type(scipy.linalg.inv([[2.0]])).__module__)"
    print(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout, end="")
"""


@pytest.mark.skipif(not is_prepared(), reason="this environment has no .pth file of weft's: tools/bootstrap")
def test_processes_that_the_program_starts(tmp_path):
    path = program(tmp_path, CHILDREN)
    assert run("-m", "weft", path).stdout == "weft norm\nnumpy\n"
    assert run(path, WEFT_INSTALL="1").stdout == "weft norm\nnumpy\n"


def test_nothing_is_loaded_without_the_variable():
    code = "import sys; print('_weft_install' in sys.modules, 'weft' in sys.modules)"
    assert (
        run("-c", code, WEFT_INSTALL="").stdout == run("-c", code, WEFT_INSTALL="0").stdout == "False False\n"
    )


def test_pickles_load_without_weft(tmp_path):
    code = "import numpy, pickle; x = [numpy.arange(3.0), numpy.float32(1), {numpy.dtype('f4'): 2}]"
    code += "; pickle.dump(x, open('x', 'wb'), 5)"
    run("-m", "weft", "-c", code, folder=tmp_path)
    code = "import sys; sys.modules['weft'] = None; import pickle; print(pickle.load(open('x', 'rb')))"
    expected = "[array([0., 1., 2.]), np.float32(1.0), {dtype('float32'): 2}]\n"
    assert run("-c", code, folder=tmp_path).stdout == expected


EARLIER = """
import sys
import numpy as np, numpy, helper
from numpy import sin as s, float32
from numpy.linalg import norm
keep = np.ones(2)
import weft
with weft.install():
    assert type(np.ones(1)) is weft.ndarray is type(numpy.ones(1)) is type(helper.make()) and s is weft.sin
    assert float32 is weft.float32 and norm is np.linalg.norm is not weft._MISSING
    assert isinstance(keep, np.ndarray) and type(s(keep)) is weft.ndarray
    import numpy as third
    assert third is np
    with weft.install():
        pass
    assert type(np.ones(1)) is weft.ndarray
assert type(np.ones(1)) is type(keep) is type(third.ones(1)) is type(helper.make()) and s is np.sin
assert not isinstance(keep, weft.ndarray) and type(weft.ndarray) is type and np is sys.modules["numpy"]
assert type(np) is type(sys)
import numpy as fourth
assert fourth is np
weft.uninstall()
weft.load_ipython_extension(None)
assert type(np.ones(1)) is weft.ndarray
weft.unload_ipython_extension(None)
assert type(np.ones(1)) is type(keep)
try:
    weft.install(fallback="no")
except ValueError as error:
    print(error)
"""


def test_modules_that_were_imported_earlier(tmp_path):
    program(tmp_path, "import numpy\ndef make(): return numpy.ones(1)", "helper.py")
    path = program(tmp_path, EARLIER.replace(" is not weft._MISSING", ""))
    assert run(path).stdout == "fallback is one of silent, warn, error, not 'no'\n"


def test_who_gets_weft_can_be_said(tmp_path):
    program(tmp_path, "import numpy\nkind = type(numpy.ones(1)).__module__", "site-packages/installed.py")
    program(tmp_path, "import numpy\nkind = type(numpy.ones(1)).__module__", "own.py")
    path = program(tmp_path, "import installed, own; print(installed.kind, own.kind)")
    paths = {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site-packages"), os.environ.get("PYTHONPATH", "")])
    }
    assert run("-m", "weft", path, **paths).stdout == "numpy weft\n"
    assert run("-m", "weft", "--include", "installed", path, **paths).stdout == "weft weft\n"
    assert run("-m", "weft", path, WEFT_INSTALL_EXCLUDE="x, own", **paths).stdout == "numpy numpy\n"


FALLS_BACK = """
import numpy as np
for _ in range(3):
    x = np.char.zfill(["a", "b"], 2)
print(type(x).__module__)
"""


def test_what_numpy_did_is_told(tmp_path):
    path = program(tmp_path, FALLS_BACK)
    done = run("-m", "weft", "--report", path)
    assert done.stdout == "weft\n"
    assert "numpy.char.zfill: 3 calls" in done.stderr and f"{path}:4: NumPy alone has it" in done.stderr
    assert "kernels" in done.stderr
    assert run("-m", "weft", path).stderr == ""
    assert "char.zfill" in run("-m", "weft", path, WEFT_REPORT="1").stderr
    assert (
        "RuntimeWarning: char.zfill is done by NumPy" in run("-m", "weft", "--fallback", "warn", path).stderr
    )
    done = run("-m", "weft", "--fallback=error", path, code=1)
    assert "NotImplementedError: char.zfill would be done by NumPy" in done.stderr


def test_the_pytest_plugin_acts_when_it_is_named(tmp_path):
    program(
        tmp_path,
        "import numpy as np\ndef test_kind(): assert type(np.ones(1)).__module__ == 'weft'",
        "test_a.py",
    )
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a.py"]
    assert "1 failed" in run(*words, folder=tmp_path, code=1).stdout
    assert "1 passed" in run(*words, "-p", "weft.pytest_plugin", "--weft-report", folder=tmp_path).stdout
