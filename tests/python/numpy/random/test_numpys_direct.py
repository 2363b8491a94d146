"""NumPy's own test_direct.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_direct",
        {
            "TestSFC64.test_legacy_pickle": "a pickle of NumPy's classes",
        },
    )
)
