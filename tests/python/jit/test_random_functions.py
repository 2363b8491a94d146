"""Random functions give what CPython gives, bit by bit, in each way; `random_functions.py` compares more."""

import importlib.util
import pathlib
import re

import pytest
import weft

_spec = importlib.util.spec_from_file_location(
    "random_functions", pathlib.Path(__file__).parent / "random_functions.py"
)
functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(functions)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_function(seed):
    ways = functions.ways_of(seed, "turn")
    assert functions.disagreement(functions.program_of(seed, False), weft.jit, ways) == ""


@pytest.mark.parametrize("seed", range(40))
def test_a_random_function_with_parallel_loops(seed):
    ways = functions.ways_of(seed, "turn")
    assert functions.disagreement(functions.program_of(seed, True), weft.jit, ways) == ""


@pytest.mark.parametrize("parallel", (False, True))
def test_a_random_function_in_all_ways(parallel):
    program = functions.program_of(1, parallel)
    assert functions.disagreement(program, weft.jit, functions.WAYS) == ""


def test_the_ways_are_all_passes():
    with pytest.raises(ValueError) as refused, weft.config(without="?"):
        pass
    assert {"simplify", "lanes_of_loops"} <= set(functions.SWITCHES)
    for switch in functions.SWITCHES:
        assert switch in str(refused.value)


def test_a_seed_makes_one_function():
    for parallel in (False, True):
        assert functions.program_of(7, parallel).text == functions.program_of(7, parallel).text
        assert functions.program_of(7, parallel).text != functions.program_of(8, parallel).text


def test_a_wrong_compiler_is_found_and_its_function_shrunk():
    def jit(function):
        return lambda *arguments: None

    program = functions.program_of(7, False)
    assert "is (('returned', ('NoneType', None))" in functions.disagreement(program, jit)
    small = functions.shrunk(program.text, lambda smaller: "return" in smaller)
    assert small.count("\n") < program.text.count("\n")
    assert "return" in small


def changed(what):
    """A compiler of which the functions compiled otherwise are wrong."""

    def jit(function, **options):
        compiled = weft.jit(function, **options)
        if what(options):
            return lambda *arguments: compiled(*arguments) and None
        return compiled

    return jit


@pytest.mark.parametrize(
    "way, what",
    [
        ("serial", lambda options: options.get("parallel") is False),
        ("unchecked", lambda options: options.get("boundscheck") is False),
        ("without simplify", lambda options: "simplify" in weft.config.without),
    ],
)
def test_a_way_that_is_wrong_is_found(way, what):
    program = functions.Program("def f(n):\n    return n + 1\n", [(3,)], "<way>")
    assert functions.disagreement(program, weft.jit, (way,)) == ""
    assert functions.disagreement(program, changed(what), (way,)).startswith(way)


def test_a_sum_that_hangs_on_threads_is_found():
    def jit(function):
        compiled = weft.jit(function)
        return lambda *arguments: compiled(*arguments) * (1 + weft.config.num_threads * 2.0**-52)

    text = "def f(a):\n    y0 = 0.0\n    for i in np.prange(len(a)):\n        y0 += a[i]\n    return y0\n"
    program = functions.Program(text, [([0.1] * 100,)], "<threads>", 1)
    assert functions.disagreement(program, weft.jit) == ""
    assert re.match(r"on \d threads: ", functions.disagreement(program, jit))


def test_the_oracle_finds_other_bits():
    program = functions.Program("def f(x):\n    return x * 3.0\n", [(0.1,)], "<oracle>")
    compiled = program.compile(weft.jit)
    first = [functions.outcome(compiled, (0.1,), True)]
    assert functions.by_oracle(program, compiled, first) == ""
    wrong = [functions.outcome(lambda x: 0.3, (0.1,), True)]
    assert functions.by_oracle(program, compiled, wrong).startswith("oracle")
