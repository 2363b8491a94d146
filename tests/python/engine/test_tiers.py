"""Kernels run interpreted and as machine code, which takes over: the same bits (docs/internals/tiers.md)."""

import json
import os
import subprocess
import sys

import numpy
import pytest
import weft

N = 20000


def numbers(*shape, dtype="f8", seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)


X, Y = numbers(N), numbers(N, seed=2)
M = numbers(130, 700)
INTEGERS = numpy.random.default_rng(3).integers(-9, 9, N)


def in_place(np, x):
    z = x + 0
    np.eval(z)
    z[1:] += x[:-1] * 2
    z[::2] = np.sqrt(np.absolute(z[::2]))
    return z


PROGRAMS = {
    "arithmetic": lambda np: np.array(X) * np.array(Y) + np.sqrt(np.absolute(np.array(X))) - np.array(Y) / 2,
    "elementary": lambda np: np.exp(-np.array(X)) * np.sin(np.array(Y)) + np.tanh(np.array(X)),
    "float32": lambda np: np.log1p(np.absolute(np.array(X, dtype="f4"))) * 2 + np.array(Y, dtype="f4"),
    "float16": lambda np: np.array(X, dtype="f2") * 3 + np.array(Y, dtype="f2"),
    "bfloat16": lambda np: np.array(X, dtype="bfloat16") * 3 + np.array(Y, dtype="bfloat16"),
    "complex": lambda np: np.array(X, dtype="c16") * np.array(Y) + 1j,
    "integers": lambda np: np.array(INTEGERS) // 4 * 3 % 5 - (np.array(INTEGERS) << 2),
    "comparison": lambda np: (np.array(X) > 0) & (np.array(Y) < 1) | np.isnan(np.array(X)),
    "selection": lambda np: np.where(np.array(X) > np.array(Y), np.array(X), 0.5) * 2,
    "cast": lambda np: (np.array(X) * 100).astype("i4") + np.array(INTEGERS, dtype="i1"),
    "several results": lambda np: np.divmod(np.array(X) * 7, 2.5)[1] + 1,
    "positions": lambda np: np.arange(N) * 0.5 + np.array(X),
    "reversed": lambda np: np.array(X)[::-1] * 2 + np.array(Y)[::1],
    "steps": lambda np: np.array(X)[::3] + np.array(Y)[1::3][: len(X[::3])].sum(),
    "broadcast": lambda np: np.array(M) + np.array(M)[0] * np.array(M)[:, :1],
    "transposed": lambda np: np.array(M).T * 2 + np.array(M).T,
    "gather": lambda np: (np.array(X) * 2)[np.array(INTEGERS)] + np.array(INTEGERS),
    "in place": lambda np: in_place(np, np.array(X)),
    "sum": lambda np: np.array(X).sum(),
    "sum of products": lambda np: (np.array(X) * np.array(Y)).sum(),
    "sums of rows": lambda np: (np.array(M) * 2).sum(axis=1),
    "sums of columns": lambda np: (np.array(M) * 2).sum(axis=0),
    "short rows": lambda np: np.array(M).reshape(-1, 7).sum(axis=1),
    "few columns": lambda np: np.array(M).reshape(-1, 5).sum(axis=0),
    "outer and inner": lambda np: np.array(M).reshape(13, 10, 700).sum(axis=(0, 2)),
    "sum in float32": lambda np: np.array(X, dtype="f4").sum(),
    "product": lambda np: (np.array(X) * 0.01 + 1).prod(),
    "complex product": lambda np: (np.array(M[:4], dtype="c16") * 0.01 + 1).prod(axis=0),
    "extrema": lambda np: np.array(X).max() - np.array(Y).min(),
    "any and all": lambda np: (np.array(X) > 9).any() | (np.array(X) > -9).all(),
    "argmax": lambda np: np.array(X).argmax() + np.array(Y).argmin(),
    "argmax of rows": lambda np: np.array(M).argmax(axis=1) + np.array(M).argmin(axis=1),
    "argmax of columns": lambda np: np.array(M).argmax(axis=0),
    "deviation": lambda np: np.array(X).std(),
    "deviations of rows": lambda np: np.array(M).var(axis=1),
    "normalised columns": lambda np: (np.array(M) - np.array(M).mean(axis=0)) / np.array(M).std(axis=0),
    "softmax": lambda np: (
        lambda e: e / e.sum(axis=1, keepdims=True)
    )(np.exp(np.array(M) - np.array(M).max(axis=1, keepdims=True))),
    "running sums": lambda np: np.cumsum(np.array(X) * 2),
}  # fmt: skip


def run(program, tier, **settings):
    weft._core._forget_kernels()
    with weft.config(tier=tier, small=0, cache=False, **settings):
        return numpy.asarray(program(weft))


@pytest.mark.parametrize("fuse", [True, False], ids=["fused", "naive"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tiers_give_the_same_bits(name, fuse):
    expected = run(PROGRAMS[name], "jit", fuse=fuse)
    for threads in (1, 3):
        found = run(PROGRAMS[name], "block", fuse=fuse, num_threads=threads)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), threads
    assert run(PROGRAMS[name], "auto", fuse=fuse).tobytes() == expected.tobytes()


def tiers_of(program, tier):
    weft._core._forget_kernels()
    weft.clear_kernel_history()
    before = weft.cache_info()["compiled"]
    with weft.config(tier=tier, small=0, cache=False, tier_delay=100):
        weft.eval(program(weft))
        history = [kernel["compiled"] for kernel in weft.kernel_history()]
        return history, weft.cache_info()["compiled"] - before


def test_each_tier_compiles_what_it_says():
    program = PROGRAMS["arithmetic"]
    assert tiers_of(program, "jit") == ([True], 1)
    assert tiers_of(program, "block") == ([False], 0)
    assert tiers_of(program, "auto") == ([False], 1)
    assert all(tiers_of(PROGRAMS["running sums"], "block")[0])  # blocks have no way to run it


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"running sums", "complex product", "product"}))
def test_blocks_run_elementwise_work_gathers_and_reductions(name):
    history, compiled = tiers_of(PROGRAMS[name], "block")
    assert not any(history) and compiled == 0


def test_machine_code_takes_over_between_launches():
    x = weft.array(X)

    def turn():
        return weft.eval(x * 3 - 1)

    weft._core._forget_kernels()
    weft.clear_kernel_history()
    with weft.config(tier="auto", small=0, cache=False, tier_delay=100):
        turn()
        weft.cache_info()  # waits for what is being compiled
        turn()
    assert [kernel["compiled"] for kernel in weft.kernel_history()] == [False, True]


def test_machine_code_takes_over_in_the_middle_of_a_loop():
    def program(np, goes_on):
        x, turns = np.array(M), 0
        while goes_on(turns):
            x = np.cos(x * 1.5) + x.mean(axis=0)
            np.eval(x)
            turns += 1
        return x, turns

    def until_taken_over(turns):
        history = weft.kernel_history()
        return turns < 20000 and (not history or not history[-1]["compiled"])

    weft._core._forget_kernels()
    weft.clear_kernel_history()
    with weft.config(small=0, cache=False):
        with weft.config(tier="auto", tier_delay=20):
            found, turns = program(weft, until_taken_over)
        compiled = [kernel["compiled"] for kernel in weft.kernel_history()]
        assert not compiled[0]
        assert compiled[-1]
        with weft.config(tier="jit"):
            expected, _ = program(weft, lambda turn: turn < turns)
    assert numpy.asarray(found).tobytes() == numpy.asarray(expected).tobytes()


def test_a_setting_of_jit_waits_for_what_is_being_compiled():
    x = weft.array(X)
    weft._core._forget_kernels()
    weft.clear_kernel_history()
    with weft.config(small=0, cache=False, tier_delay=100):
        with weft.config(tier="auto"):
            weft.eval(x * 5 - 1)
        with weft.config(tier="jit"):
            weft.eval(x * 5 - 1)
    assert [kernel["compiled"] for kernel in weft.kernel_history()] == [False, True]


def test_a_tier_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="auto, block or jit"):
        weft.config.tier = "fast"


SCRIPT = """
import json, os, sys
import weft as np
x = np.array([0.5, 1.5] * 5000)
results = [float((x * k).sum()) for k in (2, 3)] + [float(np.sqrt(x * x + 1).max())]
{}
print(json.dumps([results, [kernel["compiled"] for kernel in np.kernel_history()]]))
"""


def in_process(more="", **environment):
    environment = {"WEFT_TIER": "auto", "WEFT_SMALL": "0", **environment}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(more)],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def test_what_is_queued_when_a_process_ends_is_there_for_the_next(new_cache):
    (first, launched), _ = in_process(WEFT_TIER_DELAY="30")
    assert not any(launched)
    (second, launched), _ = in_process()
    assert second == first
    assert all(launched)


def test_compilation_that_fails_is_told_and_changes_no_result(new_cache):
    (expected, _), _ = in_process(WEFT_TIER="jit")
    more = "np.cache_info(); results[0] = float((x * 2).sum())"
    (found, launched), errors = in_process(more, WEFT_TIER_DELAY="-1", WEFT_CACHE="0")
    assert found == expected
    assert not any(launched)
    assert errors.count("internal error: ") == 4, errors  # two of them combine
    assert "goes on interpreted" in errors


def test_a_forked_child_goes_on_compiling(new_cache):
    more = """
child = os.fork()
if child == 0:
    y = x * 2
    np.eval(y.sum())
    np.cache_info()
    np.clear_kernel_history()
    again = [float((x * k).sum()) for k in (2, 3)]
    os._exit(0 if again == results[:2] and all(k["compiled"] for k in np.kernel_history()) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    in_process(more, WEFT_TIER_DELAY="50", WEFT_CACHE="0")
