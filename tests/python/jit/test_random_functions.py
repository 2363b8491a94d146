"""Random functions give what CPython gives, bit by bit, in each way; `random_functions.py` compares more."""

import argparse
import importlib.util
import os
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
@pytest.mark.parametrize("seed", range(40))
def test_a_random_function_that_guards_indices(seed, parallel):
    program = functions.program_of(seed, parallel, bounds=True)
    assert functions.disagreement(program, weft.jit, functions.ways_of(seed, "turn")) == ""


@pytest.mark.parametrize("bounds", (False, True))
@pytest.mark.parametrize("parallel", (False, True))
def test_a_random_function_in_all_ways(parallel, bounds):
    program = functions.program_of(1, parallel, bounds)
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


def test_integers_of_the_reference_wrap_around():
    text = "def f(n):\n    return n + 1, abs(n), -n, n // -1, n * n, n - len((1, 2)), n << 1\n"
    f = functions.functions_of(text, "<wraps>", wraps=True)
    assert f(2**63 - 1) == (-(2**63), 2**63 - 1, -(2**63) + 1, -(2**63) + 1, 1, 2**63 - 3, -2)
    assert f(-(2**63)) == (-(2**63) + 1, -(2**63), -(2**63), -(2**63), 0, 2**63 - 2, 0)


def test_calls_that_go_on_for_too_long_are_left_out():
    text = "def f(n):\n    while n != 0:\n        n -= 1\n    return n\n"
    assert functions.Program(text, [(-1,), (5,)], "<long>", wraps=True).calls == [(5,)]


def test_calls_of_which_an_iteration_behind_an_error_goes_on_for_too_long_are_left_out():
    text = """
def f(n):
    t = 0
    for j in np.prange(2):
        t += 1 // j
        k = n
        while k != 0:
            k -= 1
    return t
"""
    program = functions.Program(text, [(-1,), (5,)], "<long>", 0, wraps=True)
    assert program.calls == [(5,)]
    assert program.expected[0][0][:2] == ("raised", "ZeroDivisionError")


def test_what_ends_the_process_is_told(capsys):
    options = argparse.Namespace(
        parallel=False, bounds=False, ways="one", jit="?", shrink=False, process=os.getpid()
    )
    before = functions.compiler
    functions.compiler = lambda name: (
        lambda function: lambda *a: os.getpid() != options.process and os._exit(3)
    )
    try:
        assert functions.compare_beside(options, range(7, 9)) == (1, range(8, 9))
    finally:
        functions.compiler = before
    assert "seed 7: the process ends with 3" in capsys.readouterr().out


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


@pytest.mark.parametrize("mode", (0, 1, 2, 3))
def test_kernel_ir_alone(mode):
    for seed in range(1000, 1050):
        program = functions.program_of(seed, mode % 2 == 1, mode > 1)
        if program.calls:
            assert functions.disagreement_of_ir(program, weft.jit) == "", seed


def test_kernel_ir_that_is_wrong_is_found():
    program = functions.Program("def f(n):\n    return n + 1, 8 // n\n", [(3,), (0,)], "<right>")
    assert functions.disagreement_of_ir(program, weft.jit) == ""
    text, exceptions = program.compile(weft.jit)._lowered((3,))
    assert exceptions == ["ZeroDivisionError"]

    class Wrong:
        def __init__(self, *made):
            self.made = made

        def _lowered(self, arguments):
            return self.made

    wrong = Wrong(text.replace("i64 1", "i64 2"), exceptions)
    program.compile = lambda jit: wrong
    assert "is (('returned', (5, 2))" in functions.disagreement_of_ir(program, weft.jit), text
    wrong.made = text, ["IndexError"]
    assert "IndexError" in functions.disagreement_of_ir(program, weft.jit)
    wrong.made = text.replace("i64 1", "f64 1"), exceptions
    assert functions.disagreement_of_ir(program, weft.jit).startswith("oracle: ")
