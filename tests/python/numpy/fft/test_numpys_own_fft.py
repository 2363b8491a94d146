"""NumPy's own tests of numpy.fft, as its wheel has them, with weft in NumPy's place."""

import inspect
import pathlib

import numpy
import pytest
import weft

LONG_DOUBLE = "weft has no long double"
EXCEPTIONS = {
    "TestFFT1D::test_identity_long_short[longdouble]": LONG_DOUBLE,
    "TestFFT1D::test_identity_long_short_reversed[longdouble]": LONG_DOUBLE,
}


class NumPyByWeft:
    """The names of weft, and NumPy's where weft has none; those of linalg are no matter of these tests."""

    def __getattr__(self, name):
        return getattr(weft if hasattr(weft, name) and name != "linalg" else numpy, name)


def by_weft(value):
    """A parameter of NumPy's tests: a function of its fft is weft's."""
    return getattr(weft.fft, value.__name__) if getattr(value, "__module__", None) == "numpy.fft" else value


def cases():
    """Each test of NumPy's files: its name, and what to call."""
    for file in ("test_pocketfft.py", "test_helper.py"):
        path = pathlib.Path(numpy.fft.__file__).parent / "tests" / file
        names = {"__name__": f"numpys_own_{path.stem}"}
        exec(compile(path.read_text(), str(path), "exec"), names)
        names["np"] = NumPyByWeft()
        names["fft"] = weft.fft
        if "random" in names:
            names["random"] = weft.random.random
        for class_name, group in list(names.items()):
            if not inspect.isclass(group) or not class_name.startswith("Test"):
                continue
            for name in vars(group):
                if not name.startswith("test"):
                    continue
                test = getattr(group(), name)
                marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
                yield from expanded(f"{class_name}::{name}", test, marks)


def expanded(name, test, marks, given=None):
    if not marks:
        yield name, test, given or {}
        return
    *rest, mark = marks
    parameters, values = mark.args
    wanted = (
        [each.strip() for each in parameters.split(",")] if isinstance(parameters, str) else list(parameters)
    )
    for value in values:
        several = value if len(wanted) > 1 else (value,)
        texts = [getattr(each, "__name__", str(each)) for each in several]
        yield from expanded(
            f"{name}[{'-'.join(texts)}]",
            test,
            rest,
            {**(given or {}), **dict(zip(wanted, map(by_weft, several)))},
        )


CASES = list(cases())


def test_the_tests_are_found():
    assert len(CASES) > 50
    assert len({name for name, _, _ in CASES}) == len(CASES)
    assert EXCEPTIONS.keys() <= {name for name, _, _ in CASES}


@pytest.mark.parametrize("name, test, given", CASES, ids=[name for name, _, _ in CASES])
def test_numpys_own(name, test, given):
    if name in EXCEPTIONS:
        pytest.xfail(EXCEPTIONS[name])
    test(**given)
