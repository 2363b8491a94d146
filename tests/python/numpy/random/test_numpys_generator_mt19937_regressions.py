"""NumPy's own test_generator_mt19937_regressions.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_generator_mt19937_regressions",
        {},
    )
)
