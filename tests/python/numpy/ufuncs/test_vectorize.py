"""vectorize and broadcast, against NumPy."""

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome


def compare(a, b):
    return a - b if a > b else a + b


def both(a, b=2):
    return a + b, a * 1.5


PROGRAMS = """
np.vectorize(compare)([1, 2, 3, 4], 2); np.vectorize(compare)(1, 2); np.vectorize(both)([[1, 2], [3, 4]])
np.vectorize(both)([1, 2], b=[[3], [4]]); np.vectorize(compare, otypes=[float])([1, 2], [3, 4])
np.vectorize(compare, otypes="d")([], 2); np.vectorize(compare)([], 2); np.vectorize(compare)([1, 2], [1, 2, 3])
np.vectorize(both, otypes="lf")([1, 2]); np.vectorize(polynomial, excluded=[0])([1, 2], [3, 4])
np.vectorize(polynomial, excluded=["p"])(p=[1, 2], x=[3, 4]); np.vectorize(total, signature="(n)->()")(m)
np.vectorize(total, signature="(n)->()")(m[0]); np.vectorize(twice, signature="(n)->(n)")(m)
np.vectorize(dot, signature="(n),(n)->()")(m, [1, 0, 1]); np.vectorize(dot, signature="(n),(n)->()")(m, [1, 0])
np.vectorize(total, signature="(n)->()", otypes=["f"])(m); np.vectorize(total, signature="n->()")(m)
np.vectorize(pair, signature="(n)->(),(n)")(m); np.vectorize(dot, signature="(n),(n)->()")(m); np.vectorize(total)(3)
np.vectorize(compare).__doc__; np.vectorize(compare, doc="x").__doc__; np.vectorize(compare).__name__
np.broadcast(m, [1, 2, 3]).shape; np.broadcast(m, m[:1], 1).numiter; np.broadcast(m).size; np.broadcast(m, [1, 2])
list(map(list, np.broadcast(m, [5, 6, 7]))); np.broadcast(1, 2).nd; np.broadcast(np.broadcast(m, 1), m[:1]).numiter
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_programs(program):
    def run(np):
        names = {"np": np, "compare": compare, "both": both, "m": np.arange(6).reshape(2, 3)}
        names |= {
            "polynomial": lambda p, x: p[0] * x + p[1],
            "total": lambda x: x.sum(),
            "twice": lambda x: x * 2,
        }
        names |= {"dot": lambda a, b: (a * b).sum(), "pair": lambda x: (x.max(), x + 1)}
        return eval(program, names)

    expected, result = outcome(run, numpy), outcome(run, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), result
    elif isinstance(expected, list):
        assert result == expected
    else:
        assert_equal(result, expected)
