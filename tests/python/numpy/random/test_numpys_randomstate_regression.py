"""NumPy's own test_randomstate_regression.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_randomstate_regression",
        {
            "TestRegression.test_warns_byteorder": "weft has the byte order of the machine alone",
        },
    )
)
