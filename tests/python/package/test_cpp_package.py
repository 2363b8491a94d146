"""weft for C++ as it is installed: programs outside of the tree, built with nothing but a compiler and CMake."""

import re
import shutil
import subprocess

import numpy
import pytest
from installed_weft import COMPILERS, ENVIRONMENT, ROOT, STRICT, configuration, needs_build, run

pytestmark = needs_build


def _project(source, prefix, folder, compiler="g++"):
    """Copies a project away from the tree and builds it there; returns where its programs are."""
    shutil.copytree(source, folder / "source")
    cmake = configuration()["CMAKE_COMMAND"]
    compiler = shutil.which(compiler) or shutil.which(COMPILERS[0])
    run(
        [cmake, "-S", folder / "source", "-B", folder / "build", "-G", "Unix Makefiles"]
        + [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}"]
    )
    run([cmake, "--build", folder / "build", "--parallel", "2"])
    return folder / "build"


@pytest.fixture(scope="module")
def consumer(prefix, tmp_path_factory):
    return _project(ROOT / "tests/consumer", prefix, tmp_path_factory.mktemp("consumer"))


def test_a_program_outside_of_the_tree_runs(consumer):
    out = run([consumer / "consumer"])
    assert out.splitlines()[0] == "operands could not be broadcast together with shapes (2,3) (4,5) "
    assert out.splitlines()[1:3] == ["[[3.  1.  1.  1.  1. ]", " [2.  0.5 0.5 0.5 0. ]"]


def test_a_program_loads_what_was_installed_with_weft(consumer, prefix):
    libraries = run(["ldd", consumer / "consumer"])
    assert f"{prefix}/lib/libweft.so" in libraries
    assert f"{prefix}/lib/weft/libsleef.so" in libraries
    assert "python" not in libraries and "LLVM" not in libraries


def test_only_public_headers_are_installed(prefix):
    headers = ROOT / "include/weft"
    expected = {path.relative_to(headers).as_posix() for path in headers.rglob("*.*")} | {
        "operations.h",
        "dtypes.h",
    }
    assert {path.relative_to(prefix).as_posix() for path in (prefix / "include").rglob("*.*")} == {
        f"include/weft/{name}" for name in expected
    }
    text = "".join(path.read_text() for path in (prefix / "include/weft").rglob("*.*"))
    assert not re.search(r'#\s*include\s*[<"](core|ops|graph|device|llvm|Python)', text)
    package = "".join(path.read_text() for path in (prefix / "lib/cmake/weft").iterdir())
    assert str(ROOT) not in package


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_headers_compile_without_a_warning(compiler, prefix):
    # -I: what find_package names are system headers, of which compilers do not warn.
    run([compiler, *STRICT, "-fsyntax-only", f"-I{prefix}/include", ROOT / "tests/consumer/consumer.cpp"])


def test_another_version_is_refused(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(other NONE)\nfind_package(weft 0.2 REQUIRED)\n"
    )
    command = [configuration()["CMAKE_COMMAND"], "-S", tmp_path, "-B", tmp_path / "build"]
    done = subprocess.run(
        [*command, f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.returncode != 0 and "0.1.0" in done.stderr


def test_the_examples_find_what_is_known(prefix, tmp_path):
    programs = _project(ROOT / "examples/cpp", prefix, tmp_path)
    assert run([programs / "laplace", "41"]).startswith("middle 0.24998")
    assert run([programs / "black_scholes"]).startswith("call [4.75942239] put [0.80859937]")


# ---- beside NumPy ----


def _sent(a):
    a = numpy.asarray(a)
    return " ".join([a.dtype.name, str(a.ndim), *map(str, a.shape), "x" + a.tobytes().hex()])


def _answers(consumer, requests):
    return run([consumer / "arrays"], input="".join(f"{request}\n" for request in requests))


def _received(line):
    dtype, rest = line.split(" ", 1)
    shape, data = rest.rsplit(" x", 1)
    return numpy.frombuffer(bytes.fromhex(data), dtype).reshape(eval(shape))


def _printed():
    generator = numpy.random.default_rng(5)
    special = [0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf, 1.5]
    yield from (numpy.array(x) for x in (1.5, -3, True, 1e20, 1e-7, 2j, 1 + 2.5j, numpy.float32(0.1)))
    for dtype in ("float64", "float32", "float16"):
        yield numpy.array(special, dtype)
        yield numpy.array([numpy.nan, 1], dtype)
        yield numpy.array([-numpy.inf], dtype)
        for scale in (1e-3, 1, 1e3, 1e9) if dtype != "float16" else (0.01, 1, 100):
            yield (generator.standard_normal(9) * scale).astype(dtype)
            yield (generator.standard_normal((3, 4)) * scale).astype(dtype)
            yield numpy.round(generator.standard_normal((2, 2, 3)) * scale, 1).astype(dtype)
    for dtype in ("complex128", "complex64"):
        yield (generator.standard_normal(5) + 1j * generator.standard_normal(5)).astype(dtype)
        yield numpy.array([1 + 1j, numpy.nan, -numpy.inf + 2j, 1e10j], dtype)
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "uint64", "bool"):
        yield generator.integers(0, 2 if dtype == "bool" else 100, (3, 5)).astype(dtype)
    yield numpy.array([-5, 100, 2**62])
    yield numpy.arange(2000.0)
    yield numpy.arange(4000).reshape(40, 100)
    yield generator.standard_normal((11, 12, 13))
    yield numpy.arange(60) * 1234567
    yield numpy.zeros((0, 3))
    yield numpy.zeros(0)
    yield numpy.zeros((2, 0), "int32")


def test_arrays_print_as_numpy_prints_them(consumer):
    arrays = list(_printed())
    texts = _answers(consumer, [f"print {_sent(a)}" for a in arrays]).split("\n--\n")[:-1]
    assert len(texts) == 2 * len(arrays)
    for a, text, representation in zip(arrays, texts[::2], texts[1::2]):
        assert text == str(a)
        assert representation == repr(a)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128", "bool"])
def test_einsum_is_that_of_numpy(consumer, dtype):
    generator = numpy.random.default_rng(1)
    calls = []
    for text, *shapes in (
        ["ij,jk->ik", (2, 3), (3, 4)],
        ["ij,jk", (2, 3), (3, 4)],
        ["ba", (2, 3)],
        ["ii", (3, 3)],
        ["ii->i", (3, 3)],
        ["ij->", (2, 3)],
        ["i,j->ji", (2,), (3,)],
        ["...ij,...jk->...ik", (5, 2, 3), (3, 4)],
        ["i...->...", (2, 3, 4)],
        ["ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 2), (2, 5)],
        ["ab,bc,ca", (2, 3), (3, 4), (4, 2)],
        ["iij,j->i", (2, 2, 3), (3,)],
        ["ij,kj->ik", (2, 1), (3, 4)],
        [",->", (), ()],
        ["a,b,c,d,e,f,g,h,i->aei", *([(2,)] * 9)],
        ["ij,jk->ik", (2, 3), (4, 5)],
        ["ij->ii", (2, 3)],
        ["ij->k", (2, 3)],
        ["i.j", (2, 3)],
        ["ij,j", (2, 3)],
        ["ijk", (2, 3)],
        ["i", (2, 3)],
    ):
        calls.append((text, [generator.integers(0, 4, shape).astype(dtype) for shape in shapes]))
    requests = [f"einsum {text} {len(given)} {' '.join(map(_sent, given))}" for text, given in calls]
    for (text, given), line in zip(calls, _answers(consumer, requests).splitlines(), strict=True):
        try:
            expected = numpy.einsum(text, *given)
        except ValueError as error:
            assert line == f"ValueError {error}"
            continue
        found = _received(line)
        assert found.dtype == expected.dtype and found.shape == expected.shape, text
        assert (found == expected).all(), text


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_statistics_are_those_of_numpy(consumer, name):
    generator = numpy.random.default_rng(2)
    cases = [
        (generator.integers(0, 100, (4, 5)).astype(dtype), axis)
        for dtype in ("float64", "float32", "int32", "bool", "complex128")
        for axis in (None, 0, -1)
    ]
    lines = _answers(consumer, [f"{name} {axis} {_sent(a)}" for a, axis in cases]).splitlines()
    for (a, axis), line in zip(cases, lines, strict=True):
        expected = getattr(numpy, name)(a, axis=axis, **({"ddof": 1} if name == "var" else {}))
        found = _received(line)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        numpy.testing.assert_allclose(found, expected, rtol=1e-6 if a.dtype == "float32" else 1e-14)
