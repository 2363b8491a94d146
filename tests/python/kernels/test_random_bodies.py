"""ElementwiseKernel beside a C++ compiler: random bodies over all dtypes, bit by bit."""

import random

import numpy
import pytest
import weft as np
from c_programs import COMPILER, compiled_programs, random_program, values_of, weft_body, weft_parameters

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no clang++")
PROGRAMS = 40
COPIES = 150  # of the elements, so that kernels are made of them


def _equal(found, expected):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.dtype == expected.dtype
    if expected.dtype.kind == "f":
        same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
    else:
        same = found == expected
    assert same.all(), (found[~same], expected[~same])


@pytest.mark.parametrize(("seed", "copies"), [(0, 1), (1, 1), (2, 1), (3, COPIES)])
def test_bodies_mean_what_a_compiler_makes_of_them(seed, copies, tmp_path):
    programs = [random_program(f"{seed} {number}") for number in range(PROGRAMS)]
    references = compiled_programs(programs, tmp_path)
    for number, ((inputs, outputs, body), reference) in enumerate(zip(programs, references)):
        generator = random.Random(number)
        given = [numpy.tile(values_of(dtype, generator), copies) for dtype in inputs.values()]
        before = [numpy.tile(values_of(dtype, generator), copies) for dtype in outputs.values()]
        expected = [one.copy() for one in before]
        reference([*given, *expected])
        kernel = np.ElementwiseKernel(
            weft_parameters(inputs), weft_parameters(outputs), weft_body(body), return_tuple=True
        )
        found = kernel(*map(np.array, given), *map(np.array, before))
        try:
            for one, other in zip(found, expected):
                _equal(one, other)
        except AssertionError as error:
            raise AssertionError(f"{inputs} -> {outputs}\n{body}\n{error}") from None
