"""Random functions give what CPython gives, bit by bit; `random_functions.py` compares more."""

import importlib.util
import pathlib

import jit_random
import pytest
import weft

_spec = importlib.util.spec_from_file_location(
    "random_functions", pathlib.Path(__file__).parent / "random_functions.py"
)
functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(functions)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_function(seed):
    assert functions.disagreement(*jit_random.generate(seed), weft.jit) == ""


def test_a_seed_makes_one_function():
    assert jit_random.generate(7) == jit_random.generate(7)
    assert jit_random.generate(7) != jit_random.generate(8)


def test_a_wrong_compiler_is_found_and_its_function_shrunk():
    def jit(function):
        return lambda *arguments: None

    text, calls = jit_random.generate(7)
    assert "is (('returned', ('NoneType', None))" in functions.disagreement(text, calls, jit)
    small = functions.shrunk(text, lambda smaller: "return" in smaller)
    assert small.count("\n") < text.count("\n")
    assert "return" in small
