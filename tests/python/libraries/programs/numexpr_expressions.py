"""numexpr over arrays: expressions, reductions, views, results that are given."""

import numexpr
import numpy as np

ON_THE_HOST = {"given_results"}  # numexpr writes into the CPU's memory


def expressions():
    a, b = np.arange(1e4), np.linspace(0, 1, 10_000)
    yield numexpr.evaluate("2*a + 3*b")[:5]
    yield numexpr.evaluate("sin(a)**2 + cos(a)**2")[:5]
    yield numexpr.evaluate("where(a > 10, a, b)")[:20]
    yield numexpr.evaluate("a > b")[:5]
    yield numexpr.evaluate("sum(a * b)")
    yield numexpr.evaluate("a * 2", local_dict={"a": a[::-2]})[:5]


def types_and_shapes():
    c, d = np.arange(12, dtype=np.float32).reshape(3, 4).T, np.arange(3)
    yield numexpr.evaluate("c * d")
    x, few = np.float64(3), np.arange(4)
    yield numexpr.evaluate("x * few")
    z = few * 1j
    yield numexpr.evaluate("real(z) + imag(z)")
    yield numexpr.re_evaluate()
    yield numexpr.NumExpr("a + 1")(few)


def given_results():
    a, out = np.arange(5.0), np.zeros(5)
    same = numexpr.evaluate("a * a", out=out)
    yield out
    yield same
