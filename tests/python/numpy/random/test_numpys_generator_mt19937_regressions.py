"""NumPy's own test_generator_mt19937_regressions.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_generator_mt19937_regressions",
        {
            "TestRegression.test_shuffle_mixed_dimension": "objects or texts",
            "TestRegression.test_shuffle_of_array_of_different_length_strings": "objects or texts",
            "TestRegression.test_shuffle_of_array_of_objects": "objects or texts",
        },
    )
)
