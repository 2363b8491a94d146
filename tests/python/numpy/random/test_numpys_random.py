"""NumPy's own test_random.py, with weft in NumPy's place."""

from tests_of_numpy import load

globals().update(
    load(
        "numpy.random.tests.test_random",
        {
            "TestRandomDist.test_choice_return_shape": "objects or texts",
            "TestRandomDist.test_shuffle_masked": "masked arrays are NumPy's",
            "TestRandomDist.test_shuffle_untyped_warning[random2]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-numpy.random]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-random1]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[True-random2]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-numpy.random]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-random1]": "objects or texts",
            "TestRandomDist.test_shuffle_no_object_unpacking[False-random2]": "objects or texts",
            "TestRandomDist.test_scalar_exception_propagation": "float() of a subclass raises",
        },
    )
)
