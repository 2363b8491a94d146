"""NumPy's own test_generator_mt19937.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_generator_mt19937",
        {
            "TestIntegers.test_error_byteorder": "weft has the byte order of the machine alone",
            "TestRandomDist.test_choice_return_shape": "objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_shuffle_exceptions": "objects or texts",
            "TestRandomDist.test_scalar_exception_propagation": "float() of a subclass raises",
            "test_ragged_shuffle": "objects or texts",
            "test_generator_ctor_old_style_pickle": "a pickle of NumPy's classes",
            "test_legacy_pickle[121]": "a pickle of NumPy's classes",
            "test_legacy_pickle[126]": "a pickle of NumPy's classes",
        },
    )
)
