"""Loop programs give what CPython gives."""

import jit_programs
import numpy
import pytest
import weft

PROGRAMS = jit_programs.names()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    plain = jit_programs.load(name, PROGRAMS[name])
    compiled = jit_programs.load(name, PROGRAMS[name], weft.jit)
    with numpy.errstate(all="ignore"):
        expected = plain.outcome(plain.small, widen=True)
    found = compiled.outcome(compiled.small)
    assert jit_programs.different(expected, found, plain.tolerance) == ""


def test_wrong_results_are_found():
    wrong = jit_programs.load("looped_sum", PROGRAMS["looped_sum"])
    expected = wrong.outcome(10)
    wrong.run = lambda a: sum(a) + 1
    assert "result 0 is" in jit_programs.different(expected, wrong.outcome(10), 0.0)
    wrong.run = lambda a: a.fill(0) or expected[0]
    assert "result 1 is" in jit_programs.different(expected, wrong.outcome(10), 0.0)
